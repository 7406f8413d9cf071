/* program_io.c: reads a mesh from memory with the installed pinch_io. Exits with 0 when it is what was written. */
#include <pinch/io.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char *text = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";
  pnMeshFile file;
  if (pnParseMeshFile(text, strlen(text), "square.off", &file) != PN_OK) return puts(pnGetMessage()), 1;
  int right = file.vertexCount == 4 && file.triangleCount == 2;
  pnFreeMeshFile(&file);
  return right ? 0 : (puts("wrong counts"), 1);
}
