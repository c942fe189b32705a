/* `caisson replay`: an execution again, from the record; and what it did differently. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "front/data.h"
#include "front/print.h"
#include "front/text.h"
#include "front/verbs.h"
#include "front/world.h"

#define AT_ONCE   4
#define PAGE      200
#define CODE_MOST (1u << 20)

struct replaying {
    const struct cs_verb *verb;
    const char *code_path, *config, *policy, *tenant, *id;
    bool diff, json, all, verbose, colour;
    struct cs_buf code;
    struct cs_settings settings;
    struct cs_sandbox_options sandbox;
    char scratch[CS_DATA_PATH];
    struct cs_world world;
    int exit_status;
    /* Of all: the ids of a page, and what came of them. */
    char (*ids)[CS_DATA_PATH / 64];
    size_t count, next, running;
    bool last_page, closing;
    char before[64];
    uint64_t same, different, not_replayable, failed;
    struct cs_buf reports; /* JSON: those that differ or failed */
};

/* --- one, for people --- */

static struct cs_str text_of(struct cs_json_val v, struct cs_arena *arena)
{
    return cs_json_type(v) == CS_JSON_STRING ? cs_json_str(v, arena) : cs_json_raw(v);
}

static void print_side(const struct replaying *r, const char *sign, const char *style,
                       struct cs_json_val v)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val message = cs_json_get(v, "message");
    if (cs_json_type(v) == CS_JSON_NULL)
        return;
    printf("  %s%s ", cs_text_style(r->colour, style), sign);
    if (cs_json_type(message) == CS_JSON_STRING) { /* an error: the rest of it is below */
        cs_text_safe(stdout, cs_json_str(cs_json_get(v, "type"), &arena));
        fputs(": ", stdout);
        v = message;
    }
    cs_text_safe(stdout, text_of(v, &arena));
    printf("%s\n", cs_text_style(r->colour, "\033[0m"));
}

static void print_differences(const struct replaying *r, struct cs_json_val list, const char *what,
                              const char *key)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val one;
    while (cs_json_next(list, &it, NULL, &one)) {
        printf("%s", what);
        cs_text_safe(stdout, text_of(cs_json_get(one, key), &arena));
        putchar('\n');
        print_side(r, "-", "\033[31m", cs_json_get(one, "recorded"));
        print_side(r, "+", "\033[32m", cs_json_get(one, "replayed"));
    }
}

static void print_all_differences(const struct replaying *r, struct cs_json_val differences)
{
    print_differences(r, cs_json_get(differences, "calls"), "call ", "call");
    print_differences(r, cs_json_get(differences, "logs"), "log line ", "line");
    print_differences(r, cs_json_get(differences, "result"), "", "path");
    if (cs_json_type(cs_json_get(differences, "state")) == CS_JSON_TRUE)
        puts("state\n  the session would have been left in another state");
}

static void print_end(const char *name, struct cs_json_val end)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str status = cs_json_str(cs_json_get(end, "status"), &arena);
    struct cs_str hash = cs_json_str(cs_json_get(end, "outputs_hash"), &arena);
    printf("  %s  %-10.*s outputs %.12s...\n", name, CS_STR_ARG(status), hash.len ? hash.at : "");
}

static void print_count(struct cs_json_val differences)
{
    static const char *const kinds[] = {"result", "logs", "calls"};
    uint32_t n = 0;
    for (size_t i = 0; i < CS_COUNT(kinds); i++)
        n += cs_json_count(cs_json_get(differences, kinds[i]));
    if (n)
        printf("  %u difference%s; --diff shows them\n", n, n == 1 ? "" : "s");
}

static void print_report(const struct replaying *r, const struct cs_replayed *replayed)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {
        .bytes = replayed->report.len + 1, .depth = 1300, .allow_duplicate = true};
    if (cs_json_parse(replayed->report, &limits, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc);
    printf("%s: %s%s%s\n", replayed->result->execution_id,
           cs_text_style(r->colour, replayed->same ? "\033[32m" : "\033[31m"),
           replayed->same ? "the same" : "different", cs_text_style(r->colour, "\033[0m"));
    print_end("recorded", cs_json_get(root, "recorded"));
    print_end("replayed", cs_json_get(root, "replayed"));
    if (replayed->why.len) {
        printf("  they part at call %u", replayed->call);
        if (replayed->tool.len) {
            fputs(", ", stdout);
            cs_text_safe(stdout, replayed->server);
            fputs(replayed->server.len ? "." : "", stdout);
            cs_text_safe(stdout, replayed->tool);
        }
        printf(": %.*s\n", CS_STR_ARG(replayed->why));
    }
    struct cs_json_val differences = cs_json_get(root, "differences");
    if (r->diff)
        print_all_differences(r, differences);
    else if (!replayed->same)
        print_count(differences);
    fflush(stdout);
    if (r->code_path || r->verbose) {
        struct cs_print print = {.verbose = r->verbose, .colour = cs_text_colour(stderr)};
        cs_print_result(&print, replayed->result);
    }
}

