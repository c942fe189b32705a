#include "front/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSION_FILES 1000
#define ALERTS_MOST   16

static void on_store_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->store = NULL;
    cs_ledger_close(w->ledger);
    w->ledger = NULL;
    cs_privacy_unref(w->privacy);
    w->privacy = NULL;
    explicit_bzero(&w->vault_key, sizeof w->vault_key);
    cs_policy_unref(w->policy);
    w->policy = NULL;
    if (w->closed)
        w->closed(w->ctx);
}

static void on_sessions_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->sessions = NULL;
    if (w->store)
        cs_store_close(w->store, on_store_closed, w);
    else
        on_store_closed(w);
}

static void on_tools_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->tools = NULL;
    if (w->sessions)
        cs_sessions_close(w->sessions, on_sessions_closed, w);
    else
        on_sessions_closed(w);
}

static void on_runner_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->runner = NULL;
    if (w->tools)
        cs_tools_close(w->tools, on_tools_closed, w);
    else
        on_tools_closed(w);
}

static void on_watch_closed(void *ctx)
{
    struct cs_world *w = ctx;
    w->watch = NULL;
    if (w->runner)
        cs_runner_close(w->runner, on_runner_closed, w);
    else
        on_runner_closed(w);
}

void cs_world_close(struct cs_world *w, void (*closed)(void *ctx), void *ctx)
{
    w->closed = closed;
    w->ctx = ctx;
    if (w->watch)
        cs_watch_close(w->watch, on_watch_closed, w);
    else
        on_watch_closed(w);
}

static struct cs_session_limits session_limits(const struct cs_settings *s)
{
    return (struct cs_session_limits){
        .state_bytes = s->session_state,
        .file_bytes = s->session_files,
        .files = SESSION_FILES,
        .per_tenant = s->session_most,
        .idle_ms = (int64_t)s->session_idle,
    };
}

static struct cs_alert_rules alert_rules(const struct cs_settings *s)
{
    return (struct cs_alert_rules){
        .on = s->alerts_on,
        .error_rate = (uint32_t)s->alerts_error_rate,
        .window_ms = (int64_t)s->alerts_window,
        .webhook = *s->alerts_webhook ? s->alerts_webhook : NULL,
    };
}

/* A token is at least a byte: whatever is too large for an answer has a handle. */
static uint64_t artifact_bytes(const struct cs_settings *s)
{
    return s->output_tokens;
}

/* 0: there is none. */
static uint64_t cache_bytes(const struct cs_settings *s)
{
    return s->cache_ttl ? s->cache_memory : 0;
}

/* --- privacy --- */

static enum cs_token_style style_of(const struct cs_settings *s)
{
    if (strcmp(s->privacy_tokens, "underscore") == 0)
        return CS_TOKEN_UNDERSCORE;
    return strcmp(s->privacy_tokens, "hash") == 0 ? CS_TOKEN_HASH : CS_TOKEN_BRACKET;
}

int cs_world_privacy(const struct cs_policy *policy, const char *path, const struct cs_settings *s,
                     bool off, struct cs_privacy **privacy, struct cs_err *err)
{
    char dir[CS_DATA_PATH];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    struct cs_privacy_options options = {
        .off = off || (s && !s->privacy_enabled),
        .level = CS_PRIVACY_MEDIUM,
        .style = s ? style_of(s) : CS_TOKEN_BRACKET,
        .section = cs_policy_privacy(policy),
        .dir = dir,
    };
    if (s)
        cs_privacy_level_parse(cs_str(s->privacy_level), &options.level);
    if (cs_privacy_new(&options, privacy, err) < 0)
        return *path ? cs_wrap(err, "policy %s", path) : -1;
    return 0;
}

/* Nobody whom we start gets to see it. */
static void forget_key_variable(void)
{
    char *value = getenv("CAISSON_PRIVACY_KEY");
    if (value)
        explicit_bzero(value, strlen(value));
    unsetenv("CAISSON_PRIVACY_KEY");
}

