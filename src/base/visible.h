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

/* Newlines and tabs stay if `lines`, and \r\n is a newline; all else below U+0020, C1, what is
 * hidden (below) become <U+202E>, and bytes that are no UTF-8 <0xFF>. */
void cs_visible(struct cs_str text, bool lines, struct cs_buf *out);
/* Is this code point one that is not seen, that turns text around, or ends a line unseen? */
bool cs_invisible(uint32_t c);
/*
 * Is the character at `at`, a byte offset, invisible, and not where emoji and scripts need it?
 * Those are: selectors and joiners inside emoji, joiners between letters of scripts that join,
 * marks of direction beside text that goes left, the byte order mark at the start, and the like.
 */
bool cs_hidden(struct cs_str text, size_t at);

#endif
