/* make_character.c: `pinch make character OUT.glb`: the character of the demonstration as a file that pinch scan, and any
 * program that reads glTF, can open. */
#include "make.h"

#include "out.h"

#include "character.h"

#include "pinch/io.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

pnResult pn_makeCharacter(const char *path, uint32_t triangles, double seconds) {
  pnCharacterDef def = pnDefaultCharacterDef();
  const char *dot = strrchr(path, '.');
  if (!dot || strcasecmp(dot, ".glb") != 0)
    return pnFail(PN_ERROR_UNSUPPORTED, "%s: the character is an animated file; expected a name that ends in .glb",
                  path);
  if (triangles > 0) def.triangleCount = triangles;
  if (seconds > 0) def.seconds = (float)seconds;
  pnAnimFile *file;
  pnResult result = pnCreateCharacter(&def, &file);
  if (result != PN_OK) return result;
  result = pnSaveAnimFile(path, file);
  if (result == PN_OK && !pn_isQuiet()) {
    printf("%s: character,", path);
    for (uint32_t b = 0; b < file->bodyCount; ++b)
      printf("%s %s with %u triangles", b > 0 ? " and" : "", file->bodies[b].name, file->bodies[b].triangleCount);
    printf("; animations");
    for (uint32_t c = 0; c < file->clipCount; ++c)
      printf("%s %s (%g s)", c > 0 ? "," : "", file->clips[c].name, (double)file->clips[c].endTime);
    printf("\nNext: pinch scan %s --html report.html\n", path);
  }
  pnDestroyCharacter(file);
  return result;
}
