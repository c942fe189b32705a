/*
 * Inside of front/: entries of the ledger for what is no execution: keys, configuration, policy,
 * the daemon itself, and requests that were refused. docs/ledger.md lists the events.
 *
 * Runs in: daemon and command line, loop thread.
 */
#ifndef CS_FRONT_EVENTS_H
#define CS_FRONT_EVENTS_H

#include "front/policy_place.h"
#include "policy/keys.h"
#include "store/store.h"

/* `caller` NULL: nobody asked for it. `data`: JSON, or empty. `done` may be NULL. */
void cs_event_note(struct cs_store *store, const char *event, const struct cs_caller *caller,
                   struct cs_str data, cs_stored *done, void *ctx);

/* A policy that counts from now on, by name, size and hash; `before` is the hash of the one that
 * did until now, or NULL. */
void cs_event_policy(struct cs_store *store, const char *event, const struct cs_policy_place *place,
                     const struct cs_policy *policy, const unsigned char *before);
/* A file was read that says what may be done: its name, size and hash. None if it is not there. */
void cs_event_file(struct cs_store *store, const char *event, const char *path);

/*
 * Refused requests, bounded: of one name CS_REFUSALS_EACH entries a minute, of all together
 * CS_REFUSALS_ALL; the next entry tells how many were left out.
 */
#define CS_REFUSALS_EACH 5
#define CS_REFUSALS_ALL  60

struct cs_refusals;
struct cs_refusals *cs_refusals_new(struct cs_store *store);
/* What was left out at last is noted. */
void cs_refusals_free(struct cs_refusals *refusals);
/* `reason`: one of a few words of ours. `key_id`: the public part of a key, or empty. */
void cs_refusals_note(struct cs_refusals *refusals, const char *event,
                      const struct cs_caller *caller, struct cs_str key_id, const char *reason,
                      int64_t now_ms);

#endif
