#include "tools/oauth.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "tools/flow.h"
#include "tools/secret.h"
#include "tools/url.h"

#define REQUEST_MS 15000u
#define EARLY      60 /* seconds before its end that a token is refreshed, at most */
#define JUST_GOT   10 /* a token this young that is refused will not be better when refreshed */

struct cs_oauth {
    struct cs_fetcher *http;
    struct cs_grants *grants;
    struct cs_flow *flows;
    struct cs_buf token; /* what was lent last */
};

struct cs_fetcher *cs_oauth_http(struct cs_oauth *oauth)
{
    return oauth->http;
}

struct cs_grants *cs_oauth_grants(struct cs_oauth *oauth)
{
    return oauth->grants;
}

/* Flows */

static void timer_gone(uv_handle_t *handle)
{
    free(handle);
}

void cs_flow_stop_timer(struct cs_flow *f)
{
    if (!f->timer)
        return;
    uv_close((uv_handle_t *)f->timer, timer_gone);
    f->timer = NULL;
}

void cs_flow_after(struct cs_flow *f, uint64_t ms, uv_timer_cb then)
{
    if (!f->timer) {
        f->timer = CS_NEW(uv_timer_t);
        uv_timer_init(cs_fetcher_loop(f->oauth->http), f->timer);
        f->timer->data = f;
    }
    uv_timer_start(f->timer, then, ms, 0);
}

static const char *copy(struct cs_flow *f, const char *z)
{
    return z ? cs_arena_dup(&f->arena, cs_str(z)).at : NULL;
}

static struct cs_flow *flow_new(struct cs_oauth *oauth, const struct cs_server_config *server)
{
    struct cs_flow *f = CS_NEW(struct cs_flow);
    f->oauth = oauth;
    f->name = copy(f, server->name);
    f->url = copy(f, server->url);
    f->client_id = copy(f, server->client_id);
    f->client_secret = copy(f, server->client_secret);
    CS_AUTO_BUF struct cs_buf scopes = {0};
    for (size_t i = 0; server->scopes && server->scopes[i]; i++)
        cs_scope_add(&scopes, server->scopes[i]);
    f->scopes = scopes.len ? copy(f, cs_buf_cstr(&scopes)) : NULL;
    f->next = oauth->flows;
    oauth->flows = f;
    return f;
}

void cs_flow_end(struct cs_flow *f, bool again, const struct cs_err *err)
{
    struct cs_flow **at = &f->oauth->flows;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    cs_fetch_cancel(f->fetch);
    cs_flow_stop_timer(f);
    cs_listener_close(f->listener);
    struct cs_waiter *waiters = f->waiters;
    bool is_login = f->is_login;
    struct cs_login login = f->login;
    struct cs_err why = err ? *err : (struct cs_err){0};
    if (why.code != CS_OK && is_login)
        cs_wrap(&why, "login to '%s'", f->name);
    cs_buf_wipe(&f->state);
    cs_buf_wipe(&f->verifier);
    cs_buf_done(&f->scope);
    cs_arena_done(&f->arena);
    free(f);
    for (struct cs_waiter *w; (w = waiters);) {
        waiters = w->next;
        w->then(w->ctx, again, &why);
        free(w);
    }
    if (is_login)
        login.done(login.ctx, &why);
}

/* Requests */

static void on_done(void *ctx, const struct cs_err *err)
{
    struct cs_flow *f = ctx;
    int status = err->code == CS_OK ? cs_fetch_status(f->fetch) : 0;
    struct cs_str body = cs_fetch_body(f->fetch);
    f->fetch_err = *err;
    f->answered(f, status, body);
}

static void start(struct cs_flow *f, const struct cs_fetch_request *r,
                  void (*then)(struct cs_flow *, int, struct cs_str))
{
    static const struct cs_fetch_events events = {NULL, on_done};
    f->answered = then;
    f->fetch = cs_fetch_start(f->oauth->http, r, &events, f);
}

void cs_flow_get(struct cs_flow *f, const char *url,
                 void (*then)(struct cs_flow *, int, struct cs_str))
{
    const char *headers[] = {"Accept: application/json", NULL};
    struct cs_fetch_request r = {.method = "GET",
                                 .url = url,
                                 .headers = headers,
                                 .timeout_ms = REQUEST_MS,
                                 .max_body = CS_META_BYTES};
    start(f, &r, then);
}

