/* `caisson login NAME`: the authorization code flow with PKCE, and a browser. */
#include "base/json.h"
#include "tools/flow.h"
#include "tools/secret.h"
#include "tools/url.h"

#define LOGIN_MS (5u * 60 * 1000)

static void open_browser(struct cs_flow *f);

static void fail(struct cs_flow *f, const struct cs_err *err)
{
    cs_flow_end(f, false, err);
}

static void got_tokens(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_err err = {0};
    struct cs_tokens tokens;
    char code[64];
    if (status == 0) {
        err = f->fetch_err;
    } else if (status != 200) {
        cs_oauth_error(body, status, code, &err);
        cs_wrap(&err, "the token endpoint refuses the login");
    } else if (cs_tokens_parse(body, &f->arena, &tokens, &err) == 0) {
        cs_flow_store(f, &tokens, &err);
    }
    cs_flow_end(f, err.code == CS_OK, &err);
}

static void use_code(struct cs_flow *f, const char *code)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf form = {0};
    cs_form_add(&form, "grant_type", "authorization_code");
    cs_form_add(&form, "code", code);
    cs_form_add(&form, "redirect_uri", f->redirect);
    cs_form_add(&form, "code_verifier", cs_buf_cstr(&f->verifier));
    cs_form_add(&form, "resource", f->resource.resource);
    cs_flow_token(f, f->issuer.token, &f->client, &form, got_tokens);
}

/* RFC 9207: an answer of another authorization server must not be taken for this one's. */
static int check_iss(struct cs_flow *f, struct cs_str query, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf iss = {0};
    if (cs_url_param(query, "iss", &iss)) {
        if (!cs_str_is(cs_buf_str(&iss), f->issuer.issuer))
            return cs_fail(err, CS_DENIED,
                           "the answer to the login came from another issuer than %.150s: it is "
                           "not used",
                           f->issuer.issuer);
    } else if (f->issuer.sends_iss) {
        return cs_fail(err, CS_DENIED,
                       "%.150s promises to name itself in its answers, and did not: the answer is "
                       "not used",
                       f->issuer.issuer);
    }
    return 0;
}

static int refusal(struct cs_str query, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf error = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    if (!cs_url_param(query, "error", &error))
        return 0;
    cs_url_param(query, "error_description", &text);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < ' ' || text.at[i] > '~')
            text.at[i] = ' ';
    CS_AUTO_BUF struct cs_buf shown = {0};
    cs_url_show(cs_buf_str(&error), &shown);
    return cs_fail(err, CS_DENIED, "the login was refused: %.60s%s%.200s", cs_buf_cstr(&shown),
                   text.len ? ": " : "", cs_buf_cstr(&text));
}

static const char *on_answer(void *ctx, struct cs_str query, bool *ok)
{
    struct cs_flow *f = ctx;
    struct cs_err err = {0};
    CS_AUTO(cs_buf_wipe) struct cs_buf state = {0};
    CS_AUTO(cs_buf_wipe) struct cs_buf code = {0};
    if (!cs_url_param(query, "state", &state) ||
        !cs_secret_eq(cs_buf_str(&state), cs_buf_str(&f->state)))
        return "This is not the answer to the login that Caisson has started. It still waits.";
    struct cs_listener *listener = f->listener;
    f->listener = NULL;
    cs_listener_close(listener);
    cs_flow_stop_timer(f);
    if (check_iss(f, query, &err) == 0 && refusal(query, &err) == 0 &&
        (!cs_url_param(query, "code", &code) || code.len == 0 || code.len > CS_META_TEXT))
        cs_fail(&err, CS_DENIED, "the answer to the login brought no code");
    if (err.code != CS_OK) {
        fail(f, &err);
        return "Caisson has not accepted it. The terminal says why.";
    }
    use_code(f, cs_buf_cstr(&code));
    *ok = true;
    return "You can close this window and go back to the terminal.";
}

