/*
 * URLs: passwords before the host, connection strings of databases and queues, addresses that are
 * secrets themselves (webhooks), and secrets among the parameters.
 */
#include "privacy/secret.h"

#include "base/own.h"
#include "privacy/vendors.h"

#define SCHEME_MAX 24
#define URL_MAX    2048

/* Whose URLs go as a whole: host, database and user say as much as the password. */
static bool is_database(struct cs_str scheme)
{
    static const char *const names[] = {
        "postgres",    "postgresql",
        "mysql",       "mysql2",
        "mariadb",     "mongodb",
        "mongodb+srv", "redis",
        "rediss",      "amqp",
        "amqps",       "mssql",
        "sqlserver",   "kafka",
        "ldap",        "ldaps",
        "oracle",      "db2",
        "cockroachdb", "clickhouse",
        "cassandra",   "neo4j",
        "bolt",        "neo4j+s",
        "bolt+s",      "nats",
        "memcached",   "couchbase",
        "couchbases",  "couchdb",
        "influxdb",    "timescaledb",
        "redshift",    "snowflake",
        "vertica",     "hive2",
        "presto",      "trino",
        "mqtt",        "mqtts",
        "stomp",       "rabbitmq",
        "valkey",      "valkeys",
        "libsql",      "sqlserver+pyodbc",
        "edgedb",      "gel",
        "firebird",    "elasticsearch",
        "pgsql",       "pg",
        "surrealdb",   "arangodb",
        "pulsar",      "beanstalkd",
    };
    size_t plus = 0;
    while (plus < scheme.len && scheme.at[plus] != '+')
        plus++;
    struct cs_str base = {scheme.at, plus}; /* postgresql+psycopg2 */
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (cs_str_same(scheme, names[i]) || cs_str_same(base, names[i]))
            return true;
    return false;
}

static bool ends_url(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '"' || c == '\'' || c == '<' ||
           c == '>' || c == '`' || c == '|' || c == '\\' || c == '\0' || (unsigned char)c >= 0x80;
}

/* Signs that stand after a URL, and not in it. */
static size_t trimmed(const struct cs_view *view, size_t start, size_t end)
{
    while (end > start) {
        char c = view->at[end - 1];
        bool closing = c == ')' && !memchr(view->at + start, '(', end - start);
        if (c != '.' && c != ',' && c != ';' && c != ':' && c != ']' && c != '}' && !closing)
            break;
        if ((c == ']' && memchr(view->at + start, '[', end - start)) ||
            (c == '}' && memchr(view->at + start, '{', end - start)))
            break;
        end--;
    }
    return end;
}

/* A '/' in the password: what stands after the '@' is no host then, and there is another '@'. */
static size_t past_slash(const struct cs_view *view, size_t sign, size_t slash, size_t end)
{
    for (size_t i = sign + 1; i < slash; i++)
        if (view->at[i] == '.' || view->at[i] == ':')
            return sign;
    for (size_t i = slash + 1; i < end && view->at[i] != '?'; i++)
        if (view->at[i] == '@' && view->at[i - 1] != '/' && cs_is_alnum(cs_view_at(view, i + 1)))
            return i;
    return sign;
}

/* The last '@' before the host; `end` if there is none. */
static size_t at_sign(const struct cs_view *view, size_t from, size_t end)
{
    size_t found = end, i = from;
    for (; i < end && view->at[i] != '/' && view->at[i] != '?'; i++)
        if (view->at[i] == '@')
            found = i;
    if (found < end) {
        /* Several hosts, each with its own: user:a@one,user:b@two. */
        const char *first = memchr(view->at + from, '@', found - from);
        if (first && memchr(first, ',', (size_t)(view->at + found - first)))
            return (size_t)(first - view->at);
        return past_slash(view, found, i, end);
    }
    if (i == end)
        return end;
    /* No host has a ':' with anything but a port: the password has a '/' in it. */
    size_t colon = from, port;
    while (colon < i && view->at[colon] != ':')
        colon++;
    for (port = colon + 1; port < i && cs_is_digit(view->at[port]); port++)
        ;
    if (port >= i || view->at[from] == '[')
        return end;
    for (size_t j = i; j < end; j++)
        if (view->at[j] == '@' && cs_is_alnum(cs_view_at(view, j + 1)))
            return j;
    return end;
}

/* Hosts whose URLs are secrets, and how their paths go on; NULL: up to the end. */
static const struct {
    const char *host, *shape;
} hooks[] = {
    {"hooks.slack.com/services/", "x1-14/x1-14/x8-30"},
    {"hooks.slack.com/workflows/", "x1-14/x1-14/d10-24/x8-30"},
    {"hooks.slack.com/triggers/", "x1-14/d8-20/h20-40"},
    {"discord.com/api/webhooks/", "d16-20/b60-80"},
    {"discordapp.com/api/webhooks/", "d16-20/b60-80"},
    {"outlook.office.com/webhook/", NULL},
    {"hooks.zapier.com/hooks/catch/", "d4-10/x5-10"},
    {"api.telegram.org/bot", "d6-12:b32-40"},
    {"chat.googleapis.com/v1/spaces/", NULL},
    {"hook.eu1.make.com/", "x28-36"},
    {"hook.us1.make.com/", "x28-36"},
    {"maker.ifttt.com/trigger/", NULL},
};