void cs_flow_post(struct cs_flow *f, const char *url, const char **headers, struct cs_str body,
                  void (*then)(struct cs_flow *, int, struct cs_str))
{
    struct cs_fetch_request r = {.method = "POST",
                                 .url = url,
                                 .headers = headers,
                                 .body = body,
                                 .timeout_ms = REQUEST_MS,
                                 .max_body = CS_META_BYTES,
                                 .no_redirects = true};
    start(f, &r, then);
}

void cs_form_add(struct cs_buf *form, const char *name, const char *value)
{
    if (!value)
        return;
    if (form->len)
        cs_buf_putc(form, '&');
    cs_buf_puts(form, name);
    cs_buf_putc(form, '=');
    cs_url_encode(cs_str(value), form);
}

void cs_flow_token(struct cs_flow *f, const char *endpoint, const struct cs_registration *client,
                   struct cs_buf *form, void (*then)(struct cs_flow *, int, struct cs_str))
{
    const char *headers[] = {"Content-Type: application/x-www-form-urlencoded",
                             "Accept: application/json", NULL, NULL};
    CS_AUTO(cs_buf_wipe) struct cs_buf pair = {0};
    CS_AUTO(cs_buf_wipe) struct cs_buf basic = {0};
    if (client->client_secret && client->auth_method == CS_AUTH_BASIC) {
        cs_url_encode(cs_str(client->client_id), &pair);
        cs_buf_putc(&pair, ':');
        cs_url_encode(cs_str(client->client_secret), &pair);
        cs_buf_puts(&basic, "Authorization: Basic ");
        cs_base64(cs_buf_str(&pair), &basic);
        headers[2] = cs_buf_cstr(&basic);
    } else {
        cs_form_add(form, "client_id", client->client_id);
        if (client->auth_method == CS_AUTH_POST)
            cs_form_add(form, "client_secret", client->client_secret);
    }
    cs_flow_post(f, endpoint, headers, cs_buf_str(form), then);
}

unsigned cs_auth_method(const struct cs_issuer_meta *m, const char *secret)
{
    if (!secret)
        return CS_AUTH_NONE;
    if (m->auth_methods == 0 || (m->auth_methods & CS_AUTH_BASIC))
        return CS_AUTH_BASIC;
    return m->auth_methods & CS_AUTH_POST ? CS_AUTH_POST : CS_AUTH_NONE;
}

void cs_flow_scopes(struct cs_flow *f)
{
    struct cs_grant *g = cs_grants_find(f->oauth->grants, f->url, f->issuer.issuer);
    cs_buf_clear(&f->scope);
    cs_scope_add(&f->scope, f->challenge.scope);
    cs_scope_add(&f->scope, f->scopes);
    if (f->scope.len == 0)
        cs_scope_add(&f->scope, f->resource.scopes);
    if (g && g->access)
        cs_scope_add(&f->scope, g->scope); /* what was granted before is not given up */
    if (f->is_login && cs_scope_has(f->issuer.scopes, CS_STR("offline_access")))
        cs_scope_add(&f->scope, "offline_access");
}

static int64_t now(void)
{
    return (int64_t)time(NULL);
}

static void set_tokens(struct cs_grant *g, const struct cs_tokens *t)
{
    cs_grant_set(&g->access, t->access);
    if (t->refresh)
        cs_grant_set(&g->refresh, t->refresh);
    g->obtained_at = now();
    g->expires_at = t->expires_in ? g->obtained_at + t->expires_in : 0;
}

int cs_flow_store(struct cs_flow *f, const struct cs_tokens *t, struct cs_err *err)
{
    struct cs_grants *grants = f->oauth->grants;
    if (cs_grants_begin(grants, err) < 0)
        return -1;
    struct cs_grant *g = cs_grants_make(grants, f->url, f->issuer.issuer);
    cs_grant_set(&g->client_id, f->client.client_id);
    cs_grant_set(&g->client_secret, f->client.client_secret);
    cs_grant_set(&g->redirect, f->redirect);
    cs_grant_set(&g->token_endpoint, f->issuer.token);
    cs_grant_set(&g->resource, f->resource.resource);
    cs_grant_set(&g->scope, t->scope ? t->scope : f->scope.len ? cs_buf_cstr(&f->scope) : NULL);
    cs_grant_set(&g->refresh, NULL);
    g->auth_method = f->client.auth_method;
    g->registered = f->registered;
    set_tokens(g, t);
    return cs_grants_commit(grants, err);
}

/* Without a person: the client's own credentials */

