/* `caisson artifacts list | get | lineage | remove`: what executions of this data directory left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/time.h"
#include "front/data.h"
#include "front/events.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "ledger/ledger.h"
#include "policy/keys.h"
#include "run/run.h"
#include "store/store.h"

#define LIST_USUAL 50
#define LIST_MOST  1000
#define READ_BYTES (64u << 20)
#define TREE_DEPTH 32

/* One verb: it opens the store, asks, and the last answer closes it. */
struct ask {
    const struct cs_verb *verb;
    struct cs_words operands;
    const char *tenant, *session, *execution, *file, *output, *direction;
    uint64_t limit, offset, length, depth;
    uv_loop_t loop;
    struct cs_store *store;
    struct cs_ledger *ledger; /* NULL: nothing is changed */
    int fd;                   /* of get */
    int exit_status;
};

static void ask_done(struct ask *a)
{
    cs_words_done(&a->operands);
    if (a->fd > STDERR_FILENO)
        close(a->fd);
}

#define AUTO_ASK CS_AUTO(ask_done) struct ask

static struct cs_str tenant_of(const struct ask *a)
{
    return a->tenant ? cs_str(a->tenant) : CS_STR(CS_TENANT_DEFAULT);
}

static bool is_output(const struct ask *a, const char *format)
{
    return a->output && strcmp(a->output, format) == 0;
}

static int take(struct ask *a, int argc, char **argv, size_t operands, struct cs_err *err)
{
    a->length = UINT64_MAX;
    const struct cs_bind binds[] = {{"tenant", CS_BIND_TEXT, &a->tenant},
                                    {"session", CS_BIND_TEXT, &a->session},
                                    {"execution", CS_BIND_TEXT, &a->execution},
                                    {"limit", CS_BIND_NUMBER, &a->limit},
                                    {"to", CS_BIND_TEXT, &a->file},
                                    {"offset", CS_BIND_NUMBER, &a->offset},
                                    {"length", CS_BIND_NUMBER, &a->length},
                                    {"direction", CS_BIND_TEXT, &a->direction},
                                    {"depth", CS_BIND_NUMBER, &a->depth},
                                    {"output", CS_BIND_TEXT, &a->output},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(a->verb, argc, argv, binds, &a->operands, err) < 0)
        return -1;
    if (a->operands.count != operands)
        return cs_fail(err, CS_INVALID, operands ? "it takes one ID" : "it takes no ID");
    return 0;
}

static void end(struct ask *a, int exit_status)
{
    a->exit_status = exit_status;
    cs_store_close(a->store, NULL, NULL);
}

static void end_failed(struct ask *a, const struct cs_err *err)
{
    end(a, cs_verb_failed(a->verb, err));
}

static void remove_it(struct ask *a);

static int run(struct ask *a, int argc, char **argv, size_t operands, void (*start)(struct ask *a))
{
    char dir[CS_DATA_PATH];
    struct cs_err err = {0};
    if (take(a, argc, argv, operands, &err) < 0)
        return cs_usage_error(a->verb, &err);
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(a->verb, &err);
    uv_loop_init(&a->loop);
    if ((start == remove_it && cs_ledger_open(dir, &a->ledger, &err) < 0) ||
        cs_store_open(&a->loop, dir, &a->store, &err) < 0) {
        a->exit_status = cs_verb_failed(a->verb, &err);
    } else {
        if (a->ledger)
            cs_store_set_chain(a->store, cs_ledger_chain(a->ledger));
        start(a);
    }
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    cs_ledger_close(a->ledger);
    return a->exit_status;
}

/* --- list --- */

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_row(struct cs_json_writer *w, const struct cs_artifact_row *row)
{
    char hex[65], created[CS_TIME_TEXT];
    cs_hex(row->hash, sizeof row->hash, hex);
    cs_json_open(w, '{');
    put_text(w, "artifact_id", row->id);
    put_text(w, "name", row->name);
    put_text(w, "kind", row->kind);
    put_text(w, "media_type", row->media_type);
    cs_json_key(w, "size");
    cs_json_put_u64(w, row->size);
    put_text(w, "sha256", cs_str(hex));
    put_text(w, "execution_id", row->execution);
    if (row->session.len)
        put_text(w, "session_id", row->session);
    put_text(w, "created_at", cs_str(cs_time_text(row->created, created)));
    cs_json_close(w, '}');
}

