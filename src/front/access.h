/*
 * Inside of front/: who may use the HTTP doors. Every exchange passes here before a door sees it.
 *
 *   1. Origin: a web page may use us only if it is ours (the same host and port), or listed. One
 *      that only "*" allows has to show a key.
 *   2. Key: if one is shown it must be good. Without one only a caller on this machine is served,
 *      by the name of this machine (Host), unless server.require_key is set. Whatever came through
 *      a proxy is not of this machine, unless a trusted proxy on this machine says so.
 *   3. Rate: of each key.
 *
 * Runs in: daemon, loop thread.
 */
#ifndef CS_FRONT_ACCESS_H
#define CS_FRONT_ACCESS_H

#include <stdbool.h>

#include "front/settings.h"
#include "http/http.h"
#include "policy/keys.h"
#include "store/store.h"
#include "watch/watch.h"

struct cs_access;

/* All are lent; settings may change. */
struct cs_access *cs_access_new(const struct cs_settings *settings, struct cs_store *store,
                                struct cs_watch *watch);
void cs_access_free(struct cs_access *access);
void cs_access_reload(struct cs_access *access); /* the settings have changed */

/* What can be told by the head alone. False: it was answered. `open`: no key is needed for this. */
bool cs_access_head(struct cs_access *access, struct cs_exchange *x, bool open);

/* The rest. `then` gets the caller, perhaps later; it does not run if the exchange was answered
 * here or its peer is gone. */
void cs_access_check(struct cs_access *access, struct cs_exchange *x, bool open,
                     void (*then)(void *ctx, struct cs_exchange *x, const struct cs_caller *caller),
                     void *ctx);

/* A door has refused it: for the ledger. */
void cs_access_denied(struct cs_access *access, const struct cs_caller *caller);

#endif
