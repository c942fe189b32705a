/*
 * Text across the border: UTF-8 outside, engine strings inside.
 *
 * Runs in: zygote and worker. Nothing here calls back into the program.
 * Limits:  none of its own; the caller bounds what it converts. Invalid UTF-8 and lone surrogates
 * become U+FFFD in both directions.
 */
#ifndef CS_WORKER_TEXT_H
#define CS_WORKER_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "worker/jsc.h"

/* Looks up the engine's fast string constructor; without it large texts take 16 bits a letter. */
void cs_text_init(void);

/* A new engine string; the caller releases it. Never NULL. */
JSStringRef cs_text_string(struct cs_str utf8);
/* The same, but it may point into `utf8`: only for a string that ends before those bytes do. */
JSStringRef cs_text_borrow(struct cs_str utf8);
JSValueRef cs_text_value(JSContextRef ctx, struct cs_str utf8);

/* Appends the string as UTF-8. */
void cs_text_put(struct cs_buf *out, JSStringRef s);

/* Appends a value that is a string already; anything else appends nothing and is false. */
bool cs_text_put_value(JSContextRef ctx, struct cs_buf *out, JSValueRef v);

bool cs_text_valid(struct cs_str utf8);

/* How long `utf8` is in UTF-16 units. */
size_t cs_text_units(struct cs_str utf8);

#endif
