/* pinch/find.h: from exact pairs to the few things somebody must fix. "The left fingers are 3.1 cm inside the coat,
 * frames 229 to 278, deepest in 264."
 *
 * A frame of a scene gives pairs of triangles, often thousands. A *finder* is told of them, frame by frame, and makes
 *
 *   regions    of one frame: pairs that hang together, their intersection curve, how deep, between which labels
 *   findings   over the frames: regions that are one thing from the frame it begins to the one it ends in
 *
 *   pnFinderDef def = pnDefaultFinderDef();  pnCreateFinder(&def, &finder);
 *   pnFinderBodyDef body = pnDefaultFinderBodyDef();  body.tree = ...;  pnFinder_AddBody(finder, &body, &number);
 *   once:        move everything to rest, collide, pnFinder_AddFrame with frame.rest = true        (may be left out)
 *   each frame:  move, collide, pnFinder_AddFrame;  pnFinder_GetRegions for what this frame has
 *   at the end:  pnFinder_Rank;  pnFinder_GetFindings: deepest first, named;  pnFinder_Compare with what is known
 *
 * What a finder holds grows with the findings and with what meets at rest and in one frame, never with the number
 * of frames. Answers are the same bits for any number of threads and on every machine.
 *
 * Lengths are the caller's. Frames are numbered by the caller and come in ascending order.
 *
 * Threads: a finder and the trees of its bodies may be used by one thread at a time; getters only read.
 */
#ifndef PINCH_FIND_H
#define PINCH_FIND_H

#include "pinch/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pnFinder pnFinder;

/* ---------------------------------------------------------------- definition */

/* Settings of a finder. */
typedef struct pnFinderDef {
  pnTasks tasks; /* zeroed: one thread */
  /* Regions of the same two bodies no farther apart than this are one finding, in one frame or from one to the next. Length;
   * 0 (default): a 50th of the smaller body's diagonal at rest. */
  double reach;
  double gap; /* a finding goes on when it was away for no longer than this, in the unit of pnFinderFrame.time (0.1) */
  /* Depths are found within 2 % or this, whichever is more. Length; 0 (default): a 1000th of the smaller body's diagonal
   * at rest. */
  double step;
  double growth;      /* a finding that exists at rest grows when it is deeper by this part of it and a step (0.1) */
  bool noDepth;       /* regions, curves and findings without depths: depth is the curve's length */
  bool noContainment; /* do not look for bodies wholly inside others */
  /* Most pairs of bodies in a frame of which one, or a part of it, is wholly inside the other; 0 (default): no limit, and bodies
   * each inside the next cost the square of their number. Where there are more they are kept from the inside outwards: for every part
   * the smallest part around it, then a second, up to eight; pnFinder_IsLimited says so. What is looked at is bounded too, by 3 072
   * vertices for each of them. */
  uint32_t maxContainments;
  uint32_t sampleCapacity; /* most samples a finding keeps of its depth over time, 4 or more (default 128) */
  /* Most findings; 0 (default): no limit. Beyond it the least deep of those that are over are dropped and counted
   * (pnFinder_GetDroppedCount): memory is then bounded whatever happens. */
  uint32_t findingCapacity;
  uint32_t cookie; /* PN_COOKIE, by pnDefaultFinderDef() */
} pnFinderDef;

PN_API pnFinderDef pnDefaultFinderDef(void);
/* An empty one. PN_ERROR_ARGUMENT: a length below 0, or too few samples. */
PN_API pnResult pnCreateFinder(const pnFinderDef *def, pnFinder **outFinder);
PN_API void pnDestroyFinder(pnFinder *finder); /* null is allowed; before its bodies' trees */

/* A body, as a finder sees it. Zeroed is the default, but that there must be a tree. */
typedef struct pnFinderBodyDef {
  pnTree *tree;     /* follows the body; must outlive the finder. Trees of soups: PN_ERROR_KIND */
  const char *name; /* part of the names of findings; copied; default: the mesh's name */
  /* What moves or groups each triangle: joints, targets, materials. One number below labelCount a triangle, PN_NONE for
   * none; null: no labels. Copied. Their names are part of the names of findings; null: their numbers are. */
  const uint32_t *triangleLabels;
  uint32_t labelCount;
  const char *const *labelNames;
} pnFinderBodyDef;

