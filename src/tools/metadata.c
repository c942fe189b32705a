#include "tools/metadata.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "tools/headers.h"
#include "tools/url.h"

/* WWW-Authenticate */

static bool token_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t skip(struct cs_str s, size_t at, const char *set)
{
    while (at < s.len && s.at[at] && strchr(set, s.at[at]))
        at++;
    return at;
}

static size_t read_value(struct cs_str s, size_t at, struct cs_buf *out)
{
    cs_buf_clear(out);
    if (at < s.len && s.at[at] == '"') {
        for (at++; at < s.len && s.at[at] != '"'; at++) {
            if (s.at[at] == '\\' && at + 1 < s.len)
                at++;
            cs_buf_putc(out, s.at[at]);
        }
        return at + (at < s.len);
    }
    for (; at < s.len && s.at[at] != ',' && s.at[at] != ' ' && s.at[at] != '\t'; at++)
        cs_buf_putc(out, s.at[at]);
    return at;
}

static void set_param(struct cs_str name, const struct cs_buf *value, struct cs_arena *arena,
                      struct cs_challenge *c)
{
    const struct {
        const char *name;
        const char **slot;
    } known[] = {
        {"resource_metadata", &c->resource_metadata}, {"scope", &c->scope}, {"error", &c->error}};
    for (size_t i = 0; i < CS_COUNT(known); i++)
        if (name.len == strlen(known[i].name) &&
            strncasecmp(name.at, known[i].name, name.len) == 0 && !*known[i].slot &&
            value->len <= CS_META_TEXT && !memchr(value->at ? value->at : "", 0, value->len))
            *known[i].slot = cs_arena_dup(arena, cs_buf_str(value)).at;
}

void cs_challenge_parse(struct cs_str s, struct cs_arena *arena, struct cs_challenge *out)
{
    *out = (struct cs_challenge){0};
    CS_AUTO_BUF struct cs_buf value = {0};
    bool bearer = false, seen = false;
    size_t at = 0;
    while ((at = skip(s, at, " \t,")) < s.len) {
        size_t start = at;
        while (at < s.len && token_char(s.at[at]))
            at++;
        struct cs_str word = {s.at + start, at - start};
        if (word.len == 0) {
            at++;
            continue;
        }
        size_t next = skip(s, at, " \t");
        /* A word before an equals sign is a parameter; "Basic abc==" is a scheme with a token. */
        if (next < s.len && s.at[next] == '=') {
            at = read_value(s, skip(s, next + 1, " \t"), &value);
            if (bearer)
                set_param(word, &value, arena, out);
            continue;
        }
        if (seen)
            return;
        bearer = seen = word.len == 6 && strncasecmp(word.at, "bearer", 6) == 0;
    }
}

/* JSON */

static int open_object(struct cs_str json, struct cs_json *doc, struct cs_err *err)
{
    const struct cs_json_limits limits = {
        .bytes = CS_META_BYTES, .depth = 32, .allow_duplicate = true};
    if (cs_json_parse(json, &limits, doc, err) < 0)
        return -1;
    if (cs_json_type(cs_json_root(doc)) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "it is no JSON object");
    return 0;
}

/* A text member, or NULL. One that is too long, or holds a NUL, is none. */
static const char *text(struct cs_json_val object, const char *key, struct cs_arena *arena)
{
    struct cs_json_val v = cs_json_get(object, key);
    if (cs_json_type(v) != CS_JSON_STRING)
        return NULL;
    struct cs_str s = cs_json_str(v, arena);
    if (s.len == 0 || s.len > CS_META_TEXT || memchr(s.at, 0, s.len))
        return NULL;
    return cs_arena_dup(arena, s).at;
}

/* A list of words as one text with spaces between, or NULL. */
static const char *words(struct cs_json_val list, struct cs_arena *arena)
{
    CS_AUTO_BUF struct cs_buf joined = {0};
    CS_AUTO_ARENA struct cs_arena scratch = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (cs_json_type(list) != CS_JSON_ARRAY)
        return NULL;
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_str word = cs_json_str(item, &scratch);
        if (word.len == 0 || memchr(word.at, ' ', word.len) || memchr(word.at, 0, word.len) ||
            joined.len + word.len >= CS_META_TEXT)
            continue;
        if (joined.len)
            cs_buf_putc(&joined, ' ');
        cs_buf_putstr(&joined, word);
    }
    return joined.len ? cs_arena_dup(arena, cs_buf_str(&joined)).at : NULL;
}

static bool lists(struct cs_json_val list, const char *word)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(list, &it, NULL, &item))
        if (cs_json_is(item, word))
            return true;
    return false;
}

static struct cs_str without_slash(struct cs_str path)
{
    while (path.len && path.at[path.len - 1] == '/')
        path.len--;
    return path;
}

