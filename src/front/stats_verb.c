/* `caisson stats`: figures of what ran, from the store; nothing else has to be running. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "front/data.h"
#include "front/text.h"
#include "front/verbs.h"
#include "store/store.h"
#include "watch/watch.h"

#define TOOLS_SHOWN 10

struct stats {
    const struct cs_verb *verb;
    const char *window, *tenant;
    bool json;
    int64_t window_ms;
    uv_loop_t loop;
    struct cs_store *store;
    struct cs_watch *watch;
    int exit_status;
};

/* --- for people --- */

static double number(struct cs_json_val v)
{
    double n = 0;
    cs_json_f64(v, &n);
    return n;
}

static void print_name(const char *name)
{
    printf("%-16s", name);
}

static void print_count(const char *name, struct cs_json_val v)
{
    print_name(name);
    printf("%.0f\n", number(v));
}

static void print_share(const char *name, struct cs_json_val v)
{
    print_name(name);
    if (cs_json_type(v) == CS_JSON_NUMBER)
        printf("%.1f %%\n", 100 * number(v));
    else
        puts("-");
}

static void print_bytes(double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (bytes >= 10000 && unit + 1 < CS_COUNT(units)) {
        bytes /= 1024;
        unit++;
    }
    printf("%.0f %s", bytes, units[unit]);
}

/* "completed 12, failed 3", without those that are none. */
static void print_members(const char *name, struct cs_json_val object, const char *but)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    const char *comma = "";
    print_name(name);
    while (cs_json_next(object, &it, &key, &item)) {
        if (cs_json_is(key, but) || number(item) == 0)
            continue;
        printf("%s", comma);
        cs_text_safe(stdout, cs_json_str(key, &arena));
        printf(" %.0f", number(item));
        comma = ", ";
    }
    puts(*comma ? "" : "-");
}

static void print_times(struct cs_json_val times)
{
    static const char *const names[] = {"average", "p50", "p95", "p99", "most"};
    print_name("time");
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        struct cs_json_val v = cs_json_get(times, names[i]);
        if (cs_json_type(v) != CS_JSON_NUMBER) {
            puts("-");
            return;
        }
        printf("%s%s %.1f ms", i ? ", " : "", names[i], number(v));
    }
    putchar('\n');
}

static void print_tools(struct cs_json_val tools)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val tool;
    for (int i = 0; i < TOOLS_SHOWN && cs_json_next(tools, &it, NULL, &tool); i++) {
        print_name(i ? "" : "tools");
        printf("%8.0f  ", number(cs_json_get(tool, "calls")));
        cs_text_safe(stdout, cs_json_str(cs_json_get(tool, "tool"), &arena));
        putchar('\n');
    }
}

static void print_figures(struct cs_json_val v)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str since = cs_json_str(cs_json_get(v, "since"), &arena);
    struct cs_json_val executions = cs_json_get(v, "executions"),
                       memory = cs_json_get(v, "memory_bytes"),
                       calls = cs_json_get(v, "tool_calls"), cache = cs_json_get(v, "cache");
    print_name("since");
    printf("%.*s\n", CS_STR_ARG(since.len ? since : CS_STR("-")));
    print_count("executions", cs_json_get(executions, "total"));
    print_members("  ended", executions, "total");
    print_share("  success", cs_json_get(v, "success_rate"));
    print_members("  errors", cs_json_get(v, "errors"), "");
    print_times(cs_json_get(v, "time_ms"));
    print_name("memory");
    printf("average ");
    print_bytes(number(cs_json_get(memory, "average")));
    printf(", peak ");
    print_bytes(number(cs_json_get(memory, "peak")));
    putchar('\n');
    print_name("processor");
    printf("%.1f s\n", number(cs_json_get(v, "cpu_seconds")));
    print_name("calls");
    printf("%.0f, failed %.0f, of them denied %.0f\n", number(cs_json_get(calls, "total")),
           number(cs_json_get(calls, "failed")), number(cs_json_get(calls, "denied")));
    print_tools(cs_json_get(v, "tools"));
    print_count("from cache", cs_json_get(cache, "hits"));
    print_share("  hit rate", cs_json_get(cache, "hit_rate"));
    print_count("tokens saved", cs_json_get(v, "tokens_saved"));
    print_members("masked", cs_json_get(v, "masked"), "");
}

/* --- the verb --- */

static void on_watch_closed(void *ctx)
{
    struct stats *s = ctx;
    cs_store_close(s->store, NULL, NULL);
}

static void on_figures(void *ctx, const struct cs_err *err, struct cs_str json)
{
    struct stats *s = ctx;
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err wrong = *err;
    if (wrong.code != CS_OK || cs_json_parse(json, NULL, &doc, &wrong) < 0)
        s->exit_status = cs_verb_failed(s->verb, &wrong);
    else if (s->json)
        printf("%.*s\n", CS_STR_ARG(json));
    else
        print_figures(cs_json_root(&doc));
    cs_watch_close(s->watch, on_watch_closed, s);
}

static int take(struct stats *s, int argc, char **argv, struct cs_err *err)
{
    const struct cs_bind binds[] = {{"window", CS_BIND_TEXT, &s->window},
                                    {"tenant", CS_BIND_TEXT, &s->tenant},
                                    {"output", CS_BIND_JSON, &s->json},
                                    {NULL, 0, NULL}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    if (cs_args_bind(s->verb, argc, argv, binds, &operands, err) < 0)
        return -1;
    if (operands.count)
        return cs_fail(err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
    if (!cs_watch_window(cs_str(s->window), &s->window_ms))
        return cs_fail(err, CS_INVALID, "--window: '%s' is none of " CS_WATCH_WINDOWS, s->window);
    if (s->tenant && !cs_key_name_ok(cs_str(s->tenant)))
        return cs_fail(err, CS_INVALID, "--tenant: '%s' is no name of a tenant", s->tenant);
    return 0;
}

int cs_verb_stats(const struct cs_verb *verb, int argc, char **argv)
{
    struct stats s = {.verb = verb, .window = "24h"};
    struct cs_err err = {0};
    char dir[CS_DATA_PATH];
    if (take(&s, argc, argv, &err) < 0)
        return cs_usage_error(verb, &err);
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(verb, &err);
    uv_loop_init(&s.loop);
    if (cs_store_open(&s.loop, dir, &s.store, &err) < 0) {
        s.exit_status = cs_verb_failed(verb, &err);
    } else {
        struct cs_watch_options options = {.store = s.store};
        if (cs_watch_new(&s.loop, &options, &s.watch, &err) == 0) {
            cs_watch_figures(s.watch, cs_str(s.tenant), s.window_ms, on_figures, &s);
        } else {
            s.exit_status = cs_verb_failed(verb, &err);
            cs_store_close(s.store, NULL, NULL);
        }
    }
    uv_run(&s.loop, UV_RUN_DEFAULT);
    uv_loop_close(&s.loop);
    return s.exit_status;
}
