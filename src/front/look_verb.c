/* `caisson tools look`: what has become of a tool since somebody looked at it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/time.h"
#include "front/errand.h"
#include "front/text.h"
#include "run/approvals.h"

#define LINES_MOST 2000 /* of a definition; longer ones are shown one after the other */

struct looking {
    struct cs_errand session;
    struct cs_settings settings;
    struct cs_words operands;
    bool json, accept;
    const struct cs_tool *tool; /* of the errand's catalogue */
};

/* --- what is different --- */

struct lines {
    struct cs_str *at;
    size_t count;
};

static struct lines lines_of(struct cs_str text, struct cs_arena *arena)
{
    struct lines l = {cs_arena_alloc(arena, (LINES_MOST + 1) * sizeof *l.at), 0};
    while (text.len && l.count <= LINES_MOST) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t n = end ? (size_t)(end - text.at) : text.len;
        l.at[l.count++] = cs_strn(text.at, n);
        n += end != NULL;
        text = cs_strn(text.at + n, text.len - n);
    }
    return l;
}

static void print_line(char mark, struct cs_str line, bool colour)
{
    const char *code = mark == '-' ? "\033[31m" : mark == '+' ? "\033[32m" : "";
    fputs(cs_text_style(colour, code), stdout);
    printf("  %c ", mark);
    cs_text_safe(stdout, line);
    fputs(cs_text_style(colour && *code, "\033[0m"), stdout);
    putchar('\n');
}

/* The longest lines that both have, in their order; the rest went or came. */
static void print_difference(struct lines a, struct lines b, bool colour)
{
    CS_AUTO_FREE uint16_t *longest = cs_calloc((a.count + 1) * (b.count + 1), sizeof *longest);
#define AT(i, k) longest[(i) * (b.count + 1) + (k)]
    for (size_t i = a.count; i-- > 0;)
        for (size_t k = b.count; k-- > 0;) {
            uint16_t down = AT(i + 1, k), right = AT(i, k + 1);
            AT(i, k) = cs_str_eq(a.at[i], b.at[k]) ? (uint16_t)(AT(i + 1, k + 1) + 1)
                       : down > right              ? down
                                                   : right;
        }
    for (size_t i = 0, k = 0; i < a.count || k < b.count;) {
        if (i < a.count && k < b.count && cs_str_eq(a.at[i], b.at[k])) {
            print_line(' ', a.at[i], colour);
            i++;
            k++;
        } else if (i < a.count && (k == b.count || AT(i + 1, k) >= AT(i, k + 1))) {
            print_line('-', a.at[i++], colour);
        } else {
            print_line('+', b.at[k++], colour);
        }
    }
#undef AT
}

static void print_change(struct cs_str before, struct cs_str now)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf old = {0};
    CS_AUTO_BUF struct cs_buf new = {0};
    bool colour = cs_text_colour(stdout);
    cs_json_pretty(before, &old);
    cs_json_pretty(now, &new);
    struct lines a = lines_of(cs_buf_str(&old), &arena), b = lines_of(cs_buf_str(&new), &arena);
    if (a.count <= LINES_MOST && b.count <= LINES_MOST) {
        print_difference(a, b, colour);
        return;
    }
    printf("it was:\n");
    cs_text_lines(stdout, "  - ", cs_buf_str(&old));
    printf("it is:\n");
    cs_text_lines(stdout, "  + ", cs_buf_str(&new));
}

/* --- shown --- */

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    if (ms)
        put_text(w, key, cs_str(cs_time_text_ms(ms, text)));
}

static bool is_young(const struct cs_seen_row *row)
{
    return cs_seen_young_until(row) > cs_time_ms();
}

static const char *standing_of(const struct cs_seen_row *row)
{
    return cs_seen_changed(row) ? "changed" : is_young(row) ? "young" : "known";
}