static int load_key(const struct cs_settings *s, struct cs_world *w, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf printed = {0};
    const char *given = getenv("CAISSON_PRIVACY_KEY");
    bool asks = *s->privacy_key_command && !(given && *given);
    if (asks && cs_tools_command(s->privacy_key_command, &printed, err) < 0)
        return cs_wrap(err, "privacy.key_command");
    int status =
        cs_vault_key_load(w->data, asks ? cs_buf_cstr(&printed) : NULL, &w->vault_key, err);
    if (printed.len)
        explicit_bzero(printed.at, printed.len);
    return status < 0 ? cs_wrap(err, "the key of the vaults") : 0;
}

static int open_privacy(const struct cs_world_options *o, struct cs_world *w, struct cs_err *err)
{
    const struct cs_settings *s = o->settings;
    if (!o->sandbox || !s)
        return 0;
    w->no_privacy = o->no_privacy;
    if (cs_world_privacy(w->policy, w->policy_place.path, s, o->no_privacy, &w->privacy, err) < 0)
        return -1;
    /* Even if it is off: sessions from before may be used again, and it may be switched on. */
    int status = o->no_record ? 0 : load_key(s, w, err);
    forget_key_variable();
    return status;
}

int cs_world_reload_policy(struct cs_world *w, const struct cs_settings *s, struct cs_err *err)
{
    struct cs_policy_place place;
    struct cs_policy *policy = NULL;
    struct cs_privacy *privacy = NULL;
    if (cs_policy_place_find(w->policy_given, w->config, &place, err) < 0)
        return -1;
    if (!place.path[0] && w->policy_place.path[0])
        return cs_fail(err, CS_MISSING,
                       "%s: it was there and is not any more; write {} there if the defaults are "
                       "meant",
                       w->policy_place.path);
    if (cs_policy_place_load(&place, &policy, err) < 0)
        return -1;
    if (cs_world_privacy(policy, place.path, s, w->no_privacy, &privacy, err) < 0) {
        cs_policy_unref(policy);
        return -1;
    }
    cs_runner_set_policy(w->runner, policy);
    cs_policy_unref(w->policy);
    w->policy = policy;
    w->policy_place = place;
    cs_runner_set_privacy(w->runner, privacy);
    cs_privacy_unref(w->privacy);
    w->privacy = privacy;
    return 0;
}

void cs_world_reload(struct cs_world *w, const struct cs_settings *s)
{
    struct cs_session_limits limits = session_limits(s);
    if (w->sessions)
        cs_sessions_set(w->sessions, &limits);
    if (w->runner)
        cs_runner_set(w->runner, artifact_bytes(s), s->artifacts_quota);
    if (w->runner)
        cs_runner_set_cache(w->runner, cache_bytes(s), (int64_t)s->cache_ttl);
    struct cs_alert_rules rules = alert_rules(s);
    if (w->watch)
        cs_watch_set(w->watch, &rules);
}

/* The key of the ledger is there before anything is written. */
static int open_store(uv_loop_t *loop, const struct cs_settings *s, bool no_record,
                      struct cs_world *w, struct cs_err *err)
{
    if (!s || no_record)
        return 0;
    struct cs_session_limits limits = session_limits(s);
    if (cs_ledger_open(w->data, &w->ledger, err) < 0 ||
        cs_store_open(loop, w->data, &w->store, err) < 0)
        return -1;
    if (s->record_enabled)
        cs_store_set_chain(w->store, cs_ledger_chain(w->ledger));
    return cs_sessions_new(loop, w->store, w->data, &limits, &w->sessions, err);
}

static uint32_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (uint32_t)n;
}

uint32_t cs_world_workers(const struct cs_settings *s)
{
    return s->execution_workers ? (uint32_t)s->execution_workers : 2 * processors() + 2;
}