static void on_late(uv_timer_t *timer)
{
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "nobody has logged in within %u minutes", LOGIN_MS / 60000);
    fail(timer->data, &err);
}

static void open_browser(struct cs_flow *f)
{
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf url = {0};
    CS_AUTO_BUF struct cs_buf challenge = {0};
    if (cs_random_text(&f->state, &err) < 0 || cs_random_text(&f->verifier, &err) < 0) {
        fail(f, &err);
        return;
    }
    cs_pkce_challenge(cs_buf_str(&f->verifier), &challenge);
    cs_flow_scopes(f);
    cs_form_add(&url, "response_type", "code");
    cs_form_add(&url, "client_id", f->client.client_id);
    cs_form_add(&url, "redirect_uri", f->redirect);
    cs_form_add(&url, "code_challenge", cs_buf_cstr(&challenge));
    cs_form_add(&url, "code_challenge_method", "S256");
    cs_form_add(&url, "state", cs_buf_cstr(&f->state));
    cs_form_add(&url, "resource", f->resource.resource);
    cs_form_add(&url, "scope", f->scope.len ? cs_buf_cstr(&f->scope) : NULL);
    if (cs_scope_has(cs_buf_cstr(&f->scope), CS_STR("offline_access")))
        cs_form_add(&url, "prompt", "consent"); /* OpenID gives no refresh token otherwise */
    const char *to =
        cs_arena_printf(&f->arena, "%s%c%s", f->issuer.authorization,
                        strchr(f->issuer.authorization, '?') ? '&' : '?', cs_buf_cstr(&url));
    f->fetch = NULL; /* it is over, and frees itself */
    cs_flow_after(f, LOGIN_MS, on_late);
    f->login.open(f->login.ctx, to);
}

static void got_registration(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_err err = {0};
    char code[64];
    if (status == 0) {
        err = f->fetch_err;
    } else if (status != 200 && status != 201) {
        cs_oauth_error(body, status, code, &err);
        cs_wrap(&err, "the authorization server refuses to register Caisson; register it yourself "
                      "and put client_id into the server's entry");
    } else if (cs_registration_parse(body, &f->arena, &f->client, &err) == 0) {
        f->registered = true;
        if (!f->client.client_secret)
            f->client.auth_method = CS_AUTH_NONE;
        else if (!f->client.auth_method)
            f->client.auth_method = cs_auth_method(&f->issuer, f->client.client_secret);
        open_browser(f);
        return;
    }
    fail(f, &err);
}

static const char *wanted_method(const struct cs_issuer_meta *m)
{
    if (m->auth_methods == 0 || (m->auth_methods & CS_AUTH_NONE))
        return "none";
    return m->auth_methods & CS_AUTH_BASIC ? "client_secret_basic" : "client_secret_post";
}

static void register_client(struct cs_flow *f)
{
    static const char *headers[] = {"Content-Type: application/json", "Accept: application/json",
                                    NULL};
    struct cs_err err = {0};
    if (cs_endpoint_check(f->issuer.registration, f->url, "registration endpoint", &err) < 0) {
        fail(f, &err);
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "client_name");
    cs_json_put_z(&w, "Caisson");
    cs_json_key(&w, "application_type");
    cs_json_put_z(&w, "native");
    cs_json_key(&w, "redirect_uris");
    cs_json_open(&w, '[');
    cs_json_put_z(&w, f->redirect);
    cs_json_close(&w, ']');
    cs_json_key(&w, "grant_types");
    cs_json_put_raw(&w, CS_STR("[\"authorization_code\",\"refresh_token\"]"));
    cs_json_key(&w, "response_types");
    cs_json_put_raw(&w, CS_STR("[\"code\"]"));
    cs_json_key(&w, "token_endpoint_auth_method");
    cs_json_put_z(&w, wanted_method(&f->issuer));
    cs_json_key(&w, "software_id");
    cs_json_put_z(&w, "caisson");
    cs_json_key(&w, "software_version");
    cs_json_put_z(&w, CS_VERSION);
    cs_json_close(&w, '}');
    cs_flow_post(f, f->issuer.registration, headers, cs_buf_str(&json), got_registration);
}

