/*
 * `caisson audit list | show | tail`: the ledger, read by people. Straight from the database, with
 * or without a daemon that writes to it. audit_proof.c has the verbs that prove something.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/time.h"
#include "front/audit.h"
#include "front/moment.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "store/store.h"

#define LIST_DEFAULT 50
#define TAIL_DEFAULT 20
#define POLL_MS      200

int cs_audit_database(char path[CS_DATA_PATH], struct cs_err *err)
{
    char dir[CS_DATA_PATH];
    if (cs_data_dir(dir, err) < 0)
        return -1;
    if (snprintf(path, CS_DATA_PATH, "%s/caisson.db", dir) >= CS_DATA_PATH)
        return cs_fail(err, CS_INVALID, "the path of the data directory is too long");
    return 0;
}

int cs_audit_failed(const struct cs_verb *verb, const struct cs_err *err)
{
    struct cs_err said = *err;
    if (err->code == CS_MISSING && strstr(err->msg, "caisson.db"))
        cs_fail(&said, CS_MISSING,
                "there is no ledger yet (%s): it begins with the first 'caisson serve', 'mcp' or "
                "'keys create'",
                err->msg);
    return cs_verb_failed(verb, &said);
}

/* --- moments --- */

static int parse_moment(const char *option, const char *text, int64_t *ms, struct cs_err *err)
{
    if (!text || cs_moment_parse(text, false, ms))
        return 0;
    return cs_fail(err, CS_INVALID,
                   "--%s: '%s' is no time like 2h, 3d (ago), 2026-01-31 or 2026-01-31T08:00:00Z",
                   option, text);
}

/* --- words --- */

struct audit {
    const struct cs_verb *verb;
    const char *tenant, *execution, *principal, *event, *since, *until;
    uint64_t limit;
    bool json, follow;
    struct cs_words operands;
    char path[CS_DATA_PATH];
    struct cs_ledger_filter filter;
    /* What was read. */
    struct cs_table table;
    struct cs_buf out; /* of -o json */
    uint64_t last, found;
    struct cs_entry_row *kept; /* of tail: newest first, copies */
    size_t kept_count, kept_cap;
};

static void forget_kept(struct audit *a)
{
    for (size_t i = 0; i < a->kept_count; i++)
        free((char *)a->kept[i].text.at);
    a->kept_count = 0;
}

static void audit_done(struct audit *a)
{
    cs_words_done(&a->operands);
    cs_table_done(&a->table);
    cs_buf_done(&a->out);
    forget_kept(a);
    free(a->kept);
}

static int take(struct audit *a, int argc, char **argv, size_t operands, struct cs_err *err)
{
    const struct cs_bind binds[] = {{"tenant", CS_BIND_TEXT, &a->tenant},
                                    {"execution", CS_BIND_TEXT, &a->execution},
                                    {"principal", CS_BIND_TEXT, &a->principal},
                                    {"event", CS_BIND_TEXT, &a->event},
                                    {"since", CS_BIND_TEXT, &a->since},
                                    {"until", CS_BIND_TEXT, &a->until},
                                    {"limit", CS_BIND_NUMBER, &a->limit},
                                    {"lines", CS_BIND_NUMBER, &a->limit},
                                    {"follow", CS_BIND_FLAG, &a->follow},
                                    {"output", CS_BIND_JSON, &a->json},
                                    {NULL, 0, NULL}};
    struct cs_ledger_filter *f = &a->filter;
    if (cs_args_bind(a->verb, argc, argv, binds, &a->operands, err) < 0)
        return -1;
    if (a->operands.count != operands)
        return cs_fail(err, CS_INVALID,
                       operands ? "it takes one SEQ or ex_ID" : "'%s' is not wanted",
                       operands ? "" : a->operands.at[0]);
    if (a->limit == 0)
        return cs_fail(err, CS_INVALID, "a limit of 0 shows nothing");
    *f = (struct cs_ledger_filter){.tenant = cs_str(a->tenant),
                                   .execution = cs_str(a->execution),
                                   .principal = cs_str(a->principal),
                                   .event = cs_str(a->event),
                                   .newest_first = true,
                                   .limit = a->limit};
    return parse_moment("since", a->since, &f->since, err) < 0 ||
                   parse_moment("until", a->until, &f->until, err) < 0
               ? -1
               : 0;
}

static int read_ledger(struct audit *a, bool (*visit)(void *ctx, const struct cs_entry_row *row),
                       struct cs_err *err)
{
    return cs_store_ledger_read(a->path, &a->filter, NULL, visit, a, err);
}

/* --- one entry --- */

/* The entry with its hash as its first member: what it says is not touched. One that somebody has
 * made unreadable is told as a text. */