PN_API pnFinderBodyDef pnDefaultFinderBodyDef(void);
/* Bodies are numbered 0, 1, 2 ... as they are added, all before the first frame. Looks at the mesh: which of its parts are
 * closed, and which way they face. PN_ERROR_INDEX names a triangle with a label that does not exist. */
PN_API pnResult pnFinder_AddBody(pnFinder *finder, const pnFinderBodyDef *def, uint32_t *outBody);

/* What carries each triangle of a body rigidly, as a number of the caller's: two triangles, of one body or two, with the same
 * number never move against each other in the frames to come. Null for `triangleCarriers`: `carrier` for all.
 * PN_NONE (default): this triangle deforms, or nothing is known.
 *
 * For files: the number of a node that the animation moves; for a node that it does not move, that of the nearest node
 * above that it does; one more number for everything that stands still. A triangle of a skin has a number when all joints that
 * move its corners have the same. What meets within one carrier is constant, proved by how it moves and not by numbers. */
PN_API pnResult pnFinder_SetCarriers(pnFinder *finder, uint32_t body, const uint32_t *triangleCarriers,
                                     uint32_t carrier);

/* Which bodies to look at for containment: by default each two different ones. Pairs of triangles are always taken as
 * given. Before the first frame. For a few pairs: each that is not wanted is kept in a list. */
PN_API pnResult pnFinder_SetWanted(pnFinder *finder, uint32_t a, uint32_t b, bool wanted);
/* The same for any number of bodies: a rule, which is asked about every two bodies that are close, a < b, in every frame, by the thread
 * that the frame is added or looked at on. For the same bodies it must always say the same. A pair must also be wanted as above. Null
 * (default): all are. Before the first frame. */
typedef bool (*pnWantedRule)(void *context, uint32_t a, uint32_t b);
PN_API void pnFinder_SetWantedRule(pnFinder *finder, pnWantedRule rule, void *context);

/* ---------------------------------------------------------------- a frame */

/* Two bodies (or one with itself: a == b, pairs with a < b) that meet. */
typedef struct pnFinderContact {
  uint32_t a, b;       /* bodies of the finder */
  const pnPair *pairs; /* each once, in any order */
  size_t pairCount;
} pnFinderContact;

/* What meets now. The trees stand where the pairs were found. */
typedef struct pnFinderFrame {
  int64_t number;                  /* ascending */
  double time;                     /* ascending */
  const pnFinderContact *contacts; /* each two bodies at most once, in either order */
  uint32_t contactCount;
  bool rest; /* this is how the bodies are before anything moves: not a frame, but what is built in. Before the first */
  bool
      curves; /* also join the intersection curves of the regions (pnRegion.firstCurve); their length is always known */
} pnFinderFrame;

/* Takes a frame. Nothing is kept of it but its regions, until the next. PN_ERROR_ARGUMENT: a number or time not above the last;
 * PN_ERROR_INDEX: a body or triangle that there is not. After an error the frame counts as empty. */
PN_API pnResult pnFinder_AddFrame(pnFinder *finder, const pnFinderFrame *frame);

/* Were there more containments in the last frame that was added or looked at than pnFinderDef.maxContainments? */
PN_API bool pnFinder_IsLimited(const pnFinder *finder);

/* The same in two steps, for frames that several processes or machines share. Looking is the work: it does not depend on other
 * frames, and any finder with the same bodies (and labels, carriers, rest pose) may do it, in any order; adding is quick and goes
 * in order. The findings are those of one finder that was given every frame, bit for bit. A finder that looks adds no frames
 * until it is cleared. The bytes are of this machine's byte order and live until the finder's next call; the regions of the frame
 * are there as after pnFinder_AddFrame, without findings. frame->rest must be false. */
PN_API pnResult pnFinder_LookAtFrame(pnFinder *finder, const pnFinderFrame *frame, const void **outBytes,
                                     size_t *outByteCount);
/* Adds a frame from a look at it; frame->contacts are not used. Bytes are read with distrust. PN_ERROR_FORMAT: these are no look
 * at these bodies; PN_ERROR_KIND: the look leans on an earlier frame that this finder was not given (possible only where
 * something is carried). In both cases nothing has happened, and pnFinder_AddFrame may be called for this frame. */
