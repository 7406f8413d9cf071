// run.mjs: runs tests by name, one after the other, and says how each went.

/** `tests`: an object of functions. Exit status 1 when one fails; `end` is called before that. */
export async function run(tests, end = async () => {}) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  await end();
  console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed`);
  process.exit(failed > 0 ? 1 : 0);
}