/* Most executions wait for tools most of the time, so there may be more of them than processors. */
uint32_t cs_world_concurrency(const struct cs_settings *s)
{
    uint32_t by_processors = 8 * processors();
    if (s->execution_concurrency)
        return (uint32_t)s->execution_concurrency;
    return by_processors < 16 ? 16 : by_processors;
}

/* A configuration that was asked for must be there; the usual places may be empty. */
static int open_tools(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                      struct cs_err *err)
{
    const char *variable = getenv("CAISSON_CONFIG");
    bool asked = o->config || (variable && *variable);
    if (o->no_tools)
        return 0;
    if (access(w->config, F_OK) < 0 && !o->watch)
        return asked ? cs_fail(err, CS_MISSING, "there is no configuration '%s'", w->config) : 0;
    struct cs_tools_options options = {
        .config_path = w->config,
        .data_dir = w->data,
        .model_dir = o->model ? o->model : getenv("CAISSON_MODEL"),
        .watch = o->watch,
        .eager = o->eager,
        .store = w->store,
    };
    return cs_tools_new(loop, &options, &w->tools, err);
}

static int open_runner(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                       struct cs_err *err)
{
    if (!o->sandbox)
        return 0;
    struct cs_runner_options options = {
        .sandbox = o->sandbox,
        .tools = w->tools,
        .policy = w->policy,
        .asks = o->asks,
        .store = w->store,
        .sessions = w->sessions,
        .privacy = w->privacy,
        .data_dir = w->data,
    };
    if (o->settings && !o->no_record) {
        options.vault_key = &w->vault_key;
        if (!o->settings->record_enabled)
            options.store = NULL;
        options.journal_bytes = o->settings->record_journal;
        options.most_running = cs_world_concurrency(o->settings);
        options.most_waiting = (uint32_t)o->settings->execution_queue;
        options.artifact_bytes = artifact_bytes(o->settings);
        options.artifact_quota = o->settings->artifacts_quota;
        options.cache_bytes = cache_bytes(o->settings);
        options.cache_ms = (int64_t)o->settings->cache_ttl;
    }
    return cs_runner_new(loop, &options, &w->runner, err);
}

/* Whoever runs one program sees the tokens in its output, and needs no alert on top. */
static void leave_out_outputs(const char *const *on, const char *kept[ALERTS_MOST + 1])
{
    size_t n = 0;
    for (; *on && n < ALERTS_MOST; on++)
        if (strcmp(*on, "sensitive_output") != 0)
            kept[n++] = *on;
    kept[n] = NULL;
}

static int open_watch(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                      struct cs_err *err)
{
    const struct cs_settings *s = o->settings;
    const char *kept[ALERTS_MOST + 1];
    if (!w->runner || !w->store)
        return 0;
    struct cs_watch_options options = {
        .runner = w->runner,
        .store = w->store,
        .otlp = *s->otlp_endpoint ? s->otlp_endpoint : NULL,
        .alerts = alert_rules(s),
    };
    if (!o->watch) {
        leave_out_outputs(options.alerts.on, kept);
        options.alerts.on = kept;
    }
    return cs_watch_new(loop, &options, &w->watch, err);
}

int cs_world_open(uv_loop_t *loop, const struct cs_world_options *o, struct cs_world *w,
                  struct cs_err *err)
{
    *w = (struct cs_world){.policy_given = o->policy};
    if (cs_data_dir(w->data, err) < 0 || cs_data_config(o->config, w->config, err) < 0 ||
        cs_policy_place_find(o->policy, w->config, &w->policy_place, err) < 0 ||
        cs_policy_place_load(&w->policy_place, &w->policy, err) < 0 ||
        open_privacy(o, w, err) < 0 || open_store(loop, o->settings, o->no_record, w, err) < 0 ||
        open_tools(loop, o, w, err) < 0 || open_runner(loop, o, w, err) < 0 ||
        open_watch(loop, o, w, err) < 0)
        goto failed;
    return 0;
failed:
    /* What was opened needs the loop to close; nothing has been started yet. */
    cs_world_close(w, NULL, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    return -1;
}