PN_API pnResult pnFinder_AddLook(pnFinder *finder, const pnFinderFrame *frame, const void *bytes, size_t byteCount);
/* Must the bodies' poses stand where the frame has them when this look is added? Only where something is carried. */
PN_API bool pnFinder_LookNeedsPoses(const void *bytes, size_t byteCount);

/* Ends all findings and forgets them, the frames and (with `rest`) what meets at rest; bodies stay. For the next animation. */
PN_API void pnFinder_Clear(pnFinder *finder, bool rest);

/* ---------------------------------------------------------------- regions of the last frame */

/* What a depth is. Ranks compare them as lengths. */
typedef enum pnDepthKind {
  PN_DEPTH_NONE, /* surfaces touch and nothing is inside anything: 0 */
  PN_DEPTH_INSIDE, /* how far the other surface gets into a closed part: the greatest distance of its points inside from the
                       closed surface */
  PN_DEPTH_THROUGH, /* of two open ones (or one body with itself): how far the piece that the curve cuts off stands from the
                       other surface */
  PN_DEPTH_CURVE, /* open ones, and no piece is cut off: the length of the intersection curve */
  PN_DEPTH_KIND_COUNT
} pnDepthKind;

/* A length with bounds, and where it was measured. */
typedef struct pnDepth {
  pnDepthKind kind;
  double value;      /* the greatest distance found: never more than the truth but for rounding */
  double max;        /* and the truth is not more than this */
  pnVec3 from, onto; /* the deepest point, and the point of the other surface that is closest to it; an arrow to draw */
  bool fromA;        /* the deepest point is one of a's surface; otherwise of b's */
  uint32_t triangle; /* it is on this triangle */
} pnDepth;

/* So many triangles with this label. */
typedef struct pnLabelCount {
  uint32_t label; /* PN_NONE: those without */
  uint32_t triangleCount;
} pnLabelCount;

/* Pairs that hang together: the triangles on one side are the same or neighbours, and on the other too. Regions that bound one
 * piece of a surface inside a closed part (where it enters and where it leaves) are one. What is wholly inside another body is
 * a region without pairs. */
typedef struct pnRegion {
  uint32_t a, b;    /* bodies, as the contact had them; of containment a < b */
  uint32_t finding; /* number of the finding it is part of now; findings that turn out to be one get the smaller number
                       (pnFinder_GetFindingNumber) */
  size_t firstPair, pairCount;       /* into pnFinder_GetRegionPairs, sorted */
  uint32_t firstLabelA, labelCountA; /* into pnFinder_GetRegionLabels: distinct triangles of a by label, */
  uint32_t firstLabelB, labelCountB; /* and of b; most first */
  uint32_t firstCurve, curveCount;   /* into pnFinder_GetCurves; 0 when not asked for */
  double curveLength;
  pnBox box;     /* of the intersection curve; of the body inside, for containment */
  pnVec3 centre; /* of the curve, by length */
  pnDepth depth;
  /* Space that both parts share there, when both are closed; negative: not known. */
  double volume;
  uint32_t inner; /* this body is (or its closed part is) wholly inside the other; PN_NONE: surfaces meet */
  bool carried;   /* both sides have one carrier: nothing moves here */
  bool atRest;    /* it also is there at rest */
} pnRegion;

/* Regions of the last frame, by bodies, then by first pair. These and all below live until the next frame. */
PN_API const pnRegion *pnFinder_GetRegions(const pnFinder *finder, uint32_t *outCount);
PN_API const pnPair *pnFinder_GetRegionPairs(const pnFinder *finder, size_t *outCount);
PN_API const pnLabelCount *pnFinder_GetRegionLabels(const pnFinder *finder, uint32_t *outCount);

/* A polyline of intersection: meeting segments in order. A closed one does not repeat its first point. */
typedef struct pnCurve {
  uint32_t firstPoint, pointCount; /* into pnFinder_GetCurvePoints */
  bool closed;
  double length;
} pnCurve;
PN_API const pnCurve *pnFinder_GetCurves(const pnFinder *finder, uint32_t *outCount);
PN_API const pnVec3 *pnFinder_GetCurvePoints(const pnFinder *finder, uint32_t *outCount);

