#include "front/serve.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "front/data.h"
#include "front/events.h"

#define TICK_MS      10
#define LAST_WORD_MS 2000 /* for what was cancelled to be recorded */
#define HURRY_MS     1000 /* the same, after the second signal */
#define SWEEP_MS     (60u * 60 * 1000)

static void set_level(const struct cs_daemon *d)
{
    cs_log_set(d->settings.log_debug ? CS_LOG_DEBUG : cs_log_parse(d->settings.log_level));
}

static void say_lines(enum cs_log_level level, struct cs_str text)
{
    while (text.len) {
        const char *newline = memchr(text.at, '\n', text.len);
        size_t n = newline ? (size_t)(newline - text.at) : text.len;
        if (n)
            cs_log_line(level, "settings", "%.*s", (int)n, text.at);
        text = cs_strn(text.at + n + (newline != NULL), text.len - n - (newline != NULL));
    }
}

/* --- words --- */

/* Before anything is read: what changes or appears meanwhile is read anew afterwards. A policy of
 * its own is watched; one in the configuration is watched with it. Otherwise the place is watched
 * where one would appear. */
static void watch_files(struct cs_daemon *d, const char *config)
{
    struct cs_policy_place place;
    char usual[CS_DATA_PATH] = "";
    cs_file_watch_set(&d->watch, config);
    if (cs_policy_place_find(d->policy, config, &place, NULL) < 0)
        return;
    if (!place.path[0] || place.inside)
        cs_policy_place_usual(d->policy, config, usual);
    cs_file_watch_set(&d->watch_policy, *usual ? usual : place.inside ? "" : place.path);
}

