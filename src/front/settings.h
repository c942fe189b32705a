/*
 * Settings: one table, from which the struct, the reading of file, environment and flags, `caisson
 * config show|check|explain`, the help and docs/configuration.md all come.
 *
 * Precedence: flag, environment (CAISSON_SERVER_PORT, then the short CAISSON_PORT, then the older
 * CODE_EXEC_PORT), file, default. An empty variable is as good as none. The file is the one that
 * has the servers (caisson.json): "server.port" is {"server": {"port": 8002}} or {"server.port":
 * 8002}; null is for "not set".
 *
 * Whose file is it? Another program's file (~/.claude.json, .mcp.json) may be our configuration
 * because of its mcpServers, and its other keys are nothing to us. So settings are read from a file
 * that is named caisson.json, or that has at least one setting in it. In such a file every key must
 * be one that we know; in others nothing is a mistake.
 *
 * Runs in: daemon and command line. Files and variables are foreign: bounded by CS_JSONC_BYTES.
 * Owner:   a cs_settings owns its texts.
 * Failure: a wrong or unknown setting is CS_INVALID with its place, what is allowed and the nearest
 *          right name. A variable CAISSON_... that means nothing is a warning.
 */
#ifndef CS_FRONT_SETTINGS_H
#define CS_FRONT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * T (text), L (list of texts), N (number), B (bytes: 10M), D (duration, in ms: 30s; a bare number
 * is of seconds), F (flag), C (one of some words)
 *
 *   kind, field, name, default (as written in a variable), least, most (or the words),
 *   the older variable (CODE_EXEC_...) or "", may it change while it runs?, what it is
 */
