/*
 * Foreign text for people's eyes: control, bidi and zero-width characters are made visible.
 *
 * Runs in: anywhere. Linear.
 */
#ifndef CS_BASE_VISIBLE_H
#define CS_BASE_VISIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Newlines stay if `lines`; all else below U+0020, C1, bidi controls, zero-width and other
 * characters that are not seen, and bytes that are no UTF-8 become <U+202E>. */
void cs_visible(struct cs_str text, bool lines, struct cs_buf *out);
/* Is this code point one that is not seen, or that turns text around? */
bool cs_invisible(uint32_t c);
/* Is the character at `at`, which is invisible, one that hides something there? Not in an emoji or
 * a script that needs it. */
bool cs_hidden(struct cs_str text, size_t at);

#endif
