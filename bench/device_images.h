/* device_images.h: layered depth images on a device, beside the processor's. */
#ifndef PN_BENCH_DEVICE_IMAGES_H
#define PN_BENCH_DEVICE_IMAGES_H

#include "pinch/device.h"

/* End the program with a message when something failed, or when there is no memory. */
void pn_benchCheck(pnResult result);
void *pn_benchNeed(size_t size);

/* Prints what images of the body of 519 168 faces (scenes/volume_scenes.h) at 128 x 128 and 512 x 512 take, and 100 000 points in
 * them; medians over `repeats`. False: the device's answers are not the processor's. */
bool pn_benchImages(pnDevice *device, uint32_t repeats);

#endif
