/*
 * Inside of privacy/: a text with its escapes undone, as JSON.parse would, and the way back to
 * where something stood. What is no escape stands as it is.
 */
#ifndef CS_PRIVACY_UNESCAPE_H
#define CS_PRIVACY_UNESCAPE_H

#include "base/buf.h"
#include "base/str.h"

struct cs_unescaped {
    struct cs_buf text;
    /* From `at` of this text on, until the next one, a byte is one of the text before, at `raw` and
     * on. An escape's bytes belong together. */
    struct cs_escape_mark {
        size_t at, raw;
    } * marks;
    size_t count, cap;
};

/* False: there is no backslash in it, and nothing was done. */
bool cs_unescape(struct cs_str text, struct cs_unescaped *to);
void cs_unescaped_done(struct cs_unescaped *u); /* wiped */
/* Where a byte of it begins in the text before. */
size_t cs_unescaped_raw(const struct cs_unescaped *u, size_t at);
/* Only the text, appended. */
void cs_unescape_put(struct cs_str text, struct cs_buf *out);

#endif