static bool webhook(struct cs_view *view, size_t start, size_t from, size_t end)
{
    for (size_t i = 0; i < CS_COUNT(hooks); i++) {
        size_t n = strlen(hooks[i].host);
        if (end - from < n || memcmp(view->at + from, hooks[i].host, n) != 0)
            continue;
        struct cs_view whole = *view;
        whole.len = end;
        size_t to = hooks[i].shape ? cs_vendor_match(&whole, from + n, hooks[i].shape) : end;
        if (to == 0 || to - from < n + 10)
            return false;
        cs_hit(view, CS_PII_API_KEY, start, to);
        return true;
    }
    static const char teams[] = ".webhook.office.com/webhookb2/";
    const char *found = memmem(view->at + from, end - from, teams, sizeof teams - 1);
    if (found && end - (size_t)(found - view->at) > sizeof teams + 30) {
        cs_hit(view, CS_PII_API_KEY, start, end);
        return true;
    }
    return false;
}

static void parameter(struct cs_view *view, struct cs_str name, size_t start, size_t end)
{
    struct cs_str value = {view->at + start, end - start};
    /* Whoever has a signed URL may do what it was signed for. */
    if (cs_str_same(name, "sig") || cs_str_same(name, "signature") ||
        cs_str_same(name, "x-amz-signature") || cs_str_same(name, "x-goog-signature")) {
        if (value.len >= 20 && value.len <= 1024 && !cs_is_sample(value))
            cs_hit(view, CS_PII_API_KEY, start, end);
        return;
    }
    cs_secret_value(view, name, start, end, CS_FOUND_ASSIGNED);
}

/* name=value pairs after the '?', or the '#' of an OAuth answer. */
static void parameters(struct cs_view *view, size_t at, size_t end)
{
    while (at < end && view->at[at] != '?' && view->at[at] != '#' && view->at[at] != ';')
        at++;
    while (at < end) {
        size_t name = ++at;
        while (at < end && view->at[at] != '=' && view->at[at] != '&')
            at++;
        size_t value = at + 1, to = at;
        if (at < end && view->at[at] == '=') {
            to = value;
            while (to < end && view->at[to] != '&' && view->at[to] != '#' && view->at[to] != ';')
                to++;
            if (to > value && at - name < 64)
                parameter(view, cs_strn(view->at + name, at - name), value, to);
        }
        at = to;
    }
}

/* user:password before the '@'. */
static bool credentials(struct cs_view *view, size_t start, size_t from, size_t sign, size_t end,
                        bool database)
{
    size_t colon = from;
    while (colon < sign && view->at[colon] != ':')
        colon++;
    if (colon == sign) {
        /* https://TOKEN@host: git remotes. */
        struct cs_str user = {view->at + from, sign - from};
        if (user.len >= 20 && user.len <= 255 && cs_is_random(user) && !cs_is_sample(user))
            cs_hit(view, CS_PII_API_KEY, from, sign);
        return false;
    }
    struct cs_str word = {view->at + colon + 1, sign - colon - 1};
    if (word.len < 2 || word.len > 1024 || cs_is_sample(word) ||
        (word.at[0] == '$' && cs_is_code(word, false)) || word.at[0] == '{' || word.at[0] == '%' ||
        cs_str_same(word, "x-oauth-basic"))
        return false;
    if (database)
        cs_hit_core(view, start, end, colon + 1, sign);
    else if (!cs_hit_at(view, colon + 1, sign))
        cs_hit(view, CS_PII_PASSWORD, colon + 1, sign);
    return true;
}

/* Where the scheme before the ':' at `at` begins. */
static size_t scheme_start(const struct cs_view *view, size_t at)
{
    size_t start = at;
    while (start > 0 && at - start < SCHEME_MAX &&
           (cs_is_alnum(view->at[start - 1]) || view->at[start - 1] == '+' ||
            view->at[start - 1] == '-'))
        start--;
    while (start < at && !cs_is_letter(view->at[start]))
        start++;
    return start;
}

/* Another URL ends this one, so that no byte is walked over twice. */
static size_t url_end(const struct cs_view *view, size_t from)
{
    size_t end = from;
    bool open = false;
    while (end < view->len && end - from < URL_MAX && !ends_url(view->at[end]) &&
           !(view->at[end] == ':' && cs_view_at(view, end + 1) == '/' &&
             cs_view_at(view, end + 2) == '/')) {
        open |= view->at[end] == '(';
        if (view->at[end] == ')' && !open)
            break; /* of Markdown */
        end++;
    }
    return trimmed(view, from, end);
}

size_t cs_find_url(struct cs_view *view, size_t at)
{
    if (view->len - at < 4 || view->at[at + 1] != '/' || view->at[at + 2] != '/')
        return at + 1;
    size_t start = scheme_start(view, at), from = at + 3;
    if (start == at)
        return from;
    struct cs_str scheme = cs_strn(view->at + start, at - start);
    bool jdbc = start >= 5 && memcmp(view->at + start - 5, "jdbc:", 5) == 0;
    if (jdbc)
        start -= 5;
    size_t end = url_end(view, from);
    if (webhook(view, start, from, end))
        return end;
    size_t sign = at_sign(view, from, end);
    bool database = sign < end && (jdbc || is_database(scheme)) &&
                    end - start <= cs_pii_longest(CS_PII_CONNECTION_STRING);
    if (sign < end && credentials(view, start, from, sign, end, database) && database)
        return end;
    parameters(view, sign < end ? sign : from, end);
    return from;
}