static void print_json(const struct cs_buf *json)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(cs_buf_str(json), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

static void print_rows_json(const struct cs_artifact_row *rows, size_t count)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "artifacts");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++)
        put_row(&w, &rows[i]);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    print_json(&json);
}

static void print_table(const struct cs_artifact_row *rows, size_t count)
{
    static const struct cs_str heads[] = {{"id", 2},   {"name", 4}, {"kind", 4},
                                          {"size", 4}, {"type", 4}, {"created", 7}};
    CS_AUTO_TABLE struct cs_table table = {.columns = CS_COUNT(heads)};
    if (!count) {
        printf("There are no artifacts.\n");
        return;
    }
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < count; i++) {
        const struct cs_artifact_row *r = &rows[i];
        char created[CS_TIME_TEXT], size[24];
        snprintf(size, sizeof size, "%llu", (unsigned long long)r->size);
        struct cs_str cells[] = {r->id,         r->name,
                                 r->kind,       cs_str(size),
                                 r->media_type, cs_str(cs_time_text(r->created, created))};
        cs_table_add(&table, cells, "");
    }
    cs_table_print(&table, stdout, cs_table_width(stdout));
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                      size_t count, struct cs_str content)
{
    struct ask *a = ctx;
    (void)content;
    if (err->code) {
        end_failed(a, err);
        return;
    }
    if (is_output(a, "json"))
        print_rows_json(rows, count);
    else
        print_table(rows, count);
    end(a, CS_EXIT_OK);
}

static void list(struct ask *a)
{
    uint64_t limit = a->limit ? a->limit : LIST_USUAL;
    cs_store_artifacts(a->store, tenant_of(a), cs_str(a->session), cs_str(a->execution),
                       limit < LIST_MOST ? (size_t)limit : LIST_MOST, on_listed, a);
}

int cs_verb_artifacts_list(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASK a = {.verb = verb};
    return run(&a, argc, argv, 0, list);
}

/* --- get --- */

