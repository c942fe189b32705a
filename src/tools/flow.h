/*
 * One attempt to get tokens for one server: by refreshing, by the client's own credentials, or with
 * a person (login). A flow is a chain of steps; each starts one request and names the next step.
 *
 *     refresh ----------------------------------------------> done
 *        \-> discover (resource, issuer) -> credentials ----> done
 *     login: probe -> discover -> register -> browser -> code -> done
 *
 * Runs in: daemon and command line, loop thread. Private to oauth.c, discover.c and login.c.
 */
#ifndef CS_TOOLS_FLOW_H
#define CS_TOOLS_FLOW_H

#include "tools/fetch.h"
#include "tools/grants.h"
#include "tools/listener.h"
#include "tools/metadata.h"
#include "tools/oauth.h"

struct cs_waiter {
    struct cs_waiter *next;
    cs_oauth_then *then;
    void *ctx;
};

struct cs_flow {
    struct cs_oauth *oauth;
    struct cs_flow *next;
    struct cs_arena arena; /* all texts below */
    uv_timer_t *timer;

    const char *name, *url; /* of the server */
    const char *client_id, *client_secret, *scopes;
    int status; /* of the answer that started it; 0: a token grows old */
    struct cs_challenge challenge;

    struct cs_waiter *waiters;
    bool is_login;
    struct cs_login login;

    struct cs_fetch *fetch;
    void (*answered)(struct cs_flow *f, int status, struct cs_str body);
    struct cs_err fetch_err; /* why there was no answer, if `status` is 0 */

    const char *urls[4]; /* to try, one after the other */
    size_t url_count, url_at;
    void (*discovered)(struct cs_flow *f);
    struct cs_resource_meta resource;
    struct cs_issuer_meta issuer;

    struct cs_listener *listener;
    const char *redirect;
    struct cs_registration client;
    bool registered, reused;
    struct cs_buf state, verifier, scope; /* wiped at the end */
};

/* Steps. Each ends with another step, or with cs_flow_end. */
void cs_flow_discover(struct cs_flow *f, void (*then)(struct cs_flow *f));
void cs_flow_login(struct cs_flow *f);

/* Ends and frees it. For a login `err` is told; for waiters both. NULL: nothing failed. */
void cs_flow_end(struct cs_flow *f, bool again, const struct cs_err *err);

/* Requests. `then` gets status 0 if there was no answer; see fetch_err. */
void cs_flow_get(struct cs_flow *f, const char *url,
                 void (*then)(struct cs_flow *f, int status, struct cs_str body));
void cs_flow_post(struct cs_flow *f, const char *url, const char **headers, struct cs_str body,
                  void (*then)(struct cs_flow *f, int status, struct cs_str body));

/* To the token endpoint: `form` without the client, which is added as `client` says. */
void cs_flow_token(struct cs_flow *f, const char *endpoint, const struct cs_registration *client,
                   struct cs_buf *form,
                   void (*then)(struct cs_flow *f, int status, struct cs_str body));
void cs_form_add(struct cs_buf *form, const char *name, const char *value); /* NULL: left out */

/* Which method a client with this secret uses there. */
unsigned cs_auth_method(const struct cs_issuer_meta *issuer, const char *secret);

/* The scopes to ask for, into f->scope. */
void cs_flow_scopes(struct cs_flow *f);

/* Stores what came for the issuer and client that the flow has found. */
int cs_flow_store(struct cs_flow *f, const struct cs_tokens *tokens, struct cs_err *err);

/* After `ms`; replaces what was waited for before. */
void cs_flow_after(struct cs_flow *f, uint64_t ms, uv_timer_cb then);
void cs_flow_stop_timer(struct cs_flow *f);

struct cs_fetcher *cs_oauth_http(struct cs_oauth *oauth);
struct cs_grants *cs_oauth_grants(struct cs_oauth *oauth);

#endif
