/* `caisson executions list | show | provenance`: what ran, from the store of this data directory.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/time.h"
#include "front/data.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "ledger/ledger.h"
#include "policy/keys.h"
#include "store/store.h"

#define LIST_DEFAULT 20
#define LIST_MOST    1000

struct executions {
    const struct cs_verb *verb;
    const char *tenant, *session, *status;
    uint64_t limit;
    bool json, attest;
    struct cs_words operands;
    char dir[CS_DATA_PATH];
    uv_loop_t loop;
    struct cs_store *store;
    int exit_status;
};

static void executions_done(struct executions *e)
{
    cs_words_done(&e->operands);
}

static void end(struct executions *e, int exit_status)
{
    e->exit_status = exit_status;
    cs_store_close(e->store, NULL, NULL);
}

static int take(struct executions *e, int argc, char **argv, size_t operands, struct cs_err *err)
{
    const struct cs_bind binds[] = {{"tenant", CS_BIND_TEXT, &e->tenant},
                                    {"session", CS_BIND_TEXT, &e->session},
                                    {"status", CS_BIND_TEXT, &e->status},
                                    {"limit", CS_BIND_NUMBER, &e->limit},
                                    {"attest", CS_BIND_FLAG, &e->attest},
                                    {"output", CS_BIND_JSON, &e->json},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(e->verb, argc, argv, binds, &e->operands, err) < 0)
        return -1;
    if (e->operands.count != operands)
        return cs_fail(err, CS_INVALID, operands ? "it takes one ID" : "it takes no ID");
    if (e->limit == 0 || e->limit > LIST_MOST)
        return cs_fail(err, CS_INVALID, "--limit is from 1 to %d", LIST_MOST);
    return 0;
}

static int run(struct executions *e, int argc, char **argv, size_t operands,
               void (*start)(struct executions *e))
{
    struct cs_err err = {0};
    e->tenant = CS_TENANT_DEFAULT;
    e->limit = LIST_DEFAULT;
    if (take(e, argc, argv, operands, &err) < 0)
        return cs_usage_error(e->verb, &err);
    if (cs_data_dir(e->dir, &err) < 0)
        return cs_verb_failed(e->verb, &err);
    uv_loop_init(&e->loop);
    if (cs_store_open(&e->loop, e->dir, &e->store, &err) < 0)
        e->exit_status = cs_verb_failed(e->verb, &err);
    else
        start(e);
    uv_run(&e->loop, UV_RUN_DEFAULT);
    uv_loop_close(&e->loop);
    return e->exit_status;
}

/* --- list --- */

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_moment(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    put_text(w, key, cs_str(cs_time_text(ms, text)));
}

static void print_json(const struct cs_execution_row *rows, size_t count)
{
    CS_AUTO_BUF struct cs_buf json = {0}, pretty = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "executions");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        const struct cs_execution_row *r = &rows[i];
        cs_json_open(&w, '{');
        put_text(&w, "execution_id", r->id);
        put_text(&w, "status", r->status);
        put_text(&w, "error_type", r->error_type);
        put_text(&w, "principal", r->principal);
        put_text(&w, "session_id", r->session);
        put_text(&w, "language", r->language);
        put_text(&w, "intent", r->intent);
        put_moment(&w, "created_at", r->created);
        put_moment(&w, "finished_at", r->finished);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_json_pretty(cs_buf_str(&json), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

static void print_table(const struct cs_execution_row *rows, size_t count)
{
    static const struct cs_str heads[] = {{"execution", 9}, {"status", 6}, {"created", 7},
                                          {"took", 4},      {"who", 3},    {"language", 8},
                                          {"intent", 6}};
    CS_AUTO_TABLE struct cs_table table = {.columns = CS_COUNT(heads)};
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < count; i++) {
        const struct cs_execution_row *r = &rows[i];
        char created[CS_TIME_TEXT], took[24] = "";
        if (r->finished)
            snprintf(took, sizeof took, "%.3f s", (double)(r->finished - r->created) / 1000);
        bool good = cs_str_is(r->status, "completed");
        struct cs_str cells[] = {
            r->id,        r->status,    cs_str(cs_time_text(r->created, created)),
            cs_str(took), r->principal, r->language,
            r->intent};
        cs_table_add(&table, cells, good ? "\033[32m" : r->finished ? "\033[31m" : "\033[33m");
    }
    cs_table_print(&table, stdout, cs_table_width(stdout));
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                      size_t count)
{
    struct executions *e = ctx;
    if (err->code) {
        end(e, cs_verb_failed(e->verb, err));
        return;
    }
    if (e->json)
        print_json(rows, count);
    else if (count)
        print_table(rows, count);
    else
        printf("There is no such execution of tenant '%s'.\n", e->tenant);
    end(e, CS_EXIT_OK);
}

