/*
 * Who is it, and how often may they ask?
 *
 * Runs in: daemon, loop thread.
 *
 * A key is "csk_" + 16 letters and digits (its public id) + "_" + 43 of base64url (256 random
 * bits). Only the SHA-256 of the secret part is kept, and compared in constant time.
 */
#ifndef CS_POLICY_KEYS_H
#define CS_POLICY_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"

#define CS_KEY_TEXT       80
#define CS_TENANT_DEFAULT "default"

/* Each may do what those before it may. */
enum cs_key_role { CS_KEY_EXECUTE, CS_KEY_APPROVE, CS_KEY_ADMIN };

/* Everything that depends on who asks hangs on this. Plain data; copy it. */
struct cs_caller {
    char principal[65]; /* the key's name; "local" for the person at this machine */
    char tenant[65];
    char key_id[17]; /* empty: no key was shown */
    enum cs_key_role role;
    bool reveal; /* the key has the right to values instead of tokens */
};

/* The person at this machine: tenant default, every role. Values instead of tokens are for those
 * who show a key, since anybody's program may come this way; the command line has --reveal. */
struct cs_caller cs_caller_local(void);

const char *cs_key_role_name(enum cs_key_role role);
int cs_key_role_parse(struct cs_str name, enum cs_key_role *role, struct cs_err *err);

/* A name of a key or tenant: 1 to 64 of letters, digits, '.', '_', '-'. */
bool cs_key_name_ok(struct cs_str name);

/* A new key: its text (to be shown once, and then wiped), and the row that remembers it (the texts
 * of `row` are lent by the arguments and by `text`). `lifetime_ms` 0: for ever. */
int cs_key_make(struct cs_str name, struct cs_str tenant, enum cs_key_role role,
                int64_t lifetime_ms, char text[CS_KEY_TEXT], struct cs_key_row *row,
                struct cs_err *err);

/* Whose key is it? CS_DENIED: nobody's, or it is revoked or expired; which of these is not told to
 * the outside. `done` runs once, never before this has returned. */
void cs_key_check(struct cs_store *store, struct cs_str text,
                  void (*done)(void *ctx, const struct cs_err *err, const struct cs_caller *caller),
                  void *ctx);

/* --- rate.c: so many a minute, so many an hour, for each name; in memory --- */

struct cs_rates;

struct cs_rate_limits {
    uint64_t per_minute, per_hour; /* 0: none */
};

struct cs_rate {
    bool allowed;
    uint64_t limit, remaining; /* of the window that is nearer to its end */
    uint32_t reset_s;          /* until that window is full again */
    uint32_t retry_after_s;    /* if not allowed */
};

struct cs_rates *cs_rates_new(struct cs_rate_limits limits);
void cs_rates_free(struct cs_rates *rates);
void cs_rates_set(struct cs_rates *rates, struct cs_rate_limits limits);
/* Bounded: names that were not seen for long are forgotten. */
struct cs_rate cs_rate_take(struct cs_rates *rates, struct cs_str name, int64_t now_ms);

#endif