/* The registration of an earlier login serves again if the browser can come back to it. */
static bool reuse(struct cs_flow *f, const struct cs_grant *g)
{
    if (!g || !g->registered || !g->client_id || !g->redirect || strcmp(g->redirect, f->redirect))
        return false;
    f->client = (struct cs_registration){
        cs_arena_dup(&f->arena, cs_str(g->client_id)).at,
        g->client_secret ? cs_arena_dup(&f->arena, cs_str(g->client_secret)).at : NULL,
        g->auth_method};
    f->registered = true;
    return true;
}

static void choose_client(struct cs_flow *f)
{
    struct cs_err err = {0};
    struct cs_grant *g = cs_grants_find(cs_oauth_grants(f->oauth), f->url, f->issuer.issuer);
    const char *like = g && g->registered ? g->redirect : NULL;
    if (!f->issuer.s256) {
        cs_fail(&err, CS_DENIED,
                "the authorization server %.150s does not offer PKCE with S256, without which a "
                "login is not safe",
                f->issuer.issuer);
        fail(f, &err);
        return;
    }
    if (cs_endpoint_check(f->issuer.authorization, f->url, "authorization endpoint", &err) < 0 ||
        cs_listener_start(cs_fetcher_loop(cs_oauth_http(f->oauth)), f->login.redirect, like,
                          on_answer, f, &f->listener, &err) < 0) {
        fail(f, &err);
        return;
    }
    f->redirect = cs_arena_dup(&f->arena, cs_str(cs_listener_uri(f->listener))).at;
    if (f->client_id) {
        f->client = (struct cs_registration){f->client_id, f->client_secret,
                                             cs_auth_method(&f->issuer, f->client_secret)};
        open_browser(f);
    } else if (f->issuer.client_documents && f->login.client_document) {
        f->client = (struct cs_registration){f->login.client_document, NULL, CS_AUTH_NONE};
        open_browser(f);
    } else if (reuse(f, g)) {
        open_browser(f);
    } else if (f->issuer.registration) {
        register_client(f);
    } else {
        cs_fail(&err, CS_DENIED,
                "%.150s does not register clients by itself: register Caisson there (redirect %s) "
                "and put client_id into the server's entry",
                f->issuer.issuer, f->redirect);
        fail(f, &err);
    }
}

static void probed(struct cs_flow *f, int status, struct cs_str body)
{
    (void)body;
    if (status == 0) {
        struct cs_err err = f->fetch_err;
        fail(f, &err);
        return;
    }
    if (f->fetch)
        cs_challenge_parse(cs_fetch_header(f->fetch, "www-authenticate"), &f->arena, &f->challenge);
    cs_flow_discover(f, choose_client);
}

void cs_flow_login(struct cs_flow *f)
{
    static const char *headers[] = {"Content-Type: application/json",
                                    "Accept: application/json, text/event-stream", NULL};
    struct cs_err err = {0};
    if (cs_endpoint_check(f->url, f->url, "server", &err) < 0) {
        fail(f, &err);
        return;
    }
    struct cs_want *want = cs_grants_want(cs_oauth_grants(f->oauth), f->url, false);
    if (want) {
        if (want->scope)
            f->challenge.scope = cs_arena_dup(&f->arena, cs_str(want->scope)).at;
        if (want->resource_metadata)
            f->challenge.resource_metadata =
                cs_arena_dup(&f->arena, cs_str(want->resource_metadata)).at;
        cs_flow_discover(f, choose_client);
        return;
    }
    /* Nobody has asked the server yet: its refusal says where to go. */
    cs_flow_post(f, f->url, headers, CS_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
                 probed);
}