static void finish(struct replaying *r)
{
    cs_world_close(&r->world, NULL, NULL);
}

static void on_one(void *ctx, const struct cs_replayed *replayed)
{
    struct replaying *r = ctx;
    if (replayed->err.code) {
        r->exit_status = cs_verb_failed(r->verb, &replayed->err);
        if (r->exit_status != CS_EXIT_OURS)
            r->exit_status = CS_EXIT_PROGRAM;
    } else if (r->json) {
        CS_AUTO_BUF struct cs_buf pretty = {0};
        cs_json_pretty(replayed->report, &pretty);
        fwrite(pretty.at, 1, pretty.len, stdout);
        putchar('\n');
    } else {
        print_report(r, replayed);
    }
    if (!replayed->err.code)
        r->exit_status = replayed->same ? CS_EXIT_OK : CS_EXIT_PROGRAM;
    finish(r);
}

/* --- all of them --- */

static void next_page(struct replaying *r);
static void pump(struct replaying *r);

struct item {
    struct replaying *r;
    char id[64];
};

static void note_failure(struct replaying *r, const char *id, const struct cs_err *err)
{
    struct cs_json_writer w = CS_JSON_WRITER(&r->reports);
    r->failed++;
    if (r->reports.len)
        cs_buf_putc(&r->reports, ',');
    cs_json_open(&w, '{');
    cs_json_key(&w, "execution_id");
    cs_json_put_z(&w, id);
    cs_json_key(&w, "error");
    cs_json_put_z(&w, err->msg);
    cs_json_close(&w, '}');
    if (!r->json)
        printf("%s: %s\n", id, err->msg);
}

static void on_item(void *ctx, const struct cs_replayed *replayed)
{
    struct item *item = ctx;
    struct replaying *r = item->r;
    r->running--;
    if (replayed->err.code == CS_INVALID || replayed->err.code == CS_CONFLICT) {
        r->not_replayable++;
    } else if (replayed->err.code) {
        note_failure(r, item->id, &replayed->err);
    } else if (replayed->same) {
        r->same++;
    } else {
        r->different++;
        if (r->reports.len)
            cs_buf_putc(&r->reports, ',');
        cs_buf_putstr(&r->reports, replayed->report);
        if (!r->json)
            print_report(r, replayed);
    }
    free(item);
    pump(r);
}

static void end_all(struct replaying *r)
{
    unsigned long long replayed = r->same + r->different + r->failed;
    if (r->json)
        printf("{\"replayed\":%llu,\"same\":%llu,\"different\":%llu,\"failed\":%llu,"
               "\"not_replayable\":%llu,\"reports\":[%.*s]}\n",
               replayed, (unsigned long long)r->same, (unsigned long long)r->different,
               (unsigned long long)r->failed, (unsigned long long)r->not_replayable,
               (int)r->reports.len, r->reports.len ? r->reports.at : "");
    else
        printf("%llu replayed: %llu the same, %llu different, %llu failed; %llu cannot be "
               "replayed\n",
               replayed, (unsigned long long)r->same, (unsigned long long)r->different,
               (unsigned long long)r->failed, (unsigned long long)r->not_replayable);
    r->exit_status = r->different || r->failed ? CS_EXIT_PROGRAM : CS_EXIT_OK;
    finish(r);
}

static void pump(struct replaying *r)
{
    while (r->running < AT_ONCE && r->next < r->count) {
        struct item *item = CS_NEW(struct item);
        item->r = r;
        snprintf(item->id, sizeof item->id, "%s", r->ids[r->next++]);
        struct cs_replay_request request = {.tenant = cs_str(r->tenant),
                                            .execution = cs_str(item->id)};
        r->running++;
        cs_replay(r->world.runner, &request, on_item, item);
    }
    if (r->running || r->next < r->count || r->closing)
        return;
    if (r->last_page) {
        r->closing = true;
        end_all(r);
    } else {
        next_page(r);
    }
}

