/* count_plugin.c: instructions by function, of a program of another architecture. A plugin of qemu (scripts/count_arm): every block of
 * instructions, as it is translated, gets a counter that grows by its length whenever it is run. At the end the counts are printed to the file
 * that COUNT_OUT names, a line a block: function and count.
 *
 * qemu's interface for plugins, version 1, is declared here as far as it is needed: Debian has no package with its header. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Id;
typedef struct qemu_plugin_tb Block;
typedef struct qemu_plugin_insn Instruction;
void qemu_plugin_register_vcpu_tb_trans_cb(Id, void (*)(Id, Block *));
void qemu_plugin_register_vcpu_tb_exec_inline(Block *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(Id, void (*)(Id, void *), void *);
size_t qemu_plugin_tb_n_insns(const Block *);
Instruction *qemu_plugin_tb_get_insn(const Block *, size_t);
const char *qemu_plugin_insn_symbol(const Instruction *);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(Id id, const void *machine, int count, char **words);

typedef struct Counter {
  const char *function;
  uint64_t count;
  struct Counter *next;
} Counter;

static Counter *s_counters;

static void translate(Id id, Block *block) {
  (void)id;
  const char *name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  Counter *counter = calloc(1, sizeof *counter);
  if (!counter) return;
  *counter = (Counter){name ? strdup(name) : "?", 0, s_counters};
  s_counters = counter;
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0 /* add */, &counter->count, qemu_plugin_tb_n_insns(block));
}

static void end(Id id, void *unused) {
  (void)id, (void)unused;
  const char *path = getenv("COUNT_OUT");
  FILE *out = path ? fopen(path, "w") : stderr;
  if (!out) return;
  for (const Counter *c = s_counters; c; c = c->next)
    fprintf(out, "%s %llu\n", c->function, (unsigned long long)c->count);
  if (path) fclose(out);
}

int qemu_plugin_install(Id id, const void *machine, int count, char **words) {
  (void)machine, (void)count, (void)words;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, end, NULL);
  return 0;
}
