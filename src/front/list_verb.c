/* `caisson list`: the servers, and how each is doing. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/time.h"
#include "front/errand.h"
#include "front/table.h"
#include "front/text.h"

struct listing {
    const char *name; /* or NULL: all */
    bool json;
    struct cs_table table;
    struct cs_json_writer *writer;
    bool found;
};

static const char *style_of(const char *state)
{
    static const struct {
        const char *state, *style;
    } styles[] = {{"ready", "\033[32m"},
                  {"failed", "\033[31m"},
                  {"login", "\033[33m"},
                  {"waiting", "\033[33m"},
                  {"disabled", "\033[2m"}};
    for (size_t i = 0; i < CS_COUNT(styles); i++)
        if (strcmp(styles[i].state, state) == 0)
            return styles[i].style;
    return "";
}

static void add_row(void *ctx, const struct cs_server_state *s)
{
    struct listing *l = ctx;
    char tools[24] = "";
    if (s->tools || strcmp(s->state, "ready") == 0)
        snprintf(tools, sizeof tools, "%zu", s->tools);
    struct cs_str cells[] = {s->name, cs_str(s->state), s->version, cs_str(tools),
                             cs_errand_error(s)};
    cs_table_add(&l->table, cells, style_of(s->state));
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    if (text.len)
        cs_json_put_str(w, text);
    else
        cs_json_put_null(w);
}

static void put_server(struct cs_json_writer *w, const struct cs_server_state *s, bool all)
{
    cs_json_open(w, '{');
    cs_json_key(w, "name");
    cs_json_put_str(w, s->name);
    cs_json_key(w, "state");
    cs_json_put_z(w, s->state);
    put_text(w, "kind", s->kind);
    put_text(w, "target", s->target);
    put_text(w, "version", s->version);
    put_text(w, "protocol", s->protocol);
    cs_json_key(w, "tools");
    cs_json_put_u64(w, s->tools);
    put_text(w, "error", cs_errand_error(s));
    cs_json_key(w, "restarts");
    cs_json_put_u64(w, s->restarts);
    cs_json_key(w, "listed_at");
    if (s->listed_at)
        cs_json_put_i64(w, s->listed_at);
    else
        cs_json_put_null(w);
    if (all) {
        put_text(w, "stderr", s->stderr_tail);
        put_text(w, "log", s->log_tail);
    }
    cs_json_close(w, '}');
}

static void add_json(void *ctx, const struct cs_server_state *s)
{
    struct listing *l = ctx;
    if (l->name && !cs_str_is(s->name, l->name))
        return;
    l->found = true;
    put_server(l->writer, s, l->name != NULL);
}

static void print_line(const char *name, struct cs_str text)
{
    if (!text.len)
        return;
    printf("%-10s", name);
    cs_text_safe(stdout, text);
    putchar('\n');
}

static void print_one(void *ctx, const struct cs_server_state *s)
{
    struct listing *l = ctx;
    char number[32], when[CS_TIME_TEXT];
    if (!cs_str_is(s->name, l->name))
        return;
    l->found = true;
    cs_time_text((int64_t)s->listed_at * 1000, when);
    print_line("name", s->name);
    print_line("state", cs_str(s->state));
    print_line("error", cs_errand_error(s));
    print_line(cs_str_is(s->kind, "http") ? "url" : "command", s->target);
    print_line("version", s->version);
    print_line("protocol", s->protocol);
    snprintf(number, sizeof number, "%zu", s->tools);
    print_line("tools", cs_str(number));
    print_line("listed", cs_str(when));
    if (s->restarts) {
        snprintf(number, sizeof number, "%u", s->restarts);
        print_line("restarts", cs_str(number));
    }
    if (s->log_tail.len) {
        printf("\nlog:\n");
        cs_text_lines(stdout, "  ", s->log_tail);
    }
    if (s->stderr_tail.len) {
        printf("\nstderr:\n");
        cs_text_lines(stdout, "  ", s->stderr_tail);
    }
}

static void print_json(struct cs_errand *s, struct listing *l)
{
    CS_AUTO_BUF struct cs_buf out = {0}, pretty = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    l->writer = &w;
    if (!l->name) {
        cs_json_open(&w, '{');
        cs_json_key(&w, "config");
        cs_json_put_z(&w, s->path);
        cs_json_key(&w, "servers");
        cs_json_open(&w, '[');
    }
    if (s->tools)
        cs_tools_servers(s->tools, add_json, l);
    if (!l->name) {
        cs_json_close(&w, ']');
        cs_json_close(&w, '}');
    }
    cs_json_pretty(cs_buf_str(&out), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

static void print_table(struct cs_errand *s, struct listing *l)
{
    static const struct cs_str heads[] = {
        {"name", 4}, {"state", 5}, {"version", 7}, {"tools", 5}, {"last error", 10}};
    l->table.columns = CS_COUNT(heads);
    cs_table_add(&l->table, heads, "");
    if (s->tools)
        cs_tools_servers(s->tools, add_row, l);
    if (l->table.rows > 1)
        cs_table_print(&l->table, stdout, cs_table_width(stdout));
    else
        printf("There are no servers in %s yet; 'caisson help add' says how to add one.\n",
               s->path);
    cs_table_done(&l->table);
}

static void show(struct cs_errand *s)
{
    struct listing *l = s->ctx;
    if (l->json)
        print_json(s, l);
    else if (l->name)
        cs_tools_servers(s->tools, print_one, l);
    else
        print_table(s, l);
    cs_errand_end(s, CS_EXIT_OK);
}

int cs_verb_list(const struct cs_verb *verb, int argc, char **argv)
{
    struct listing l = {0};
    struct cs_errand s = {.wait = CS_WAIT_FRESH, .then = show, .ctx = &l};
    CS_AUTO_WORDS struct cs_words operands = {0};
    struct cs_err err = {0};
    bool offline = false;
    const struct cs_bind binds[] = {{"timeout", CS_BIND_TIME, &s.timeout_ms},
                                    {"no-connect", CS_BIND_FLAG, &offline},
                                    {"output", CS_BIND_JSON, &l.json},
                                    {"config", CS_BIND_TEXT, &s.config},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (operands.count > 1) {
        cs_fail(&err, CS_INVALID, "one NAME at most, but there is '%s' too", operands.at[1]);
        return cs_usage_error(verb, &err);
    }
    if (offline)
        s.wait = CS_WAIT_NOT;
    l.name = s.server = operands.count ? operands.at[0] : NULL;
    return cs_errand_run(verb, &s);
}
