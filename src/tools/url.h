/*
 * Addresses as HTTP and OAuth need them: taken apart strictly, compared by origin, put together.
 *
 * Runs in: daemon and command line. Pure. What is not plain is refused rather than guessed: user
 * names, white space, control characters, backslashes and characters beyond ASCII.
 */
#ifndef CS_TOOLS_URL_H
#define CS_TOOLS_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_URL_MAX 8192u

struct cs_url {
    bool https;
    struct cs_str host;  /* as written, [brackets] of IPv6 kept */
    uint16_t port;       /* 443 and 80 filled in */
    struct cs_str path;  /* from the slash on; may be empty */
    struct cs_str query; /* with its question mark; may be empty */
};

/* The parts borrow from `text`. A fragment is left out. */
int cs_url_parse(struct cs_str text, struct cs_url *url, struct cs_err *err);

bool cs_url_same_origin(const struct cs_url *a, const struct cs_url *b);

/* localhost, 127.0.0.0/8 or ::1. */
bool cs_url_loopback(const struct cs_url *url);

/* "https://host" or "https://host:8443", in lower case. */
void cs_url_origin(const struct cs_url *url, struct cs_buf *out);

/* Percent-encoded for a query or a form: everything but letters, digits and "-._~". */
void cs_url_encode(struct cs_str text, struct cs_buf *out);

/* The first parameter of this name in "a=b&c=d", decoded. False if there is none. */
bool cs_url_param(struct cs_str query, const char *name, struct cs_buf *value);

/* For messages: without the query, which may hold a secret; control characters left out. */
void cs_url_show(struct cs_str text, struct cs_buf *out);

#endif
