/*
 * Where the browser comes back to after a login: one address on 127.0.0.1, for one answer.
 *
 * Runs in: command line (or daemon), loop thread.
 * Order:   start -> `answer` ... -> close; close may be called from inside of `answer`.
 * Limits:  CS_LISTENER_PEERS connections, CS_LISTENER_HEAD bytes of a request each. When there are
 *          too many, the oldest goes. Anyone on this machine can connect: the owner checks `state`.
 */
#ifndef CS_TOOLS_LISTENER_H
#define CS_TOOLS_LISTENER_H

#include <stdbool.h>
#include <uv.h>

#include "base/err.h"
#include "base/str.h"

#define CS_LISTENER_PEERS 8u
#define CS_LISTENER_HEAD  (16u << 10)

struct cs_listener;

/* Somebody asked for the address with this query (with its question mark). Returns the text to
 * show, a sentence; `*ok`: was it good news? */
typedef const char *cs_listener_answer(void *ctx, struct cs_str query, bool *ok);

/*
 * `redirect`: the address to serve, http on a loopback host; NULL: "/callback" on a free port (and
 * `like`, an address used before, names the port to try first; or NULL).
 */
int cs_listener_start(uv_loop_t *loop, const char *redirect, const char *like,
                      cs_listener_answer *answer, void *ctx, struct cs_listener **listener,
                      struct cs_err *err);
const char *cs_listener_uri(const struct cs_listener *l);
/* Answers under way are sent; then everything is freed. NULL is allowed. */
void cs_listener_close(struct cs_listener *l);

#endif