static void put_json(struct cs_buf *out, const struct cs_entry_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    cs_buf_puts(out, "{\"hash\":\"");
    cs_hex_put(out, row->hash, 32);
    if (cs_json_parse(row->text, NULL, &doc, NULL) == 0 &&
        cs_json_type(cs_json_root(&doc)) == CS_JSON_OBJECT && row->text.at[0] == '{' &&
        cs_json_count(cs_json_root(&doc)) > 0) {
        cs_buf_puts(out, "\",");
        cs_buf_put(out, row->text.at + 1, row->text.len - 1);
        return;
    }
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_buf_printf(out, "\",\"seq\":%llu,\"unreadable\":", (unsigned long long)row->seq);
    cs_json_put_str(&w, row->text);
    cs_buf_putc(out, '}');
}

static void print_row(const struct cs_entry_row *row, struct cs_table *table)
{
    static const struct cs_str heads[] = {{"seq", 3}, {"event", 5},     {"time", 4},
                                          {"who", 3}, {"execution", 9}, {"data", 4}};
    CS_AUTO_JSON struct cs_json doc = {0};
    char seq[24], time[CS_TIME_TEXT];
    if (!table->columns) {
        table->columns = CS_COUNT(heads);
        cs_table_add(table, heads, "");
    }
    cs_json_parse(row->text, NULL, &doc, NULL);
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_arena arena = {0};
    struct cs_str session = cs_json_str(cs_json_get(root, "session"), &arena);
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)row->seq);
    cs_time_text_ms(row->columns.time, time);
    struct cs_str cells[] = {cs_str(seq),
                             row->columns.event,
                             cs_str(time),
                             row->columns.principal,
                             row->columns.execution.len ? row->columns.execution : session,
                             cs_json_raw(cs_json_get(root, "data"))};
    cs_table_add(table, cells, "");
    cs_arena_done(&arena);
}

static void print_value(const char *name, struct cs_json_val v)
{
    struct cs_arena arena = {0};
    if (cs_json_type(v) == CS_JSON_NONE)
        return;
    printf("  %-10s ", name);
    cs_text_safe(stdout,
                 cs_json_type(v) == CS_JSON_STRING ? cs_json_str(v, &arena) : cs_json_raw(v));
    printf("\n");
    cs_arena_done(&arena);
}

static void print_entry(const struct cs_entry_row *row)
{
    static const char *const names[] = {"tenant", "principal", "session", "execution"};
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf data = {0};
    char time[CS_TIME_TEXT], hash[65];
    bool colour = cs_text_colour(stdout);
    cs_json_parse(row->text, NULL, &doc, NULL);
    struct cs_json_val root = cs_json_root(&doc);
    cs_time_text_ms(row->columns.time, time);
    cs_hex(row->hash, 32, hash);
    printf("%s%llu  ", cs_text_style(colour, "\033[1m"), (unsigned long long)row->seq);
    cs_text_safe(stdout, row->columns.event);
    printf("%s  %s\n", cs_text_style(colour, "\033[0m"), time);
    for (size_t i = 0; i < CS_COUNT(names); i++)
        print_value(names[i], cs_json_get(root, names[i]));
    struct cs_json_val v = cs_json_get(root, "data");
    if (cs_json_type(v) == CS_JSON_OBJECT) {
        cs_json_pretty(cs_json_raw(v), &data);
        printf("  data\n");
        cs_text_lines(stdout, "    ", cs_buf_str(&data));
    }
    printf("  %-10s %s\n\n", "hash", hash);
}

/* --- list --- */

static bool on_listed(void *ctx, const struct cs_entry_row *row)
{
    struct audit *a = ctx;
    a->found++;
    if (a->json) {
        cs_buf_puts(&a->out, a->out.len ? ",\n" : "");
        put_json(&a->out, row);
    } else {
        print_row(row, &a->table);
    }
    return true;
}

int cs_verb_audit_list(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(audit_done) struct audit a = {.verb = verb, .limit = LIST_DEFAULT};
    struct cs_err err = {0};
    if (take(&a, argc, argv, 0, &err) < 0)
        return cs_usage_error(verb, &err);
    if (cs_audit_database(a.path, &err) < 0 || read_ledger(&a, on_listed, &err) < 0)
        return cs_audit_failed(verb, &err);
    if (a.json)
        printf("{\"entries\":[%.*s]}\n", CS_STR_ARG(cs_buf_str(&a.out)));
    else if (a.found)
        cs_table_print(&a.table, stdout, cs_table_width(stdout));
    else
        printf("There is no such entry.\n");
    return CS_EXIT_OK;
}

/* --- show --- */

