/* Stands before every source: refuses to compile where the digits would be others. */

#ifndef RANKMETER_DIGITS_H
#define RANKMETER_DIGITS_H

#include <float.h>

/* 16 is wider for half precision only. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "rankmeter gives the same digits everywhere, so it needs arithmetic that rounds each result \
to its type: on 32-bit x86, compile with -msse2 -mfpmath=sse"
#endif

#endif