#define CS_SETTINGS(X)                                                                            \
    X(T, server_host, "server.host", "127.0.0.1", 0, 0, "HOST", false,                            \
      "address to listen on; callers from other machines are asked for a key")                    \
    X(N, server_port, "server.port", "8002", 0, 65535, "PORT", false,                             \
      "port to listen on; 0: any that is free")                                                   \
    X(F, server_require_key, "server.require_key", "false", 0, 0, "", true,                       \
      "ask callers on this machine for a key too")                                                \
    X(L, server_allowed_hosts, "server.allowed_hosts", "", 0, 0, "", true,                        \
      "further names by which it may be addressed (Host), besides its own address and localhost") \
    X(L, server_allowed_origins, "server.allowed_origins", "", 0, 0, "", true,                    \
      "web pages (Origin) that may use it, besides its own; \"*\": all that show a key")          \
    X(L, server_trust_proxy, "server.trust_proxy", "", 0, 0, "", true,                            \
      "addresses of proxies whose X-Forwarded-For is believed")                                   \
    X(N, server_max_connections, "server.max_connections", "12000", 1, 1000000, "", false,        \
      "connections at once")                                                                      \
    X(D, server_request_timeout, "server.request_timeout", "30s", 100, 3600000, "", false,        \
      "a request must have come completely within this time")                                     \
    X(D, server_idle_timeout, "server.idle_timeout", "5m", 100, 86400000, "", false,              \
      "a connection without a request is closed after this time")                                 \
    X(D, server_grace, "server.grace", "10s", 0, 3600000, "", true,                               \
      "at SIGTERM, executions that run are given this time to end")                               \
    X(T, tls_cert, "tls.cert", "", 0, 0, "", false,                                               \
      "file with the certificate chain (PEM); with tls.key: HTTPS")                               \
    X(T, tls_key, "tls.key", "", 0, 0, "", false, "file with the private key (PEM) of tls.cert")  \
    X(B, limits_code, "limits.code", "1M", 1, 1 << 20, "", true, "largest program")               \
    X(B, limits_inputs, "limits.inputs", "10M", 2, 10 << 20, "", true,                            \
      "largest inputs of an execution")                                                           \
    X(B, limits_bodies, "limits.bodies", "512M", 16 << 20, 1ll << 40, "", false,                  \
      "bodies of requests that are held at once, all together; then callers are told to wait")    \
    X(D, execution_timeout, "execution.timeout", "30s", 1, 300000, "MAX_EXECUTION_TIME", true,    \
      "time that an execution has if its request names none")                                     \
    X(N, execution_workers, "execution.workers", "0", 0, 1024, "", false,                         \
      "warm workers kept ready; 0: chosen by the number of processors")                           \
    X(N, execution_concurrency, "execution.concurrency", "0", 0, 10000, "", false,                \
      "executions at once, the others wait; 0: chosen by the number of processors")               \
    X(N, execution_queue, "execution.queue", "1000", 1, 100000, "", false,                        \
      "executions that may wait; tenants that have few waiting may go beyond it")                 \
    X(N, output_tokens, "output.tokens", "6000", 200, 1000000, "", true,                          \
      "largest answer to a model, in tokens; the rest is kept as an artifact")                    \
    X(N, rate_per_minute, "rate.per_minute", "100", 0, 1000000000, "", true,                      \
      "requests a minute for each key; 0: no limit")                                              \
    X(N, rate_per_hour, "rate.per_hour", "10000", 0, 1000000000, "", true,                        \
      "requests an hour for each key; 0: no limit")                                               \
    X(D, session_idle, "session.idle", "24h", 1000, 315360000000, "", true,                       \
      "a session ends when it was not used for this long")                                        \
    X(B, session_state, "session.state", "1M", 2, 16 << 20, "", true,                             \
      "largest state of a session")                                                               \
    X(B, session_files, "session.files", "10M", 0, 1 << 30, "", true,                             \
      "files of a session, all together")                                                         \
    X(N, session_most, "session.most", "1000", 1, 1000000, "", true, "sessions of one tenant")    \
    X(D, executions_keep, "executions.keep", "30d", 60000, 315360000000, "", true,                \
      "executions can be read for this long")                                                     \
    X(F, record_enabled, "record.enabled", "true", 0, 0, "", false,                               \
      "keep executions, their journals and the ledger; only measurements switch it off")          \
    X(B, record_journal, "record.journal", "64M", 0, 1 << 30, "", true,                           \
      "largest journal of an execution; a longer one is not kept, and it cannot be replayed")     \
    X(D, archive_keep, "archive.keep", "90d", 0, 315360000000, "", true,                          \
      "how long an archived part of the ledger is kept")                                          \
    X(B, artifacts_quota, "artifacts.quota", "1G", 0, 1ll << 50, "", true,                        \
      "artifacts of one tenant, all together; 0: no bound")                                       \
    X(D, cache_ttl, "cache.ttl", "5m", 0, 86400000, "", true,                                     \
      "how long an answer is good for the same request; 0: no cache")                             \
    X(B, cache_memory, "cache.memory", "64M", 0, 1ll << 40, "", true,                             \
      "answers that are kept in memory, besides the store")                                       \
    X(F, privacy_enabled, "privacy.enabled", "true", 0, 0, "", true,                              \
      "programs see tokens instead of personal data and secrets; tools get the values back")      \
    X(C, privacy_level, "privacy.level", "medium", 0, "low medium high", "", true,                \
      "how much is looked for; the policy file may say more about each tool")                     \
    X(C, privacy_tokens, "privacy.tokens", "bracket", 0, "bracket underscore hash", "", true,     \
      "how tokens look: [EMAIL_1], EMAIL_TOKEN_001, EMAIL_3f9a0c71e2b4d855")                      \
    X(T, privacy_key_command, "privacy.key_command", "", 0, 0, "", false,                         \
      "a command that prints the key under which values of sessions are kept; none: a file")      \
    X(T, otlp_endpoint, "otlp.endpoint", "", 0, 0, "", false,                                     \
      "collector of OpenTelemetry traces, like http://127.0.0.1:4318")                            \
    X(L, alerts_on, "alerts.on",                                                                  \
      "timeout, memory_kill, error_rate, sensitive_output, denied_call", 0, 0, "", true,          \
      "what alerts somebody")                                                                     \
    X(N, alerts_error_rate, "alerts.error_rate", "50", 1, 100, "", true,                          \
      "percent of executions that fail within alerts.window")                                     \
    X(D, alerts_window, "alerts.window", "5m", 1000, 86400000, "", true,                          \
      "time over which alerts are counted, and in which each is told once")                       \
    X(T, alerts_webhook, "alerts.webhook", "", 0, 0, "", true,                                    \
      "URL that alerts are posted to, besides the log and the ledger")                            \
    X(C, log_level, "log.level", "info", 0, "error warn info debug", "LOG_LEVEL", true,           \
      "what is written to stderr")                                                                \
    X(F, log_debug, "log.debug", "false", 0, 0, "DEBUG", true,                                    \
      "the same as log.level debug, whatever that says")                                          \
    X(T, search_model, "search.model", "", 0, 0, "EMBEDDING_MODEL", false,                        \
      "directory of a static embedding model for the search of tools")                            \
    X(T, skills_directory, "skills.directory", "", 0, 0, "SKILLS_DIRECTORY", false,               \
      "directory of skills (nothing uses it yet)")                                                \
    X(T, redis_url, "redis.url", "", 0, 0, "REDIS_URL", false,                                    \
      "Redis for shared caches and rates (nothing uses it yet)")

enum cs_setting_id {
#define X(kind, field, name, def, least, most, older, live, help) CS_SETTING_ID_##field,
    CS_SETTINGS(X)
#undef X
        CS_SETTING_COUNT
};