int cs_daemon_args(const struct cs_verb *verb, int argc, char **argv, struct cs_daemon *d,
                   struct cs_err *err)
{
    const char *isolation = NULL, *weak = NULL;
    const struct cs_bind binds[] = {{"config", CS_BIND_TEXT, &d->config},
                                    {"policy", CS_BIND_TEXT, &d->policy},
                                    {"isolation", CS_BIND_TEXT, &isolation},
                                    {"strict", CS_BIND_FLAG, &d->sandbox.no_jit},
                                    {"allow-weak-isolation", CS_BIND_TEXT, &weak},
                                    {"no-cgroups", CS_BIND_FLAG, &d->sandbox.no_cgroups},
                                    {"conformance-fixtures", CS_BIND_FLAG, &d->fixtures},
                                    {"no-pii-protection", CS_BIND_FLAG, &d->no_privacy},
                                    {"", CS_BIND_SETTINGS, &d->flags},
                                    {NULL, CS_BIND_TEXT, NULL}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    char path[CS_DATA_PATH];
    d->verb = verb;
    if (cs_args_bind(verb, argc, argv, binds, &operands, err) < 0)
        return -1;
    if (operands.count)
        return cs_fail(err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
    d->sandbox.full_isolation = isolation && isolation[0] == 'f';
    if ((weak && cs_walls_parse(weak, &d->sandbox.allow_weak, err) < 0) ||
        cs_data_config(d->config, path, err) < 0)
        return -1;
    watch_files(d, path);
    if (cs_settings_load(path, d->flags.list, &d->settings, err) < 0)
        return -1;
    set_level(d);
    say_lines(CS_LOG_WARN, cs_str(d->settings.warnings));
    return 0;
}

/* --- reload --- */

static void warn_unprotected(const struct cs_daemon *d)
{
    if (cs_privacy_off(d->world.privacy))
        cs_log_line(CS_LOG_WARN, "privacy", "%s: models see personal data and secrets as they are",
                    d->no_privacy ? "--no-pii-protection" : "privacy.enabled is false");
}

/* What nobody would notice before it is needed. */
static void warn_unsigned(const struct cs_daemon *d)
{
    struct cs_approval_rules rules = cs_policy_approvals(d->world.policy);
    if (rules.webhook.len && !rules.secret.len)
        cs_log_line(CS_LOG_WARN, "policy",
                    "approvals.webhook: there is no approvals.secret to sign with, so nothing is "
                    "sent there");
}

/* A mistake that stays there is told once, and again to those who ask for it. */
static void refuse_policy(struct cs_daemon *d, bool asked, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!asked && strcmp(d->policy_refused, err->msg) == 0)
        return;
    snprintf(d->policy_refused, sizeof d->policy_refused, "%s", err->msg);
    cs_log_line(CS_LOG_ERROR, "policy", "not reloaded, the old rules stay: %s", err->msg);
    cs_json_open(&w, '{');
    cs_json_key(&w, "error");
    cs_json_put_z(&w, err->msg);
    cs_json_close(&w, '}');
    cs_event_note(d->world.store, "policy.refused", NULL, cs_buf_str(&data), NULL, NULL);
}

static void reload_policy(struct cs_daemon *d, bool asked)
{
    unsigned char rules[32], privacy[32];
    struct cs_err err = {0};
    memcpy(privacy, cs_privacy_hash(d->world.privacy), sizeof privacy);
    memcpy(rules, cs_policy_hash(d->world.policy), sizeof rules);
    watch_files(d, d->world.config);
    if (cs_world_reload_policy(&d->world, &d->settings, &err) < 0) {
        refuse_policy(d, asked, &err);
        return;
    }
    bool mended = d->policy_refused[0];
    d->policy_refused[0] = '\0';
    if (memcmp(privacy, cs_privacy_hash(d->world.privacy), sizeof privacy) != 0) {
        cs_log_line(CS_LOG_INFO, "privacy", "new rules count from now on");
        warn_unprotected(d);
    }
    if (memcmp(rules, cs_policy_hash(d->world.policy), sizeof rules) == 0) {
        if (mended)
            cs_log_line(CS_LOG_INFO, "policy", "the one that counts is the newest again: %s",
                        d->world.policy_place.path[0] ? d->world.policy_place.path
                                                      : "the defaults");
        return;
    }
    cs_log_line(CS_LOG_INFO, "policy", "a new one counts from now on: %s",
                d->world.policy_place.path);
    warn_unsigned(d);
    cs_event_policy(d->world.store, "policy.changed", &d->world.policy_place, d->world.policy,
                    rules);
}

static void reload(struct cs_daemon *d, bool asked)
{
    struct cs_settings now = {0};
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    if (d->stops)
        return;
    if (cs_settings_load(d->world.config, d->flags.list, &now, &err) < 0) {
        cs_log_line(CS_LOG_ERROR, "settings", "not reloaded, the old ones stay: %s", err.msg);
        return;
    }
    cs_event_file(d->world.store, "config.loaded", d->world.config);
    cs_settings_compare(&d->settings, &now, &said);
    say_lines(CS_LOG_INFO, cs_buf_str(&said));
    cs_settings_adopt(&d->settings, &now);
    cs_settings_done(&now);
    set_level(d);
    cs_world_reload(&d->world, &d->settings);
    reload_policy(d, asked);
    cs_mcp_set(d->mcp, d->settings.output_tokens, (uint32_t)d->settings.execution_timeout);
    if (d->reloaded)
        d->reloaded(d);
}

static void on_file_changed(void *ctx)
{
    struct cs_daemon *d = ctx;
    if (access(d->world.config, F_OK) == 0)
        reload(d, false);
    else if (d->world.policy_place.inside && !d->stops)
        reload_policy(d, false); /* it is gone, too, and says so; the settings stay */
}

static void on_policy_changed(void *ctx)
{
    struct cs_daemon *d = ctx;
    if (!d->stops)
        reload_policy(d, false);
}

/* --- what is old is forgotten --- */

static void on_retained(void *ctx)
{
    struct cs_daemon *d = ctx;
    d->retention = NULL;
    if (d->shut_after)
        cs_daemon_shut(d);
}

static void on_sweep(uv_timer_t *t)
{
    struct cs_daemon *d = t->data;
    if (!d->retention)
        d->retention = cs_retention_start(d->loop, &d->world, &d->settings, on_retained, d);
}

/* --- the end --- */

static void close_handle(uv_handle_t *h)
{
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void on_world_closed(void *ctx)
{
    struct cs_daemon *d = ctx;
    d->closed = true;
    for (size_t i = 0; i < CS_COUNT(d->signals); i++)
        close_handle((uv_handle_t *)&d->signals[i]);
    close_handle((uv_handle_t *)&d->timer);
    cs_file_watch_close(&d->watch);
    cs_file_watch_close(&d->watch_policy);
    close_handle((uv_handle_t *)&d->sweep);
}

static void note_daemon(struct cs_daemon *d, const char *event)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    cs_buf_printf(&data, "{\"pid\":%d,\"verb\":\"%s\",\"version\":\"" CS_VERSION "\"}",
                  (int)getpid(), d->verb->name);
    cs_event_note(d->world.store, event, NULL, cs_buf_str(&data), NULL, NULL);
}

void cs_daemon_shut(struct cs_daemon *d)
{
    uv_timer_stop(&d->sweep);
    d->shut_after = d->retention != NULL;
    if (d->retention) {
        cs_retention_stop(d->retention);
        return;
    }
    if (d->world.store)
        note_daemon(d, "daemon.stopped");
    cs_world_close(&d->world, on_world_closed, d);
}

static void shut(struct cs_daemon *d)
{
    d->shutting = true;
    uv_timer_stop(&d->timer);
    if (d->mcp)
        cs_mcp_close(d->mcp);
    d->mcp = NULL;
    if (d->shut)
        d->shut(d);
    else
        cs_daemon_shut(d);
}

static uint32_t under_way(const struct cs_daemon *d)
{
    struct cs_figures f = {0};
    cs_runner_figures(d->world.runner, &f);
    return f.running + f.waiting;
}

/* Executions end by themselves, or are cancelled when their time is over; then the doors close. */
static void on_tick(uv_timer_t *t)
{
    struct cs_daemon *d = t->data;
    uint32_t left = under_way(d);
    bool late = uv_now(d->loop) >= d->deadline;
    if (left == 0 || (late && d->cancelled)) {
        shut(d);
    } else if (late) {
        cs_log_line(CS_LOG_INFO, d->verb->name, "cancelling %u executions", left);
        d->cancelled = true;
        d->deadline = uv_now(d->loop) + LAST_WORD_MS;
        cs_runner_cancel_all(d->world.runner);
    }
}

static void hurry(struct cs_daemon *d)
{
    if (d->shutting)
        _exit(d->exit_status); /* asked a third time */
    d->cancelled = true;
    d->deadline = uv_now(d->loop) + HURRY_MS;
    cs_runner_cancel_all(d->world.runner);
}

void cs_daemon_stop(struct cs_daemon *d)
{
    if (d->closed)
        return;
    if (d->stops++ > 0) {
        hurry(d);
        return;
    }
    if (d->drain)
        d->drain(d);
    cs_runner_leave_asking(d->world.runner);
    uint32_t left = under_way(d);
    if (left)
        cs_log_line(CS_LOG_INFO, d->verb->name,
                    "stopping: %u executions have %u s to end; a second signal ends them now", left,
                    (unsigned)(d->settings.server_grace / 1000));
    d->deadline = uv_now(d->loop) + d->settings.server_grace;
    uv_timer_start(&d->timer, on_tick, 0, TICK_MS);
}

static void on_signal(uv_signal_t *h, int number)
{
    struct cs_daemon *d = h->data;
    if (number == SIGHUP)
        reload(d, true);
    else
        cs_daemon_stop(d);
}

/* --- the beginning --- */

static void watch(struct cs_daemon *d)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < CS_COUNT(numbers); i++) {
        uv_signal_init(d->loop, &d->signals[i]);
        d->signals[i].data = d;
        uv_signal_start(&d->signals[i], on_signal, numbers[i]);
    }
    uv_timer_init(d->loop, &d->timer);
    d->timer.data = d;
    uv_timer_init(d->loop, &d->sweep);
    d->sweep.data = d;
    uv_timer_start(&d->sweep, on_sweep, 0, SWEEP_MS);
    cs_file_watch_start(&d->watch, d->loop, on_file_changed, d);
    cs_file_watch_start(&d->watch_policy, d->loop, on_policy_changed, d);
}

