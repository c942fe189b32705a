/*
 * Tokens for HTTP servers: the authorization flow of the MCP specification (protected resource
 * metadata, authorization server metadata, PKCE S256, `resource`, `iss`, registration by a given
 * id, a client id document or dynamically, refresh, step-up of scopes).
 *
 * Runs in: daemon, loop thread. Tokens are kept per issuer and server in DIR/oauth.json, mode 0600.
 * What a server sends is untrusted: https only (loopback excepted), bounded, addresses shown before
 * they are opened.
 */
#ifndef CS_TOOLS_OAUTH_H
#define CS_TOOLS_OAUTH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "tools/transport.h"

int cs_oauth_new(struct cs_fetcher *http, const char *dir, struct cs_oauth **oauth,
                 struct cs_err *err);
void cs_oauth_free(struct cs_oauth *oauth);

/* The bearer token for this server, refreshed in time; empty: there is none. Borrowed. */
struct cs_str cs_oauth_token(struct cs_oauth *oauth, const struct cs_server_config *server);

/*
 * A request was answered with 401, or 403 and insufficient_scope. `challenge` is its
 * WWW-Authenticate, which is kept for `caisson login`. Tries what needs no person (refresh; client
 * credentials), then `then(ctx, true)`: try again; or false: a person must log in. `why` says what
 * was tried and failed (code CS_OK: nothing could be).
 */
typedef void cs_oauth_then(void *ctx, bool again, const struct cs_err *why);
void cs_oauth_challenged(struct cs_oauth *oauth, const struct cs_server_config *server, int status,
                         struct cs_str challenge, cs_oauth_then *then, void *ctx);

/*
 * `caisson login NAME`: the whole flow. `open` is given the address a person must visit; the code
 * comes back to a listener on 127.0.0.1. `redirect` overrides where (NULL: a free port), and
 * `client_document` is the URL of a client id metadata document (or NULL).
 */
struct cs_login {
    const struct cs_server_config *server;
    const char *redirect, *client_document;
    void (*open)(void *ctx, const char *url);
    void (*done)(void *ctx, const struct cs_err *err); /* code CS_OK: logged in */
    void *ctx;
};
void cs_oauth_login(struct cs_oauth *oauth, const struct cs_login *login);
int cs_oauth_logout(struct cs_oauth *oauth, const struct cs_server_config *server,
                    struct cs_err *err);

#endif