/* ---------------------------------------------------------------- findings */

/* What is built in and what is not. */
typedef enum pnFindingKind {
  PN_FINDING_NEW,      /* not there at rest */
  PN_FINDING_GROWING,  /* there at rest, and deeper now (pnFinderDef.growth) */
  PN_FINDING_CONSTANT, /* there at rest and not deeper, or within one carrier */
  PN_FINDING_KIND_COUNT
} pnFindingKind;

/* Depth over time and the path of the centre. While a finding has no more than sampleCapacity frames there is one for each
 * frame; then they are joined two by two, the deeper one stays. */
typedef struct pnFindingSample {
  int64_t frame; /* the deepest of the frames it stands for */
  double time;
  double depth;
  pnVec3 centre; /* of the deepest region in that frame */
} pnFindingSample;

#define PN_FINDING_NAME 24 /* bytes of a name with its end */

/* One thing to fix. Pointers live as long as pnRegion's: until the next frame or Rank. */
typedef struct pnFinding {
  /* Eight hexadecimal digits: a hash of the bodies' names, of the label on either side with the most triangles and of the place
   * on the rest meshes in coarse steps. Of several with the same digits, one contact that comes and goes, say, the second has "-2"
   * behind, in the order of their first frames; pnFinder_Compare keeps these numbers where they are known. It is the same after a new export, at
   * another frame rate and after small changes; where it is not, by a step, pnFinder_Compare knows it by its place. */
  char name[PN_FINDING_NAME];
  uint32_t number; /* as in pnRegion.finding */
  uint32_t a, b;   /* a <= b */
  pnFindingKind kind;
  /* Number of a deeper finding that this one only repeats, PN_NONE for none: the same kind, at the same time, in the same place of
   * one body, and the other bodies of the two have one carrier (four shields in one hand, blade and hilt). */
  uint32_t repeats;
  bool contained; /* in some frame one body (or a closed part of it) is wholly inside the other */
  bool open;      /* it may go on in the next frame */
  int64_t firstFrame, lastFrame, deepestFrame;
  double firstTime, lastTime, deepestTime;
  uint32_t frameCount;                   /* in which it was seen; bridged gaps are not counted */
  pnDepth depth;                         /* of the deepest frame; fromA as the bodies stand here */
  double restDepth;                      /* 0: not there at rest */
  double volume;                         /* the most that was shared; negative: not known */
  double curveLength;                    /* of the deepest frame */
  pnVec3 centre;                         /* of the deepest frame */
  const pnLabelCount *labelsA, *labelsB; /* triangles by label, summed over frames and then at most 8; most first */
  uint32_t labelCountA, labelCountB;
  const pnFindingSample *samples; /* ascending */
  uint32_t sampleCount;
  pnVec3 placeA, placeB; /* where on the rest meshes, in parts (0 to 1) of their boxes */
} pnFinding;

/* In which order findings are listed. */
typedef enum pnFindingOrder {
  PN_FINDINGS_BY_DEPTH, /* new ones, then growing, then constant; in each those that repeat another last; deepest first */
  PN_FINDINGS_BY_FRAMES, /* longest first */
  PN_FINDINGS_BY_FIRST   /* earliest first */
} pnFindingOrder;

/* Lists all findings so far, those that go on included, and names them. May be called after any frame. */
PN_API pnResult pnFinder_Rank(pnFinder *finder, pnFindingOrder order);
PN_API const pnFinding *pnFinder_GetFindings(const pnFinder *finder, uint32_t *outCount);

/* The number under which a finding that had `number` goes now: its own, or the smaller one it was joined with. */
PN_API uint32_t pnFinder_GetFindingNumber(const pnFinder *finder, uint32_t number);
/* Findings dropped because of findingCapacity. */
PN_API uint32_t pnFinder_GetDroppedCount(const pnFinder *finder);
/* Bytes the finder holds, without trees. */
PN_API size_t pnFinder_GetByteCount(const pnFinder *finder);

/* ---------------------------------------------------------------- what no frame shows */