/* Is `resource` the server, or a path above it? */
static bool covers(const char *resource, const char *server)
{
    struct cs_url r, s;
    if (cs_url_parse(cs_str(resource), &r, NULL) < 0 || cs_url_parse(cs_str(server), &s, NULL) < 0)
        return false;
    if (!cs_url_same_origin(&r, &s))
        return false;
    struct cs_str above = without_slash(r.path), path = without_slash(s.path);
    if (path.len < above.len || memcmp(path.at ? path.at : "", above.at ? above.at : "", above.len))
        return false;
    return path.len == above.len || path.at[above.len] == '/';
}

int cs_resource_meta_parse(struct cs_str json, const char *server, struct cs_arena *arena,
                           struct cs_resource_meta *out, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_resource_meta m = {0};
    if (open_object(json, &doc, err) < 0)
        return cs_wrap(err, "metadata of the server");
    struct cs_json_val root = cs_json_root(&doc);
    m.resource = text(root, "resource", arena);
    if (!m.resource)
        return cs_fail(err, CS_INVALID,
                       "the server's metadata does not say which `resource` it "
                       "speaks of");
    if (!covers(m.resource, server))
        return cs_fail(err, CS_DENIED,
                       "the server's metadata speaks of another resource, '%.150s': a token for it "
                       "is not asked for",
                       m.resource);
    m.scopes = words(cs_json_get(root, "scopes_supported"), arena);
    struct cs_json_val list = cs_json_get(root, "authorization_servers");
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (m.count < CS_META_SERVERS && cs_json_next(list, &it, NULL, &item)) {
        struct cs_str issuer = cs_json_str(item, arena);
        struct cs_url url;
        if (cs_url_parse(issuer, &url, NULL) == 0)
            m.issuers[m.count++] = cs_arena_dup(arena, issuer).at;
    }
    if (m.count == 0)
        return cs_fail(err, CS_INVALID, "the server's metadata names no authorization server");
    *out = m;
    return 0;
}

static const char *join(struct cs_arena *arena, const struct cs_url *url, const char *before,
                        struct cs_str path, const char *after)
{
    CS_AUTO_BUF struct cs_buf b = {0};
    cs_url_origin(url, &b);
    cs_buf_puts(&b, before);
    cs_buf_putstr(&b, path);
    cs_buf_puts(&b, after);
    return cs_arena_dup(arena, cs_buf_str(&b)).at;
}

size_t cs_resource_meta_urls(const char *server, struct cs_arena *arena, const char *urls[2])
{
    struct cs_url url;
    size_t n = 0;
    if (cs_url_parse(cs_str(server), &url, NULL) < 0)
        return 0;
    struct cs_str path = without_slash(url.path);
    if (path.len)
        urls[n++] = join(arena, &url, "/.well-known/oauth-protected-resource", path, "");
    urls[n++] = join(arena, &url, "/.well-known/oauth-protected-resource", cs_strn(NULL, 0), "");
    return n;
}

static unsigned methods(struct cs_json_val list)
{
    return (lists(list, "none") ? CS_AUTH_NONE : 0u) |
           (lists(list, "client_secret_post") ? CS_AUTH_POST : 0u) |
           (lists(list, "client_secret_basic") ? CS_AUTH_BASIC : 0u);
}

/* Byte for byte, but for the slash that an address without a path may have or not. */
static bool same_issuer(const char *a, const char *b)
{
    struct cs_url u;
    if (strcmp(a, b) == 0)
        return true;
    if (cs_url_parse(cs_str(a), &u, NULL) < 0 || without_slash(u.path).len || u.query.len)
        return false;
    return cs_str_eq(without_slash(cs_str(a)), without_slash(cs_str(b)));
}

int cs_issuer_meta_parse(struct cs_str json, const char *issuer, struct cs_arena *arena,
                         struct cs_issuer_meta *out, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_issuer_meta m = {0};
    if (open_object(json, &doc, err) < 0)
        return cs_wrap(err, "metadata of the authorization server");
    struct cs_json_val root = cs_json_root(&doc);
    m.issuer = text(root, "issuer", arena);
    if (!m.issuer || !same_issuer(m.issuer, issuer))
        return cs_fail(err, CS_DENIED,
                       "the authorization server calls itself '%.120s', not '%.120s': it is not "
                       "trusted with a login",
                       m.issuer ? m.issuer : "", issuer);
    m.authorization = text(root, "authorization_endpoint", arena);
    m.token = text(root, "token_endpoint", arena);
    m.registration = text(root, "registration_endpoint", arena);
    m.scopes = words(cs_json_get(root, "scopes_supported"), arena);
    m.auth_methods = methods(cs_json_get(root, "token_endpoint_auth_methods_supported"));
    m.s256 = lists(cs_json_get(root, "code_challenge_methods_supported"), "S256");
    cs_json_bool(cs_json_get(root, "authorization_response_iss_parameter_supported"), &m.sends_iss);
    cs_json_bool(cs_json_get(root, "client_id_metadata_document_supported"), &m.client_documents);
    m.client_credentials = lists(cs_json_get(root, "grant_types_supported"), "client_credentials");
    if (!m.token)
        return cs_fail(err, CS_INVALID, "the authorization server names no token endpoint");
    *out = m;
    return 0;
}