static void got_credentials(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_tokens tokens;
    struct cs_err err = {0};
    char code[64];
    if (status == 0)
        err = f->fetch_err;
    else if (status != 200)
        cs_oauth_error(body, status, code, &err);
    else if (cs_tokens_parse(body, &f->arena, &tokens, &err) == 0)
        cs_flow_store(f, &tokens, &err);
    if (err.code != CS_OK)
        cs_wrap(&err, "client credentials");
    cs_flow_end(f, err.code == CS_OK, &err);
}

static void ask_credentials(struct cs_flow *f)
{
    if (!f->issuer.client_credentials) {
        cs_flow_end(f, false, NULL);
        return;
    }
    f->client = (struct cs_registration){f->client_id, f->client_secret,
                                         cs_auth_method(&f->issuer, f->client_secret)};
    cs_flow_scopes(f);
    CS_AUTO(cs_buf_wipe) struct cs_buf form = {0};
    cs_form_add(&form, "grant_type", "client_credentials");
    cs_form_add(&form, "resource", f->resource.resource);
    cs_form_add(&form, "scope", f->scope.len ? cs_buf_cstr(&f->scope) : NULL);
    cs_flow_token(f, f->issuer.token, &f->client, &form, got_credentials);
}

static void try_credentials(struct cs_flow *f)
{
    struct cs_grant *g = cs_grants_current(f->oauth->grants, f->url);
    bool fresh = g && f->status == 401 && now() - g->obtained_at < JUST_GOT;
    /* A grant with a redirect is a person's: it is not replaced by the client's own. */
    if (!f->client_id || !f->client_secret || fresh || (g && g->redirect))
        cs_flow_end(f, false, NULL);
    else
        cs_flow_discover(f, ask_credentials);
}

/* Without a person: a refresh token */

static void drop_tokens(struct cs_flow *f)
{
    struct cs_grants *grants = f->oauth->grants;
    if (cs_grants_begin(grants, NULL) < 0)
        return;
    struct cs_grant *g = cs_grants_current(grants, f->url);
    if (g) {
        cs_grant_set(&g->access, NULL);
        cs_grant_set(&g->refresh, NULL);
    }
    cs_grants_commit(grants, NULL);
}

static void got_refreshed(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_grants *grants = f->oauth->grants;
    struct cs_tokens t;
    char code[64];
    struct cs_err err = {0};
    if (status == 200 && cs_tokens_parse(body, &f->arena, &t, NULL) == 0 &&
        cs_grants_begin(grants, NULL) == 0) {
        struct cs_grant *g = cs_grants_current(grants, f->url);
        if (g) {
            set_tokens(g, &t);
            if (t.scope)
                cs_grant_set(&g->scope, t.scope);
        }
        cs_flow_end(f, cs_grants_commit(grants, NULL) == 0 && g, NULL);
        return;
    }
    if (status >= 400 && status < 500) {
        cs_oauth_error(body, status, code, &err);
        if (strcmp(code, "invalid_grant") == 0)
            drop_tokens(f);
    }
    try_credentials(f);
}

static void try_refresh(uv_timer_t *timer)
{
    struct cs_flow *f = timer->data;
    cs_flow_stop_timer(f);
    cs_grants_refresh(f->oauth->grants, NULL);
    struct cs_grant *g = cs_grants_current(f->oauth->grants, f->url);
    bool worth = g && g->refresh && g->client_id && f->status != 403 &&
                 (f->status == 0 || now() - g->obtained_at >= JUST_GOT);
    if (!worth || cs_endpoint_check(g->token_endpoint, f->url, "token endpoint", NULL) < 0) {
        try_credentials(f);
        return;
    }
    CS_AUTO(cs_buf_wipe) struct cs_buf form = {0};
    cs_form_add(&form, "grant_type", "refresh_token");
    cs_form_add(&form, "refresh_token", g->refresh);
    cs_form_add(&form, "resource", g->resource);
    const struct cs_registration client = {g->client_id, g->client_secret, g->auth_method};
    cs_flow_token(f, g->token_endpoint, &client, &form, got_refreshed);
}

/* The public side */

int cs_oauth_new(struct cs_fetcher *http, const char *dir, struct cs_oauth **oauth,
                 struct cs_err *err)
{
    struct cs_grants *grants;
    if (cs_grants_open(dir, &grants, err) < 0)
        return -1;
    struct cs_oauth *o = CS_NEW(struct cs_oauth);
    o->http = http;
    o->grants = grants;
    *oauth = o;
    return 0;
}