static bool on_shown(void *ctx, const struct cs_entry_row *row)
{
    struct audit *a = ctx;
    a->found++;
    if (!a->json) {
        print_entry(row);
        return true;
    }
    cs_buf_puts(&a->out, a->out.len ? ",\n" : "");
    put_json(&a->out, row);
    return true;
}

int cs_verb_audit_show(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(audit_done) struct audit a = {.verb = verb, .limit = 1};
    struct cs_err err = {0};
    if (take(&a, argc, argv, 1, &err) < 0)
        return cs_usage_error(verb, &err);
    const char *which = a.operands.at[0];
    char *end;
    unsigned long long seq = strtoull(which, &end, 10);
    a.filter = (struct cs_ledger_filter){0};
    if (which[0] >= '0' && which[0] <= '9' && !*end && seq > 0)
        a.filter.from = a.filter.to = seq;
    else if (strncmp(which, "ex_", 3) == 0)
        a.filter.execution = cs_str(which);
    else {
        cs_fail(&err, CS_INVALID, "'%s' is neither the number of an entry nor an ex_ID", which);
        return cs_usage_error(verb, &err);
    }
    if (cs_audit_database(a.path, &err) < 0 || read_ledger(&a, on_shown, &err) < 0)
        return cs_audit_failed(verb, &err);
    if (a.json)
        printf("{\"entries\":[%.*s]}\n", CS_STR_ARG(cs_buf_str(&a.out)));
    if (a.found)
        return CS_EXIT_OK;
    cs_fail(&err, CS_MISSING,
            "the ledger has no entry of '%s' (any more); older ones are in the "
            "archive",
            which);
    return cs_verb_failed(verb, &err);
}

/* --- tail --- */

static bool on_tail(void *ctx, const struct cs_entry_row *row)
{
    struct audit *a = ctx;
    if (a->kept_count == a->kept_cap) {
        a->kept_cap = a->kept_cap ? 2 * a->kept_cap : 32;
        a->kept = cs_realloc(a->kept, a->kept_cap, sizeof *a->kept);
    }
    struct cs_entry_row *kept = &a->kept[a->kept_count++];
    *kept = *row;
    kept->text = cs_strn(cs_strndup(row->text.at, row->text.len), row->text.len);
    a->last = row->seq > a->last ? row->seq : a->last;
    return true;
}

/* Columns as the entry says them: those of the row are gone. */
static void print_line(const struct cs_entry_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_arena arena = {0};
    char time[CS_TIME_TEXT];
    int64_t when = 0;
    cs_json_parse(row->text, NULL, &doc, NULL);
    struct cs_json_val root = cs_json_root(&doc);
    cs_json_i64(cs_json_get(root, "time"), &when);
    cs_time_text_ms(when, time);
    printf("%llu %s ", (unsigned long long)row->seq, time);
    cs_text_safe(stdout, cs_json_str(cs_json_get(root, "event"), &arena));
    static const char *const names[] = {"tenant", "principal", "session", "execution"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        struct cs_json_val v = cs_json_get(root, names[i]);
        if (cs_json_type(v) != CS_JSON_STRING)
            continue;
        printf(" %s=", names[i]);
        cs_text_safe(stdout, cs_json_raw(v).len ? cs_json_str(v, &arena) : CS_STR(""));
    }
    struct cs_str data = cs_json_raw(cs_json_get(root, "data"));
    if (data.len) {
        printf(" ");
        cs_text_safe(stdout, data);
    }
    printf("\n");
    cs_arena_done(&arena);
}

static void print_kept(struct audit *a)
{
    for (size_t i = a->kept_count; i > 0; i--) {
        struct cs_entry_row *row = &a->kept[i - 1];
        if (a->json) {
            cs_buf_clear(&a->out);
            put_json(&a->out, row);
            printf("%.*s\n", CS_STR_ARG(cs_buf_str(&a->out)));
        } else {
            print_line(row);
        }
        free((char *)row->text.at);
    }
    a->kept_count = 0;
    fflush(stdout);
}

int cs_verb_audit_tail(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(audit_done) struct audit a = {.verb = verb, .limit = TAIL_DEFAULT};
    struct cs_err err = {0};
    if (take(&a, argc, argv, 0, &err) < 0)
        return cs_usage_error(verb, &err);
    if (cs_audit_database(a.path, &err) < 0)
        return cs_audit_failed(verb, &err);
    for (;;) {
        if (read_ledger(&a, on_tail, &err) == 0) {
            print_kept(&a);
            a.filter.from = a.last + 1;
            a.filter.limit = 0;
        } else if (err.code == CS_BUSY && a.follow) {
            forget_kept(&a); /* it is read anew, from where it was */
        } else {
            return cs_audit_failed(verb, &err);
        }
        if (!a.follow || ferror(stdout))
            return CS_EXIT_OK;
        usleep(POLL_MS * 1000);
    }
}