static int open_target(struct ask *a, struct cs_err *err)
{
    if (a->fd)
        return 0;
    a->fd = a->file ? open(a->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
    return a->fd < 0 ? cs_fail_errno(err, "%s", a->file) : 0;
}

static void read_on(struct ask *a);

static void on_content(void *ctx, const struct cs_err *said, const struct cs_artifact_row *rows,
                       size_t count, struct cs_str content)
{
    struct ask *a = ctx;
    struct cs_err err = *said;
    if (err.code || !count || open_target(a, &err) < 0) {
        end_failed(a, &err);
        return;
    }
    if (cs_file_write_fd(a->fd, content) < 0) {
        cs_fail_errno(&err, "%s", a->file ? a->file : "stdout");
        end_failed(a, &err);
        return;
    }
    a->offset += content.len;
    a->length -= content.len;
    if (content.len && a->length && a->offset < rows->size)
        read_on(a);
    else
        end(a, CS_EXIT_OK);
}

static void read_on(struct ask *a)
{
    cs_store_artifact_get(a->store, tenant_of(a), cs_str(a->operands.at[0]), a->offset,
                          a->length < READ_BYTES ? (size_t)a->length : READ_BYTES, on_content, a);
}

int cs_verb_artifacts_get(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASK a = {.verb = verb};
    return run(&a, argc, argv, 1, read_on);
}

/* --- lineage --- */

static void print_safe(struct cs_str text)
{
    for (size_t i = 0; i < text.len; i++)
        putchar((unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7F ? '?' : text.at[i]);
}

static void print_line(unsigned depth, const char *what, struct cs_str name, struct cs_str more)
{
    printf("%*s%s", (int)(2 * depth), "", what);
    print_safe(name);
    if (more.len) {
        printf("  ");
        print_safe(more);
    }
    printf("\n");
}

static const struct cs_artifact_row *artifact_of(const struct cs_lineage_found *f, struct cs_str id)
{
    for (size_t i = 0; i < f->artifact_count; i++)
        if (cs_str_eq(f->artifacts[i].id, id))
            return &f->artifacts[i];
    return NULL;
}

static bool made_here(const struct cs_artifact_row *made, const struct cs_execution_row *e)
{
    return cs_str_eq(e->id, made->execution);
}

/* Upwards. An execution that was shown is not shown once more in full. */
static void print_tree(const struct cs_lineage_found *f, const struct cs_artifact_row *row,
                       bool *shown, unsigned depth)
{
    print_line(depth, "", row->id, row->gone ? CS_STR("(removed)") : row->name);
    for (size_t e = 0; e < f->execution_count; e++) {
        if (!made_here(row, &f->executions[e]))
            continue;
        print_line(depth + 1, "made by ", f->executions[e].id,
                   shown[e] ? CS_STR("(see above)") : f->executions[e].status);
        if (shown[e] || depth / 2 >= TREE_DEPTH)
            continue;
        shown[e] = true;
        for (size_t i = 0; i < f->source_count; i++) {
            const struct cs_source *s = &f->sources[i].source;
            const struct cs_artifact_row *read = artifact_of(f, s->name);
            if (f->sources[i].execution != e)
                continue;
            if (cs_str_is(s->kind, "artifact") && read)
                print_tree(f, read, shown, depth + 2);
            else
                print_line(depth + 2, "", s->kind, s->name);
        }
    }
}

static void print_lineage(const struct ask *a, const struct cs_lineage_found *f)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    if (is_output(a, "json")) {
        cs_lineage_json(f, &text);
        print_json(&text);
    } else if (is_output(a, "dot")) {
        cs_lineage_dot(f, &text);
        printf("%s", cs_buf_cstr(&text));
    } else {
        CS_AUTO_FREE bool *shown = cs_calloc(f->execution_count + 1, sizeof *shown);
        print_tree(f, &f->artifacts[0], shown, 0);
        for (size_t i = 1; a->direction && a->direction[0] != 'u' && i < f->artifact_count; i++)
            print_tree(f, &f->artifacts[i], shown, 0);
        if (f->cut)
            printf("... and more: --depth\n");
    }
}

static void on_lineage(void *ctx, const struct cs_err *err, const struct cs_lineage_found *found)
{
    struct ask *a = ctx;
    if (err->code) {
        end_failed(a, err);
        return;
    }
    print_lineage(a, found);
    end(a, CS_EXIT_OK);
}

static void lineage(struct ask *a)
{
    const char *way = a->direction ? a->direction : "up";
    struct cs_lineage_want want = {
        .up = strcmp(way, "down") != 0,
        .down = strcmp(way, "up") != 0,
        .depth = a->depth < UINT32_MAX ? (uint32_t)a->depth : UINT32_MAX,
    };
    cs_store_lineage(a->store, tenant_of(a), cs_str(a->operands.at[0]), &want, on_lineage, a);
}

int cs_verb_artifacts_lineage(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASK a = {.verb = verb};
    return run(&a, argc, argv, 1, lineage);
}

/* --- remove --- */

static void on_removed(void *ctx, const struct cs_err *err)
{
    struct ask *a = ctx;
    if (err->code) {
        end_failed(a, err);
        return;
    }
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    struct cs_caller caller = cs_caller_local();
    snprintf(caller.tenant, sizeof caller.tenant, "%.*s", CS_STR_ARG(tenant_of(a)));
    cs_json_open(&w, '{');
    put_text(&w, "artifact", cs_str(a->operands.at[0]));
    cs_json_close(&w, '}');
    cs_event_note(a->store, "artifact.removed", &caller, cs_buf_str(&data), NULL, NULL);
    printf("removed '%s'\n", a->operands.at[0]);
    end(a, CS_EXIT_OK);
}

static void remove_it(struct ask *a)
{
    cs_store_artifact_remove(a->store, tenant_of(a), cs_str(a->operands.at[0]), on_removed, a);
}

int cs_verb_artifacts_remove(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_ASK a = {.verb = verb};
    return run(&a, argc, argv, 1, remove_it);
}