struct cs_settings {
    struct cs_arena arena;
    const char *warnings;                 /* lines; "" if there are none */
    const char *origin[CS_SETTING_COUNT]; /* "default", "caisson.json:3:15", "$CAISSON_PORT",
                                             "--server.port" */
#define CS_SETTING_T(field)                                       const char *field; /* never NULL */
#define CS_SETTING_L(field)                                       const char **field; /* never NULL; NULL at the end */
#define CS_SETTING_N(field)                                       uint64_t field;
#define CS_SETTING_B(field)                                       uint64_t field;
#define CS_SETTING_D(field)                                       uint64_t field; /* milliseconds */
#define CS_SETTING_F(field)                                       bool field;
#define CS_SETTING_C(field)                                       const char *field;
#define X(kind, field, name, def, least, most, older, live, help) CS_SETTING_##kind(field)
    CS_SETTINGS(X)
#undef X
};

struct cs_setting_flag {
    const char *name, *value; /* "server.port", "8003"; name NULL ends a list */
};

/* `path`: the configuration, which need not exist. `flags`: from the command line, or NULL. All
 * mistakes are told at once, a line each, as far as they fit into `err`; then `caisson config
 * check` is named, which tells them all. On failure there is nothing to be done with `settings`. */
int cs_settings_load(const char *path, const struct cs_setting_flag *flags,
                     struct cs_settings *settings, struct cs_err *err);
void cs_settings_done(struct cs_settings *settings);

/* The same, with all mistakes (CS_INVALID), a line each, in `mistakes`. `only_file`: environment
 * and flags count for nothing. */
int cs_settings_read(const char *path, const struct cs_setting_flag *flags, bool only_file,
                     struct cs_settings *settings, struct cs_buf *mistakes, struct cs_err *err);

/* `policy` of the configuration as plain JSON (an object, or the text of a path) is appended;
 * nothing if there is none, or no such file, or it is another program's. */
int cs_settings_policy(const char *path, struct cs_buf *json, struct cs_err *err);

/* What a reload would do: lines "server.port: 8002 -> 8003 (takes effect after a restart)". Nothing
 * secret is in them. */
void cs_settings_compare(const struct cs_settings *old, const struct cs_settings *now,
                         struct cs_buf *said);
/* Takes over what may change while it runs, warnings too; the rest keeps its value. Texts and lists
 * that were there before stay valid until cs_settings_done. */
void cs_settings_adopt(struct cs_settings *into, const struct cs_settings *now);

/*
 * Flags of a verb: every setting is an option with its name (--server.port 8003), and --host and
 * --port are short for two of them. CS_SETTING_OPTIONS are the rows for the verb's table
 * (front/verbs.h); a row {"", CS_BIND_SETTINGS, &flags} among the binds of cs_args_bind gathers
 * what is given, for a verb that walks its arguments itself cs_settings_flag does. The list is
 * NULL, or ends with a row without a name; cs_setting_flags_done frees it. Values are checked by
 * cs_settings_load, with everything else.
 */
struct cs_setting_flags {
    struct cs_setting_flag *list;
    size_t count;
};
/* False: no setting is called that. Name and value are kept as pointers. */
bool cs_settings_flag(const char *name, const char *value, struct cs_setting_flags *flags);
void cs_setting_flags_done(struct cs_setting_flags *flags);
#define CS_AUTO_SETTING_FLAGS CS_AUTO(cs_setting_flags_done)

#define CS_SETTING_ARG_T "TEXT"
#define CS_SETTING_ARG_L "LIST"
#define CS_SETTING_ARG_N "N"
#define CS_SETTING_ARG_B "BYTES"
#define CS_SETTING_ARG_D "TIME"
#define CS_SETTING_ARG_F "YES|NO"
#define CS_SETTING_ARG_C "WORD"
#define CS_SETTING_OPTION(kind, field, name, def, least, most, older, live, help) \
    {name, 0, CS_SETTING_ARG_##kind, help, NULL, false},
#define CS_SETTING_HIDDEN_OPTION(kind, field, name, def, least, most, older, live, help) \
    {name, 0, CS_SETTING_ARG_##kind, help, NULL, true},
#define CS_SETTING_OPTIONS                                       \
    {"host", 0, "TEXT", "short for --server.host", NULL, false}, \
        {"port", 'p', "N", "short for --server.port", NULL, false}, CS_SETTINGS(CS_SETTING_OPTION)
#define CS_SETTING_HIDDEN_OPTIONS                                \
    {"host", 0, "TEXT", "short for --server.host", NULL, true},  \
        {"port", 0, "N", "short for --server.port", NULL, true}, \
        CS_SETTINGS(CS_SETTING_HIDDEN_OPTION)

#endif