static void on_page(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                    size_t count)
{
    struct replaying *r = ctx;
    if (err->code) {
        r->exit_status = cs_verb_failed(r->verb, err);
        finish(r);
        return;
    }
    r->count = r->next = 0;
    r->last_page = count < PAGE;
    for (size_t i = 0; i < count; i++) {
        snprintf(r->before, sizeof r->before, "%.*s", CS_STR_ARG(rows[i].id));
        if (cs_str_is(rows[i].language, "typescript"))
            snprintf(r->ids[r->count++], sizeof *r->ids, "%.*s", CS_STR_ARG(rows[i].id));
        else
            r->not_replayable++;
    }
    pump(r);
}

static void next_page(struct replaying *r)
{
    const struct cs_execution_filter filter = {.before = cs_str(r->before), .limit = PAGE};
    struct cs_str tenant = r->tenant ? cs_str(r->tenant) : CS_STR(CS_TENANT_DEFAULT);
    cs_store_executions(r->world.store, tenant, &filter, on_page, r);
}

/* --- words --- */

static int read_code(struct replaying *r, struct cs_err *err)
{
    if (!r->code_path)
        return 0;
    CS_AUTO_FD int fd =
        strcmp(r->code_path, "-") == 0 ? dup(0) : open(r->code_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        cs_fail_errno(err, "'%s'", r->code_path);
    else if (cs_file_read_fd(fd, CODE_MOST, &r->code, err) < 0)
        cs_wrap(err, "'%s'", r->code_path);
    else
        return 0;
    err->code = CS_INVALID;
    return -1;
}

static int take(struct replaying *r, int argc, char **argv, struct cs_words *operands,
                struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"diff", CS_BIND_FLAG, &r->diff},
        {"code", CS_BIND_TEXT, &r->code_path},
        {"all", CS_BIND_FLAG, &r->all},
        {"tenant", CS_BIND_TEXT, &r->tenant},
        {"output", CS_BIND_JSON, &r->json},
        {"config", CS_BIND_TEXT, &r->config},
        {"verbose", CS_BIND_FLAG, &r->verbose},
        {"policy", CS_BIND_TEXT, &r->policy},
        {NULL, 0, NULL},
    };
    if (cs_args_bind(r->verb, argc, argv, binds, operands, err) < 0)
        return -1;
    if (r->all ? operands->count > 0 : operands->count != 1)
        return cs_fail(err, CS_INVALID,
                       r->all ? "either an ID or --all, not both"
                              : "which execution? One ID, or --all");
    if (r->all && r->code_path)
        return cs_fail(err, CS_INVALID, "--code goes with one ID");
    if (!r->all)
        r->id = operands->at[0];
    return read_code(r, err);
}

static int start(struct replaying *r, uv_loop_t *loop, struct cs_err *err)
{
    char path[CS_DATA_PATH];
    if (cs_data_config(r->config, path, err) < 0 ||
        cs_settings_load(path, NULL, &r->settings, err) < 0 || cs_data_scratch(r->scratch, err) < 0)
        return -1;
    r->settings.record_enabled = true;
    r->sandbox.scratch_dir = r->scratch;
    r->sandbox.pool = r->all ? AT_ONCE + 2 : 0;
    const struct cs_world_options options = {
        .config = r->config,
        .policy = r->policy,
        .no_tools = true,
        .sandbox = &r->sandbox,
        .settings = &r->settings,
    };
    if (cs_world_open(loop, &options, &r->world, err) < 0)
        return -1;
    if (r->all) {
        r->ids = cs_calloc(PAGE, sizeof *r->ids);
        next_page(r);
        return 0;
    }
    const struct cs_replay_request request = {
        .tenant = cs_str(r->tenant), .execution = cs_str(r->id), .code = cs_buf_str(&r->code)};
    cs_replay(r->world.runner, &request, on_one, r);
    return 0;
}

int cs_verb_replay(const struct cs_verb *verb, int argc, char **argv)
{
    struct replaying r = {.verb = verb, .colour = cs_text_colour(stdout)};
    CS_AUTO_WORDS struct cs_words operands = {0};
    struct cs_err err = {0};
    uv_loop_t *loop = uv_default_loop();
    if (take(&r, argc, argv, &operands, &err) < 0) {
        r.exit_status = cs_usage_error(verb, &err);
    } else if (start(&r, loop, &err) < 0) {
        r.exit_status = cs_verb_failed(verb, &err);
    } else {
        uv_run(loop, UV_RUN_DEFAULT);
        uv_loop_close(loop);
    }
    cs_settings_done(&r.settings);
    cs_buf_done(&r.code);
    cs_buf_done(&r.reports);
    free(r.ids);
    return r.exit_status;
}
