/* settings.h: the words by which the laboratory names settings of trees. By name and value side by side, never by the place in a list:
 * a new first member of an enumeration once turned every "paper" column into another tree's. */
#ifndef PN_BENCH_SETTINGS_H
#define PN_BENCH_SETTINGS_H

#include "pinch/collide.h"
#include "pinch/lab.h"

typedef struct pnSetting {
  const char *name;
  int value;
} pnSetting;

static const pnSetting pn_buildSettings[] = {{"balanced", PN_BUILD_BALANCED},
                                             {"centre", PN_BUILD_SHAPE_CENTRE},
                                             {"mean", PN_BUILD_SHAPE_MEAN},
                                             {"link", PN_BUILD_LINK},
                                             {"fast", PN_BUILD_FAST}};
static const pnSetting pn_volumeSettings[] = {{"box", PN_FORM_BOX},
                                              {"dop14", PN_FORM_DOP14},
                                              {"dop18", PN_FORM_DOP18},
                                              {"dop26", PN_FORM_DOP26},
                                              {"sphere", PN_FORM_SPHERE}};
static const pnSetting pn_updateSettings[] = {{"bottom-up", PN_UPDATE_BOTTOM_UP},
                                              {"top-down", PN_UPDATE_TOP_DOWN},
                                              {"hybrid", PN_UPDATE_HYBRID},
                                              {"bergen", PN_UPDATE_BERGEN}};
static const pnSetting pn_kernelSettings[] = {
    {"moller", PN_KERNEL_MOLLER}, {"tropp", PN_KERNEL_TROPP}, {"exact", PN_KERNEL_EXACT}};

#define PN_SETTING_COUNT(table) (sizeof(table) / sizeof((table)[0]))

#endif