void cs_oauth_free(struct cs_oauth *oauth)
{
    if (!oauth)
        return;
    struct cs_err err = {0};
    cs_fail(&err, CS_SYSTEM, "Caisson is ending");
    while (oauth->flows)
        cs_flow_end(oauth->flows, false, &err);
    cs_grants_free(oauth->grants);
    cs_buf_wipe(&oauth->token);
    free(oauth);
}

static struct cs_flow *flow_of(struct cs_oauth *oauth, const struct cs_server_config *server)
{
    for (struct cs_flow *f = oauth->flows; f; f = f->next)
        if (!f->is_login && strcmp(f->url, server->url) == 0)
            return f;
    return NULL;
}

/* Of one that lives shorter, in the last quarter of its life: where each new one ends those before
 * it, one that is refreshed as soon as it is used is never good for a request. */
static bool ends_soon(const struct cs_grant *g)
{
    int64_t quarter = (g->expires_at - g->obtained_at) / 4;
    return g->expires_at && g->expires_at - now() < (quarter < EARLY ? quarter : EARLY);
}

struct cs_str cs_oauth_token(struct cs_oauth *oauth, const struct cs_server_config *server)
{
    /* A token in the clear is everybody's. */
    if (cs_endpoint_check(server->url, server->url, "server", NULL) < 0 ||
        cs_grants_refresh(oauth->grants, NULL) < 0)
        return (struct cs_str){0};
    struct cs_grant *g = cs_grants_current(oauth->grants, server->url);
    if (!g)
        return (struct cs_str){0};
    if (ends_soon(g) && g->refresh && !flow_of(oauth, server))
        cs_flow_after(flow_new(oauth, server), 0, try_refresh);
    cs_buf_clear(&oauth->token);
    cs_buf_puts(&oauth->token, g->access);
    return cs_buf_str(&oauth->token);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* For `caisson login`, which is another process. */
static void remember(struct cs_oauth *oauth, const struct cs_flow *f)
{
    const struct cs_challenge *c = &f->challenge;
    struct cs_want *w = cs_grants_want(oauth->grants, f->url, false);
    if (w && same(w->scope, c->scope) && same(w->resource_metadata, c->resource_metadata))
        return;
    if (cs_grants_begin(oauth->grants, NULL) < 0)
        return;
    w = cs_grants_want(oauth->grants, f->url, true);
    cs_grant_set(&w->scope, c->scope);
    cs_grant_set(&w->resource_metadata, c->resource_metadata);
    cs_grants_commit(oauth->grants, NULL);
}

void cs_oauth_challenged(struct cs_oauth *oauth, const struct cs_server_config *server, int status,
                         struct cs_str challenge, cs_oauth_then *then, void *ctx)
{
    struct cs_flow *f = flow_of(oauth, server);
    if (!f) {
        f = flow_new(oauth, server);
        f->status = status;
        cs_challenge_parse(challenge, &f->arena, &f->challenge);
        remember(oauth, f);
        cs_flow_after(f, 0, try_refresh);
    }
    struct cs_waiter *w = CS_NEW(struct cs_waiter);
    *w = (struct cs_waiter){f->waiters, then, ctx};
    f->waiters = w;
}

static void start_login(uv_timer_t *timer)
{
    struct cs_flow *f = timer->data;
    struct cs_err err = {0};
    cs_flow_stop_timer(f);
    if (cs_grants_refresh(f->oauth->grants, &err) < 0)
        cs_flow_end(f, false, &err);
    else
        cs_flow_login(f);
}

void cs_oauth_login(struct cs_oauth *oauth, const struct cs_login *login)
{
    struct cs_flow *f = flow_new(oauth, login->server);
    f->is_login = true;
    f->login = *login;
    f->login.redirect = copy(f, login->redirect);
    f->login.client_document = copy(f, login->client_document);
    cs_flow_after(f, 0, start_login);
}

int cs_oauth_logout(struct cs_oauth *oauth, const struct cs_server_config *server,
                    struct cs_err *err)
{
    if (cs_grants_begin(oauth->grants, err) < 0)
        return -1;
    if (cs_grants_remove(oauth->grants, server->url) == 0) {
        cs_grants_abandon(oauth->grants);
        return cs_fail(err, CS_MISSING, "there is no login to '%s'", server->name);
    }
    return cs_grants_commit(oauth->grants, err);
}
