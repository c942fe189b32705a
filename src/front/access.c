#include "front/access.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "front/events.h"
#include "rest/rest.h"

#define ID_CHARS 16 /* of a key */

struct cs_access {
    const struct cs_settings *settings;
    struct cs_store *store;
    struct cs_watch *watch;
    struct cs_rates *rates;
    struct cs_refusals *refusals;
};

static struct cs_rate_limits limits_of(const struct cs_settings *s)
{
    return (struct cs_rate_limits){s->rate_per_minute, s->rate_per_hour};
}

struct cs_access *cs_access_new(const struct cs_settings *settings, struct cs_store *store,
                                struct cs_watch *watch)
{
    struct cs_access *a = CS_NEW(struct cs_access);
    a->settings = settings;
    a->store = store;
    a->watch = watch;
    a->rates = cs_rates_new(limits_of(settings));
    a->refusals = cs_refusals_new(store);
    return a;
}

void cs_access_free(struct cs_access *a)
{
    if (!a)
        return;
    cs_rates_free(a->rates);
    cs_refusals_free(a->refusals);
    free(a);
}

void cs_access_reload(struct cs_access *a)
{
    cs_rates_set(a->rates, limits_of(a->settings));
}

/* --- whose machine is it? --- */

static bool same(struct cs_str a, const char *z)
{
    return a.len == strlen(z) && strncasecmp(a.at, z, a.len) == 0;
}

static bool listed(const char **list, struct cs_str text)
{
    for (; *list; list++)
        if (same(text, *list))
            return true;
    return false;
}

/* "[::1]:8002" -> "[::1]", "localhost:8002" -> "localhost". What is no port stays, and is nobody's
 * name then. */
static struct cs_str without_port(struct cs_str host)
{
    size_t at = host.len;
    while (at > 0 && host.at[at - 1] >= '0' && host.at[at - 1] <= '9')
        at--;
    return at > 0 && host.at[at - 1] == ':' ? cs_strn(host.at, at - 1) : host;
}

/* A name of this machine that no name server can point elsewhere, or that the person has listed. */
static bool our_name(const struct cs_access *a, struct cs_str host)
{
    static const char *const own[] = {"localhost", "127.0.0.1", "[::1]"};
    struct cs_str name = without_port(host);
    for (size_t i = 0; i < CS_COUNT(own); i++)
        if (same(name, own[i]))
            return true;
    return same(name, a->settings->server_host) ||
           listed(a->settings->server_allowed_hosts, name) ||
           listed(a->settings->server_allowed_hosts, host);
}

/* Our own pages come from where the request goes to. Another port is another program. */
static bool is_our_page(const struct cs_access *a, const struct cs_exchange *x,
                        struct cs_str origin)
{
    if (listed(a->settings->server_allowed_origins, origin))
        return true;
    const char *slashes = memmem(origin.at, origin.len, "://", 3);
    if (!slashes || !(cs_str_starts(origin, "http://") || cs_str_starts(origin, "https://")))
        return false; /* "null", and what is no web page */
    size_t skip = (size_t)(slashes - origin.at) + 3;
    struct cs_str page = cs_strn(origin.at + skip, origin.len - skip),
                  host = cs_exchange_header(x, "Host");
    return cs_exchange_header_count(x, "Origin") == 1 && our_name(a, page) &&
           page.len == host.len && strncasecmp(page.at, host.at, page.len) == 0;
}

