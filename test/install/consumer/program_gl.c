/* program_gl.c: asks the installed pinch_gl for a context. Exits with 0 when there is one, or a reason why there is none. */
#include <pinch/volume.h>
#include <stdio.h>

int main(void) {
  pnGlRasterDef def = pnDefaultGlRasterDef();
  pnGlRaster *raster = NULL;
  pnResult result = pnCreateGlRaster(&def, &raster);
  if (result != PN_OK && result != PN_ERROR_UNSUPPORTED) return puts(pnGetMessage()), 1;
  puts(result == PN_OK ? pnGlRaster_GetName(raster) : pnGetMessage());
  pnDestroyGlRaster(raster);
  return 0;
}
