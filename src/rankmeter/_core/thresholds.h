/* Sizes at which one algorithm takes over from another, and at which memory first grows. With
   RANKMETER_CHECKS all are as low as can be, so that small inputs reach every branch. */

#ifndef RANKMETER_THRESHOLDS_H
#define RANKMETER_THRESHOLDS_H

#ifdef RANKMETER_CHECKS
#define RANKMETER_THRESHOLD(usual) 1
#define RANKMETER_LANES 4
#define RANKMETER_MOST_DEPTH 3
#define RANKMETER_MOST_BEST 6
#else
#define RANKMETER_THRESHOLD(usual) (usual)
#define RANKMETER_LANES 64
#define RANKMETER_MOST_DEPTH 24 /* no more than lanes */
#define RANKMETER_MOST_BEST 96
#endif

#endif