/* A passage: something that meets on the way from one frame to the next, and that neither of the two frames shows.
 *
 * Impacts (pinch/collide.h) are joined where they are impacts of the same two triangles: what begins with one and goes on to the
 * other is one contact, whatever happens on the way. What has no pair of triangles that meets in one of the two frames is a
 * passage. So a finger that was in the coat and slides on is none, and one that goes through it and out again between two
 * frames is. */
typedef struct pnPassage {
  double first;  /* when first, in [0, 1] of the step: never late, as pnFeatureImpact.lo */
  double middle; /* when half of its features have met: something meets then */
  double last;   /* when the last of its features met first */
  size_t impactCount;
  size_t firstPair, pairCount; /* into pnPassageList_GetPairs: triangles that meet on the way, sorted */
} pnPassage;

/* A step of two bodies, or of one with itself. */
typedef struct pnPassageDef {
  const pnSweep *a, *b; /* of meshes, not of soups; b null: a with itself */
  const pnFeatureImpact
      *impacts; /* all of the step (PN_SWEPT_ALL), in any order; of parts of a step, with times of the whole */
  size_t impactCount;
  const pnPair *before, *after; /* triangles that meet in the frame before and in the frame after, in any order */
  size_t beforeCount, afterCount;
} pnPassageDef;

/* A list of passages that keeps its memory from step to step. */
typedef struct pnPassageList pnPassageList;
PN_API pnResult pnCreatePassageList(pnPassageList **outList);
PN_API void pnDestroyPassageList(pnPassageList *list); /* null is allowed */
/* Sorted by their first pairs. On an error the list is empty. PN_ERROR_KIND: a sweep of a soup. */
PN_API pnResult pnFindPassages(const pnPassageDef *def, pnPassageList *outList);
PN_API const pnPassage *pnPassageList_GetPassages(const pnPassageList *list, size_t *outCount);
PN_API const pnPair *pnPassageList_GetPairs(const pnPassageList *list, size_t *outCount);

/* ---------------------------------------------------------------- what is known already */

/* A finding that somebody has seen and accepted. */
typedef struct pnKnownFinding {
  const char *name;  /* as pnFinding.name */
  const char *a, *b; /* names of the bodies, in either order */
  double depth;      /* accepted */
  double time;       /* accepted: last minus first time; negative: any */
  bool hasBegin;     /* `begin` is given */
  double begin;      /* first time: which of several with the same eight digits it is */
  bool hasPlace;     /* placeA and placeB, of a and b as named here, are given */
  pnVec3 placeA, placeB;
} pnKnownFinding;

/* How a finding stands to what is known. */
typedef enum pnStanding {
  PN_STANDING_NEW,    /* not known */
  PN_STANDING_DEEPER, /* known, and deeper than accepted */
  PN_STANDING_LONGER, /* known, not deeper, and longer than accepted */
  PN_STANDING_KNOWN,  /* known and accepted */
  PN_STANDING_COUNT
} pnStanding;

/* How much more than accepted is still accepted. */
typedef struct pnCompareDef {
  double depthPart, depthLength; /* deeper by this part (0.05) and this length (0) */
  double timePart, time;         /* longer by this part (0.1) and this time (0.1) */
  double place;    /* the same place: no farther than this part of the bodies' boxes in each direction (0.15) */
  uint32_t cookie; /* PN_COOKIE, by pnDefaultCompareDef() */
} pnCompareDef;

PN_API pnCompareDef pnDefaultCompareDef(void);

/* Compares the ranked findings with `known`. Each known one is taken at most once: first those with the same two bodies and the same
 * eight digits, where there are several on either side those that begin closest to each other (or, without `begin`, have the same
 * name); then the closest of the same two bodies by place. A finding has the name under which it is known from then on, and one
 * that is not known has none that is: so names last when one of several is mended, or another comes before them. outStandings: one
 * a finding, in the order of pnFinder_GetFindings. outMatches: the number of the known one for each, PN_NONE for none; may be null.
 * Known ones that nothing matches no longer occur. def may be null. */
PN_API pnResult pnFinder_Compare(pnFinder *finder, const pnKnownFinding *known, uint32_t knownCount,
                                 const pnCompareDef *def, pnStanding *outStandings, uint32_t *outMatches);

#ifdef __cplusplus
}
#endif

#endif
