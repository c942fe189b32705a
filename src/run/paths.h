/*
 * Paths of the machines that tools run on, in what they say when they fail.
 *
 * Runs in: daemon. Texts are foreign; the work is linear in their length.
 */
#ifndef CS_RUN_PATHS_H
#define CS_RUN_PATHS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* True: `out` has the text without home directories and without the directories of places in
 * programs. False: there is none, and `out` is as it was. Paths whose beginning is in `known`, the
 * arguments of the call, stay. */
bool cs_hide_paths(struct cs_str text, struct cs_str known, struct cs_buf *out);

#endif
