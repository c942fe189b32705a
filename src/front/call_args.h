/* Inside of front/: arguments of a tool, from the words of a command line. */
#ifndef CS_FRONT_CALL_ARGS_H
#define CS_FRONT_CALL_ARGS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_CALL_ARGS_MAX (10u << 20)

/*
 * Puts one JSON object into `json`. The words are nothing ({}), one JSON text, "@FILE", "@-" for
 * stdin; or NAME=VALUE and NAME:=JSON pairs. `schema` (may be empty) is that of the tool's input:
 * it says whether a VALUE is a text or something else. CS_INVALID if a word is none of these.
 */
int cs_call_args(const char *const *words, size_t count, struct cs_str schema, struct cs_buf *json,
                 struct cs_err *err);

#endif
