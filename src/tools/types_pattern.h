/* A text that a regular expression matches. Private to types_sample.c. */
#ifndef CS_TOOLS_TYPES_PATTERN_H
#define CS_TOOLS_TYPES_PATTERN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/*
 * Appends such a text of at least `least` characters, if that is easy: literals, classes, groups,
 * alternatives, repetition. False (and nothing appended) for assertions, back references and the
 * like, and for what would be long.
 */
bool cs_pattern_sample(struct cs_str pattern, size_t least, struct cs_buf *out);

#endif