static bool is_loopback(struct cs_str address)
{
    char text[64];
    struct in_addr four;
    if (address.len >= sizeof text)
        return false;
    memcpy(text, address.at, address.len);
    text[address.len] = '\0';
    if (inet_pton(AF_INET, text, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == 127;
    return strcmp(text, "::1") == 0;
}

static struct cs_str trimmed(struct cs_str s)
{
    while (s.len && (s.at[0] == ' ' || s.at[0] == '\t'))
        s = cs_strn(s.at + 1, s.len - 1);
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Each proxy adds the address that it saw, and whoever asks may have put some there before: one of
 * another machine is enough. */
static bool all_loopback(struct cs_str list)
{
    for (const char *comma; (comma = memchr(list.at, ',', list.len));) {
        size_t len = (size_t)(comma - list.at);
        if (!is_loopback(trimmed(cs_strn(list.at, len))))
            return false;
        list = cs_strn(comma + 1, list.len - len - 1);
    }
    return is_loopback(trimmed(list));
}

static bool was_forwarded(const struct cs_exchange *x)
{
    static const char *const marks[] = {"X-Forwarded-For",
                                        "X-Forwarded-Host",
                                        "X-Forwarded-Proto",
                                        "X-Forwarded-Port",
                                        "X-Forwarded-Server",
                                        "Forwarded",
                                        "Via",
                                        "X-Real-IP",
                                        "X-Client-IP",
                                        "True-Client-IP",
                                        "CF-Connecting-IP",
                                        "X-Cluster-Client-IP"};
    for (size_t i = 0; i < CS_COUNT(marks); i++)
        if (cs_exchange_header(x, marks[i]).at)
            return true;
    return false;
}

/* Is the caller on this machine? When in doubt, no. Loopback of a proxy on another machine is that
 * machine's. */
static bool is_local(const struct cs_access *a, const struct cs_exchange *x)
{
    if (!cs_exchange_is_loopback(x))
        return false;
    if (!was_forwarded(x))
        return true;
    return listed(a->settings->server_trust_proxy, cs_exchange_peer(x)) &&
           cs_exchange_header_count(x, "X-Forwarded-For") == 1 &&
           all_loopback(cs_exchange_header(x, "X-Forwarded-For"));
}

/* --- the head --- */

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The public part of what looks like a key: whose it was, if it was somebody's. */
static struct cs_str id_of(struct cs_str key)
{
    struct cs_str id = key.len > 4 + ID_CHARS ? cs_strn(key.at + 4, ID_CHARS) : CS_STR("");
    if (!cs_str_starts(key, "csk_"))
        return CS_STR("");
    for (size_t i = 0; i < id.len; i++)
        if (!is_letter_or_digit(id.at[i]))
            return CS_STR("");
    return id;
}

static bool key_of(const struct cs_exchange *x, struct cs_str *key);

/* `reason`: for the ledger. */
static void refuse(struct cs_access *a, struct cs_exchange *x, unsigned status, const char *reason,
                   const char *text)
{
    struct cs_err err = {0};
    struct cs_str key, id = key_of(x, &key) ? id_of(key) : CS_STR("");
    cs_watch_refused(a->watch, "denied");
    cs_refusals_note(a->refusals, "request.denied", NULL, id, reason, cs_tick_ms());
    cs_fail(&err, CS_DENIED, "%s", text);
    if (status == 401)
        cs_exchange_set(x, "WWW-Authenticate", CS_STR("Bearer realm=\"caisson\""));
    cs_rest_problem(x, status, &err);
}

/* False: two that differ, or one that is no bearer token. Empty: none. */
static bool key_of(const struct cs_exchange *x, struct cs_str *key)
{
    static const char scheme[] = "bearer ";
    struct cs_str header = cs_exchange_header(x, "Authorization"),
                  plain = cs_exchange_header(x, "X-API-Key");
    *key = plain.at ? plain : cs_strn("", 0);
    if (cs_exchange_header_count(x, "Authorization") > 1 ||
        cs_exchange_header_count(x, "X-API-Key") > 1)
        return false;
    if (!header.at)
        return true;
    size_t n = sizeof scheme - 1;
    if (header.len <= n || strncasecmp(header.at, scheme, n) != 0)
        return false;
    struct cs_str token = cs_strn(header.at + n, header.len - n);
    if (plain.at && !cs_str_eq(plain, token))
        return false;
    *key = token;
    return true;
}

static void allow_origin(struct cs_exchange *x, struct cs_str origin)
{
    cs_exchange_set(x, "Access-Control-Allow-Origin", origin);
    cs_exchange_set(x, "Vary", CS_STR("Origin"));
    cs_exchange_set(x, "Access-Control-Expose-Headers",
                    CS_STR("Mcp-Session-Id, Retry-After, Location, Idempotency-Replayed"));
}

/* What a browser asks before it lets a page send a request. */
static bool answer_preflight(struct cs_exchange *x)
{
    if (!cs_str_is(cs_exchange_method(x), "OPTIONS") ||
        !cs_exchange_header(x, "Access-Control-Request-Method").at)
        return false;
    struct cs_str wanted = cs_exchange_header(x, "Access-Control-Request-Headers");
    cs_exchange_set(x, "Access-Control-Allow-Methods", CS_STR("GET, HEAD, POST, PUT, DELETE"));
    if (wanted.at)
        cs_exchange_set(x, "Access-Control-Allow-Headers", wanted);
    cs_exchange_set(x, "Access-Control-Max-Age", CS_STR("600"));
    cs_exchange_reply(x, 204, NULL, (struct cs_str){0});
    return true;
}

bool cs_access_head(struct cs_access *a, struct cs_exchange *x, bool open)
{
    struct cs_str origin = cs_exchange_header(x, "Origin"), key;
    bool ours = !origin.at || is_our_page(a, x, origin);
    if (!ours && !listed(a->settings->server_allowed_origins, CS_STR("*"))) {
        refuse(a, x, 403, "origin",
               "this web page (Origin) may not use Caisson; server.allowed_origins lists "
               "those that may");
        return false;
    }
    if (origin.at) {
        allow_origin(x, origin);
        if (answer_preflight(x))
            return false;
    }
    if (!key_of(x, &key)) {
        refuse(a, x, 401, "key_form",
               "show one key, as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'");
        return false;
    }
    if (key.len)
        return true;
    if (cs_exchange_header_count(x, "Host") != 1 || !our_name(a, cs_exchange_header(x, "Host"))) {
        refuse(a, x, 403, "host",
               "it was addressed by a name (Host) that is not its own; list the name in "
               "server.allowed_hosts, or show a key");
        return false;
    }
    /* A page that nobody has named is not the person at this machine, although their browser is. */
    if (!open && (a->settings->server_require_key || !ours || !is_local(a, x))) {
        refuse(a, x, 401, "no_key",
               "a key is needed: 'Authorization: Bearer KEY'; 'caisson keys create NAME' "
               "makes one");
        return false;
    }
    return true;
}

/* --- the rest --- */

struct check {
    struct cs_access *access;
    struct cs_exchange *x; /* NULL: its peer is gone */
    void (*then)(void *ctx, struct cs_exchange *x, const struct cs_caller *caller);
    void *ctx;
};

static void on_gone(void *ctx, struct cs_exchange *x)
{
    struct check *c = ctx;
    (void)x;
    c->x = NULL;
}

static void set_number(struct cs_exchange *x, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cs_exchange_set(x, name, cs_str(text));
}

/* Both spellings are in use, and clients look for either. */
static void tell_rate(struct cs_exchange *x, const struct cs_rate *rate)
{
    if (!rate->limit)
        return;
    set_number(x, "RateLimit-Limit", rate->limit);
    set_number(x, "RateLimit-Remaining", rate->remaining);
    set_number(x, "RateLimit-Reset", rate->reset_s);
    set_number(x, "X-RateLimit-Limit", rate->limit);
    set_number(x, "X-RateLimit-Remaining", rate->remaining);
    set_number(x, "X-RateLimit-Reset", rate->reset_s);
}

static bool within_rate(struct cs_access *a, struct cs_exchange *x, const struct cs_caller *caller)
{
    struct cs_rate rate = cs_rate_take(a->rates, cs_str(caller->key_id), cs_tick_ms());
    struct cs_err err = {0};
    tell_rate(x, &rate);
    if (rate.allowed)
        return true;
    cs_watch_refused(a->watch, "rate_limit");
    cs_refusals_note(a->refusals, "request.limited", caller, cs_str(caller->key_id), "rate",
                     cs_tick_ms());
    set_number(x, "Retry-After", rate.retry_after_s);
    cs_fail(&err, CS_BUSY, "this key has made its %" PRIu64 " requests; wait %u s", rate.limit,
            rate.retry_after_s);
    cs_rest_problem(x, 429, &err);
    return false;
}

static void on_checked(void *ctx, const struct cs_err *err, const struct cs_caller *caller)
{
    struct check c = *(struct check *)ctx;
    free(ctx);
    if (!c.x)
        return;
    cs_exchange_on_gone(c.x, NULL, NULL);
    if (err->code == CS_DENIED)
        refuse(c.access, c.x, 401, "key", "this key is not valid");
    else if (err->code != CS_OK)
        cs_rest_problem(c.x, 0, err);
    else if (within_rate(c.access, c.x, caller))
        c.then(c.ctx, c.x, caller);
}

void cs_access_check(struct cs_access *a, struct cs_exchange *x, bool open,
                     void (*then)(void *ctx, struct cs_exchange *x, const struct cs_caller *caller),
                     void *ctx)
{
    struct cs_str key;
    if (!key_of(x, &key) || !key.len) {
        struct cs_caller caller = cs_caller_local();
        /* Whoever may only see what everybody may is nobody in particular. */
        if (open && !is_local(a, x))
            caller = (struct cs_caller){.principal = "anonymous", .tenant = ""};
        then(ctx, x, &caller);
        return;
    }
    struct check *c = CS_NEW(struct check);
    *c = (struct check){a, x, then, ctx};
    cs_exchange_on_gone(x, on_gone, c);
    cs_key_check(a->store, key, on_checked, c);
}

void cs_access_denied(struct cs_access *a, const struct cs_caller *caller)
{
    cs_refusals_note(a->refusals, "request.denied", caller, cs_str(caller->key_id), "role",
                     cs_tick_ms());
}