int cs_daemon_open(struct cs_daemon *d, struct cs_err *err)
{
    signal(SIGPIPE, SIG_IGN);
    d->loop = uv_default_loop();
    if (cs_data_scratch(d->scratch, err) < 0)
        return -1;
    d->sandbox.scratch_dir = d->scratch;
    d->sandbox.pool = cs_world_workers(&d->settings);
    struct cs_world_options world = {
        .config = d->config,
        .policy = d->policy,
        .model = *d->settings.search_model ? d->settings.search_model : NULL,
        .watch = true,
        .eager = true,
        .sandbox = &d->sandbox,
        .asks = 1u << CS_ASK_FORM | 1u << CS_ASK_URL | 1u << CS_ASK_SAMPLE,
        .settings = &d->settings,
        .no_privacy = d->no_privacy,
    };
    if (cs_world_open(d->loop, &world, &d->world, err) < 0)
        return -1;
    warn_unprotected(d);
    warn_unsigned(d);
    note_daemon(d, "daemon.started");
    cs_event_file(d->world.store, "config.loaded", d->world.config);
    if (d->world.policy_place.path[0])
        cs_event_policy(d->world.store, "policy.loaded", &d->world.policy_place, d->world.policy,
                        NULL);
    struct cs_mcp_options mcp = {
        .runner = d->world.runner,
        .tools = d->world.tools,
        .store = d->world.store,
        .sessions = d->world.sessions,
        .answer_tokens = d->settings.output_tokens,
        .timeout_ms = (uint32_t)d->settings.execution_timeout,
        .fixtures = d->fixtures,
    };
    watch(d);
    if (cs_mcp_new(d->loop, &mcp, &d->mcp, err) == 0) {
        cs_runner_recall(d->world.runner);
        cs_runner_resume(d->world.runner);
        return 0;
    }
    cs_daemon_shut(d);
    uv_run(d->loop, UV_RUN_DEFAULT);
    return -1;
}

void cs_daemon_done(struct cs_daemon *d)
{
    cs_settings_done(&d->settings);
    cs_setting_flags_done(&d->flags);
}

int cs_daemon_run(struct cs_daemon *d)
{
    uv_run(d->loop, UV_RUN_DEFAULT);
    uv_loop_close(d->loop);
    cs_daemon_done(d);
    return d->exit_status;
}
