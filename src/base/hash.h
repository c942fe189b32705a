/* SHA-256, and bytes as lower-case hex digits. Pure; not for the worker, which has its own. */
#ifndef CS_BASE_HASH_H
#define CS_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

#define CS_SHA256 32

void cs_sha256(struct cs_str bytes, unsigned char hash[CS_SHA256]);

/* The same of bytes that come in parts; free() ends it. */
struct cs_sha256_sum;
struct cs_sha256_sum *cs_sha256_new(void);
void cs_sha256_add(struct cs_sha256_sum *sum, struct cs_str bytes);
/* Of those that came so far, and these; they are not added. */
void cs_sha256_with(const struct cs_sha256_sum *sum, struct cs_str bytes,
                    unsigned char hash[CS_SHA256]);

/* 2 * n digits and a NUL. */
void cs_hex(const unsigned char *bytes, size_t n, char *to);
void cs_hex_put(struct cs_buf *out, const unsigned char *bytes, size_t n);
/* False: it is not exactly 2 * n lower-case digits. */
bool cs_hex_read(struct cs_str text, unsigned char *bytes, size_t n);

#endif