static void show_json(const struct cs_seen_row *row, bool accepted)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    CS_AUTO_BUF struct cs_buf pretty = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&out);
    char hex[2 * CS_SHA256 + 1];
    cs_hex(row->definition, CS_SHA256, hex);
    cs_json_open(&w, '{');
    put_text(&w, "server", row->server);
    put_text(&w, "tool", row->tool);
    put_text(&w, "standing", accepted ? CS_STR("known") : cs_str(standing_of(row)));
    put_text(&w, "definition_hash", cs_str(hex));
    put_time(&w, "since", row->since);
    put_time(&w, "changed", row->changed);
    cs_json_key(&w, "accepted");
    cs_json_put_bool(&w, accepted);
    if (row->text.len) {
        cs_json_key(&w, "definition");
        cs_json_put_raw(&w, row->text);
    }
    if (row->before.len) {
        cs_json_key(&w, "definition_before");
        cs_json_put_raw(&w, row->before);
    }
    cs_json_close(&w, '}');
    cs_json_pretty(cs_buf_str(&out), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

/* Nobody has seen it before. */
static void show_definition(struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    putchar('\n');
    if (!text.len) {
        printf("  (its definition is too long to be kept; 'caisson tools show' prints it)\n");
        return;
    }
    cs_json_pretty(text, &pretty);
    cs_text_lines(stdout, "  ", cs_buf_str(&pretty));
}

static void show_text(const struct cs_seen_row *row)
{
    char text[CS_TIME_TEXT];
    cs_text_safe(stdout, row->server);
    putchar('/');
    cs_text_safe(stdout, row->tool);
    if (!cs_seen_changed(row)) {
        printf(" is %s, as it is defined now, since %s\n", standing_of(row),
               cs_time_text(row->changed ? row->changed : row->since, text));
        if (is_young(row))
            show_definition(row->text);
        return;
    }
    printf(" changed at %s, and nobody has looked at it since:\n\n",
           cs_time_text(row->changed, text));
    if (row->text.len && row->before.len)
        print_change(row->before, row->text);
    else
        printf("  (its definition is too long to be kept; 'caisson tools show' prints it)\n");
}

static void on_looked(void *ctx, const struct cs_err *err)
{
    struct looking *l = ctx;
    if (err->code) {
        cs_errand_end(&l->session, cs_verb_failed(l->session.verb, err));
        return;
    }
    if (!l->json)
        printf("\naccepted: it may be called again as before\n");
    cs_errand_end(&l->session, CS_EXIT_OK);
}

static void accept_it(struct looking *l, const struct cs_seen_row *row)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    const struct cs_caller local = cs_caller_local();
    cs_approval_looked_data(row->server, row->tool, row->definition, cs_str(local.principal),
                            CS_STR("terminal"), &data);
    const struct cs_entry entry = {.event = CS_STR("tool.looked"),
                                   .tenant = cs_str(local.tenant),
                                   .principal = cs_str(local.principal),
                                   .data = cs_buf_str(&data)};
    cs_store_tool_look(l->session.world.store, row->server, row->tool, row->definition, &entry,
                       on_looked, l);
}

static void on_seen(void *ctx, const struct cs_err *err, const struct cs_seen_row *rows,
                    size_t count)
{
    struct looking *l = ctx;
    if (err->code || !count) {
        cs_errand_end(&l->session, cs_verb_failed(l->session.verb, err));
        return;
    }
    bool waits = cs_seen_changed(rows) || is_young(rows), accepts = l->accept && waits;
    if (l->json)
        show_json(rows, accepts);
    else
        show_text(rows);
    if (accepts) {
        accept_it(l, rows);
        return;
    }
    if (waits && !l->json)
        fprintf(
            stderr,
            "\nevery call of it is asked for until it is accepted: caisson tools look %.*s/%.*s "
            "--accept\n",
            CS_STR_ARG(rows->server), CS_STR_ARG(rows->tool));
    cs_errand_end(&l->session, CS_EXIT_OK);
}

/* --- which --- */

static const struct cs_tool *find(const struct cs_errand *s, const char *name)
{
    for (const char *at = name; (at = strpbrk(at, "./")); at++) {
        const struct cs_tool *tool =
            cs_catalogue_find(s->catalogue, cs_strn(name, (size_t)(at - name)), cs_str(at + 1));
        if (tool)
            return tool;
    }
    return NULL;
}

static void then_look(struct cs_errand *s)
{
    struct looking *l = s->ctx;
    struct cs_err err = {0};
    const char *name = l->operands.at[0];
    l->tool = s->tools ? find(s, name) : NULL;
    if (!l->tool)
        cs_fail(&err, CS_MISSING, "there is no tool '%.100s'; 'caisson tools list' has all", name);
    else if (!s->world.store)
        cs_fail(&err, CS_MISSING, "nothing is kept here (record.enabled), so every tool is known");
    if (err.code) {
        cs_errand_end(s, cs_verb_failed(s->verb, &err));
        return;
    }
    cs_store_tool_seen(s->world.store, l->tool->server, l->tool->server_hash, l->tool->name,
                       on_seen, l);
}

static int take(const struct cs_verb *verb, int argc, char **argv, struct looking *l,
                struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"timeout", CS_BIND_TIME, &l->session.timeout_ms},
        {"output", CS_BIND_JSON, &l->json},
        {"config", CS_BIND_TEXT, &l->session.config},
        {"accept", CS_BIND_FLAG, &l->accept},
        {NULL, 0, NULL},
    };
    if (cs_args_bind(verb, argc, argv, binds, &l->operands, err) < 0)
        return -1;
    if (l->operands.count != 1)
        return cs_fail(err, CS_INVALID, "which tool? SERVER/TOOL");
    return 0;
}

int cs_verb_tools_look(const struct cs_verb *verb, int argc, char **argv)
{
    struct looking l = {.session = {.wait = CS_WAIT_KNOWN, .then = then_look}};
    struct cs_err err = {0};
    char path[CS_DATA_PATH];
    int status;
    if (take(verb, argc, argv, &l, &err) < 0) {
        status = cs_usage_error(verb, &err);
    } else if (cs_data_config(l.session.config, path, &err) < 0 ||
               cs_settings_load(path, NULL, &l.settings, &err) < 0) {
        status = cs_verb_failed(verb, &err);
    } else {
        l.session.ctx = &l;
        l.session.settings = &l.settings;
        l.session.tool = l.operands.at[0];
        status = cs_errand_run(verb, &l.session);
    }
    cs_words_done(&l.operands);
    cs_settings_done(&l.settings);
    return status;
}
