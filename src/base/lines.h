/*
 * Lines of a program's text: they end where the compiler says that they do, so that the number of a
 * finding's line is right whatever the text holds.
 *
 * Runs in: anywhere. Linear.
 */
#ifndef CS_BASE_LINES_H
#define CS_BASE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The next one, without its end. False: there is none. `script`: as in JavaScript, where \r and
 * U+2028 end one, too. */
bool cs_line_next(struct cs_str *rest, bool script, struct cs_str *line);
uint32_t cs_lines_count(struct cs_str text, bool script);
/* The offset of a column (1: the first; UTF-16 units, as the compiler counts) in a line. */
size_t cs_line_offset(struct cs_str line, uint32_t column);
/* Where a character begins, at `at` or just before. */
size_t cs_text_aligned(struct cs_str text, size_t at);

#endif
