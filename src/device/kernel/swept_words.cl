/* swept_words.cl: words that both programs of steps have in common, the filter's and the exact one. */

/* The head has more places, and one list is another. */
#undef HEAD_PLACES
#define HEAD_SEARCH 7  /* features that are not proved apart at once */
#define HEAD_SOONEST 8 /* the earliest end of a span that was found, as the bits of a float */
#define HEAD_ASKED 9   /* features asked */
#define HEAD_PLACES 10
#define LIST_SEARCH LIST_RAW

/* Both ends of a step side by side. */
typedef double2 pnD2;

/* As in pinch/geom.h. */
typedef struct pnImpactSpan {
  bool meets;
  double lo, hi;
} pnImpactSpan;
typedef struct pnMovingDouble {
  double from[4][3], to[4][3];
} pnMovingDouble;
/* As in geom/triangle.h. */
typedef enum pn_Verdict { PN_APART, PN_MEETING, PN_UNCERTAIN } pn_Verdict;