size_t cs_issuer_meta_urls(const char *issuer, struct cs_arena *arena, const char *urls[3])
{
    struct cs_url url;
    size_t n = 0;
    if (cs_url_parse(cs_str(issuer), &url, NULL) < 0)
        return 0;
    struct cs_str path = without_slash(url.path);
    urls[n++] = join(arena, &url, "/.well-known/oauth-authorization-server", path, "");
    urls[n++] = join(arena, &url, "/.well-known/openid-configuration", path, "");
    if (path.len)
        urls[n++] = join(arena, &url, "", path, "/.well-known/openid-configuration");
    return n;
}

int cs_registration_parse(struct cs_str json, struct cs_arena *arena, struct cs_registration *out,
                          struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (open_object(json, &doc, err) < 0)
        return cs_wrap(err, "registration");
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_registration r = {.client_id = text(root, "client_id", arena),
                                .client_secret = text(root, "client_secret", arena)};
    struct cs_json_val method = cs_json_get(root, "token_endpoint_auth_method");
    r.auth_method = cs_json_is(method, "none")                  ? CS_AUTH_NONE
                    : cs_json_is(method, "client_secret_post")  ? CS_AUTH_POST
                    : cs_json_is(method, "client_secret_basic") ? CS_AUTH_BASIC
                                                                : 0;
    if (!r.client_id)
        return cs_fail(err, CS_INVALID, "the registration was answered without a client_id");
    *out = r;
    return 0;
}

static bool visible(const char *z)
{
    for (; *z; z++)
        if (*z <= ' ' || *z > '~')
            return false;
    return true;
}

int cs_tokens_parse(struct cs_str json, struct cs_arena *arena, struct cs_tokens *out,
                    struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (open_object(json, &doc, err) < 0)
        return cs_wrap(err, "tokens");
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_tokens t = {.access = text(root, "access_token", arena),
                          .refresh = text(root, "refresh_token", arena),
                          .scope = text(root, "scope", arena)};
    const char *type = text(root, "token_type", arena);
    double seconds;
    if (!t.access || !visible(t.access))
        return cs_fail(err, CS_INVALID, "the token endpoint answered without an access_token");
    if (type && strcasecmp(type, "bearer") != 0)
        return cs_fail(err, CS_INVALID,
                       "the token endpoint gives tokens of the type '%.40s'; only Bearer is known",
                       type);
    if (cs_json_f64(cs_json_get(root, "expires_in"), &seconds) && seconds >= 1)
        t.expires_in = seconds < 1e9 ? (int64_t)seconds : 1000000000;
    *out = t;
    return 0;
}

void cs_oauth_error(struct cs_str json, int status, char code[64], struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    char said[208];
    code[0] = 0;
    if (open_object(json, &doc, NULL) == 0) {
        const char *error = text(cs_json_root(&doc), "error", &arena);
        if (error && strlen(error) < 64 && visible(error))
            memcpy(code, error, strlen(error) + 1);
    }
    cs_body_text(json, said, sizeof said);
    cs_fail(err, CS_DENIED, "HTTP %d%s%s%s%s", status, code[0] ? ", " : "", code,
            said[0] && strcmp(said, code) != 0 ? ": " : "", strcmp(said, code) != 0 ? said : "");
}

int cs_endpoint_check(const char *url, const char *server, const char *what, struct cs_err *err)
{
    struct cs_url u, s;
    if (!url)
        return cs_fail(err, CS_INVALID, "the authorization server names no %s", what);
    if (cs_url_parse(cs_str(url), &u, err) < 0 || cs_url_parse(cs_str(server), &s, err) < 0)
        return cs_wrap(err, "%s", what);
    if (u.https || (cs_url_loopback(&u) && cs_url_loopback(&s)))
        return 0;
    return cs_fail(err, CS_DENIED, "%s: '%.150s' is not https, and is not used", what, url);
}

/* Scopes */

bool cs_scope_has(const char *scopes, struct cs_str one)
{
    for (const char *at = scopes; at && *at;) {
        size_t n = strcspn(at, " ");
        if (cs_str_eq(cs_strn(at, n), one))
            return true;
        at += n;
        at += strspn(at, " ");
    }
    return false;
}

void cs_scope_add(struct cs_buf *to, const char *scopes)
{
    for (const char *at = scopes; at && *at;) {
        size_t n = strcspn(at, " ");
        if (n && to->len + n < CS_META_TEXT && !cs_scope_has(cs_buf_cstr(to), cs_strn(at, n))) {
            if (to->len)
                cs_buf_putc(to, ' ');
            cs_buf_put(to, at, n);
        }
        at += n;
        at += strspn(at, " ");
    }
}
