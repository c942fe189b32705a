/*
 * Which name was meant?
 */
#ifndef CS_SCHEMA_NEAR_H
#define CS_SCHEMA_NEAR_H

#include "base/str.h"

#define NEAR_NOT 1000

/* How far apart two names are: 0 if only case and separators differ, NEAR_NOT if nobody would take
 * one for the other. Looks at their first 48 letters. */
int cs_near(struct cs_str a, struct cs_str b);

#endif
