/*
 * What logins have brought, in DIR/oauth.json (mode 0600): per server and issuer a client id, and
 * tokens; and per server what it asked for when it refused us.
 *
 * Runs in: daemon and command line, at the same time: a change reads the file under a lock, and
 * replaces it atomically; a reader notices that the file is another one.
 * Limits:  CS_GRANTS_BYTES of file. A file that cannot be read is an error, and is not overwritten.
 */
#ifndef CS_TOOLS_GRANTS_H
#define CS_TOOLS_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CS_GRANTS_BYTES (4u << 20)

struct cs_grant {
    struct cs_grant *next;
    char *server, *issuer;
    char *client_id, *client_secret, *redirect; /* redirect: what a registration of ours is for */
    char *token_endpoint, *resource;
    unsigned auth_method; /* CS_AUTH_* */
    bool registered;      /* by us, dynamically */
    char *access, *refresh, *scope;
    int64_t expires_at, obtained_at; /* seconds of the wall clock; 0: unknown */
};

struct cs_want { /* the last challenge of a server */
    struct cs_want *next;
    char *server, *resource_metadata, *scope;
};

struct cs_grants {
    char *dir, *path;
    struct cs_grant *all; /* the newest first */
    struct cs_want *wants;
    int lock;
    uint64_t seen[4]; /* which file was read: device, inode, size, time */
};

int cs_grants_open(const char *dir, struct cs_grants **grants, struct cs_err *err);
void cs_grants_free(struct cs_grants *g);

/* Reads the file again if it has changed. Everything borrowed from `g` may be gone after it. */
int cs_grants_refresh(struct cs_grants *g, struct cs_err *err);

/* Around each change. After begin, cs_grants_commit or cs_grants_abandon. */
int cs_grants_begin(struct cs_grants *g, struct cs_err *err);
int cs_grants_commit(struct cs_grants *g, struct cs_err *err);
void cs_grants_abandon(struct cs_grants *g);

/* The one with a token, or NULL. */
struct cs_grant *cs_grants_current(struct cs_grants *g, const char *server);
/* NULL if there is none. */
struct cs_grant *cs_grants_find(struct cs_grants *g, const char *server, const char *issuer);
/* Made if there is none, and put first. Tokens of other issuers for this server are dropped. */
struct cs_grant *cs_grants_make(struct cs_grants *g, const char *server, const char *issuer);
/* Everything about the server. How many there were. */
unsigned cs_grants_remove(struct cs_grants *g, const char *server);
struct cs_want *cs_grants_want(struct cs_grants *g, const char *server, bool make);

void cs_grant_set(char **slot, const char *value); /* wipes what was there; NULL empties */

#endif
