/*
 * What servers say about authorization: WWW-Authenticate, the metadata of protected resources (RFC
 * 9728) and of authorization servers (RFC 8414, OpenID), registrations and tokens.
 *
 * Runs in: daemon and command line. Pure; every byte is foreign. Texts are copied to the arena and
 * end in NUL. Limits: CS_META_BYTES of JSON, CS_META_SERVERS issuers, CS_META_TEXT per text.
 */
#ifndef CS_TOOLS_METADATA_H
#define CS_TOOLS_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_META_BYTES   (256u << 10)
#define CS_META_SERVERS 16u
#define CS_META_TEXT    8192u

/* The parameters of the first Bearer challenge; NULL: not there. */
struct cs_challenge {
    const char *resource_metadata, *scope, *error;
};
void cs_challenge_parse(struct cs_str header, struct cs_arena *arena, struct cs_challenge *out);

struct cs_resource_meta {
    const char *resource;
    const char *issuers[CS_META_SERVERS];
    size_t count;       /* at least 1 */
    const char *scopes; /* with spaces between; NULL: not there */
};
/* CS_DENIED if it speaks of another resource than `server` (the same, or one above it). */
int cs_resource_meta_parse(struct cs_str json, const char *server, struct cs_arena *arena,
                           struct cs_resource_meta *out, struct cs_err *err);
/* Where it may be, in order. Returns how many. */
size_t cs_resource_meta_urls(const char *server, struct cs_arena *arena, const char *urls[2]);

enum { CS_AUTH_NONE = 1, CS_AUTH_POST = 2, CS_AUTH_BASIC = 4 };

struct cs_issuer_meta {
    const char *issuer, *authorization, *token, *registration; /* endpoints; NULL: not there */
    const char *scopes;
    unsigned auth_methods; /* CS_AUTH_*; 0: it does not say */
    bool s256;             /* PKCE with S256 */
    bool sends_iss;        /* promises `iss` with the code */
    bool client_documents; /* takes the URL of a document as a client id */
    bool client_credentials;
};
/* CS_DENIED if its issuer is not `issuer`, byte for byte (but for the slash after a bare host). */
int cs_issuer_meta_parse(struct cs_str json, const char *issuer, struct cs_arena *arena,
                         struct cs_issuer_meta *out, struct cs_err *err);
size_t cs_issuer_meta_urls(const char *issuer, struct cs_arena *arena, const char *urls[3]);

struct cs_registration {
    const char *client_id, *client_secret;
    unsigned auth_method; /* CS_AUTH_*; 0: it does not say */
};
int cs_registration_parse(struct cs_str json, struct cs_arena *arena, struct cs_registration *out,
                          struct cs_err *err);

struct cs_tokens {
    const char *access, *refresh, *scope;
    int64_t expires_in; /* seconds; 0: it does not say */
};
int cs_tokens_parse(struct cs_str json, struct cs_arena *arena, struct cs_tokens *out,
                    struct cs_err *err);
/* The `error` of an OAuth error body, or "". Adds the story to `err` (CS_DENIED). */
void cs_oauth_error(struct cs_str json, int status, char code[64], struct cs_err *err);

/* https, or plain http to this machine if the server itself is on it. */
int cs_endpoint_check(const char *url, const char *server, const char *what, struct cs_err *err);

/* Scopes are words with spaces between. */
bool cs_scope_has(const char *scopes, struct cs_str one);
void cs_scope_add(struct cs_buf *to, const char *scopes); /* those that are not there yet */

#endif