static void list(struct executions *e)
{
    const struct cs_execution_filter filter = {
        .session = cs_str(e->session), .status = cs_str(e->status), .limit = e->limit};
    cs_store_executions(e->store, cs_str(e->tenant), &filter, on_listed, e);
}

int cs_verb_executions_list(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(executions_done) struct executions e = {.verb = verb};
    return run(&e, argc, argv, 0, list);
}

/* --- one of them --- */

/* Its envelope, or why there is none. */
static bool envelope_of(struct executions *e, const struct cs_err *found,
                        const struct cs_execution_row *rows, size_t count, struct cs_err *err)
{
    *err = *found;
    if (err->code == CS_MISSING || (!err->code && !count))
        cs_fail(err, CS_MISSING,
                "tenant '%s' has no execution '%s' (any more); 'caisson executions list' shows "
                "them",
                e->tenant, e->operands.at[0]);
    else if (!err->code && !rows[0].envelope.len)
        cs_fail(err, CS_CONFLICT, "'%s' is not over: it is %.*s", e->operands.at[0],
                CS_STR_ARG(rows[0].status));
    return err->code == CS_OK;
}

static void on_shown(void *ctx, const struct cs_err *found, const struct cs_execution_row *rows,
                     size_t count)
{
    struct executions *e = ctx;
    CS_AUTO_BUF struct cs_buf pretty = {0};
    struct cs_err err;
    if (!envelope_of(e, found, rows, count, &err)) {
        end(e, cs_verb_failed(e->verb, &err));
        return;
    }
    cs_json_pretty(rows[0].envelope, &pretty);
    cs_text_safe(stdout, cs_buf_str(&pretty));
    printf("\n");
    end(e, CS_EXIT_OK);
}

static void show(struct executions *e)
{
    cs_store_execution_get(e->store, cs_str(e->tenant), cs_str(e->operands.at[0]), on_shown, e);
}

int cs_verb_executions_show(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(executions_done) struct executions e = {.verb = verb};
    return run(&e, argc, argv, 1, show);
}

/* --- provenance --- */

static int print_attested(const struct executions *e, struct cs_str provenance, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf dsse = {0};
    struct cs_ledger *ledger = NULL;
    int result = cs_ledger_open(e->dir, &ledger, err);
    if (result == 0)
        result = cs_ledger_attest(ledger, provenance, &dsse, err);
    if (result == 0)
        printf("%s\n", cs_buf_cstr(&dsse));
    cs_ledger_close(ledger);
    return result;
}

static int print_provenance(const struct executions *e, struct cs_str envelope, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf pretty = {0};
    const struct cs_json_limits limits = {.depth = 4000};
    if (cs_json_parse(envelope, &limits, &doc, err) < 0)
        return -1;
    struct cs_json_val v = cs_json_get(cs_json_root(&doc), "provenance");
    if (cs_json_type(v) != CS_JSON_OBJECT)
        return cs_fail(err, CS_MISSING, "this execution has no provenance: it is older than that");
    if (e->attest)
        return print_attested(e, cs_json_raw(v), err);
    cs_json_pretty(cs_json_raw(v), &pretty);
    cs_text_safe(stdout, cs_buf_str(&pretty));
    printf("\n");
    return 0;
}

static void on_provenance(void *ctx, const struct cs_err *found,
                          const struct cs_execution_row *rows, size_t count)
{
    struct executions *e = ctx;
    struct cs_err err;
    if (!envelope_of(e, found, rows, count, &err) ||
        print_provenance(e, rows[0].envelope, &err) < 0)
        end(e, cs_verb_failed(e->verb, &err));
    else
        end(e, CS_EXIT_OK);
}

static void provenance(struct executions *e)
{
    cs_store_execution_get(e->store, cs_str(e->tenant), cs_str(e->operands.at[0]), on_provenance,
                           e);
}

int cs_verb_executions_provenance(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(executions_done) struct executions e = {.verb = verb};
    return run(&e, argc, argv, 1, provenance);
}
