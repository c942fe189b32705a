/* How a job ended becomes a result: checked, bounded, and with advice. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "run/guard.h"

#define TEXT_MAX 8192

static void error(struct cs_run *run, enum cs_error_type type, const char *message)
{
    run->result.failed = true;
    run->result.status = CS_STATUS_FAILED;
    run->result.error.type = type;
    run->result.error.message = cs_arena_dup(&run->arena, cs_str(message));
}

static void suggest(struct cs_run *run, const char *text)
{
    run->result.error.suggestion = cs_arena_dup(&run->arena, cs_str(text));
}

/* Every limit is reported as that limit, with its number, and how to raise it. */
static void name_limit(struct cs_run *run, enum cs_limit limit)
{
    struct cs_error *e = &run->result.error;
    e->has_limit = true;
    e->limit = limit;
    e->limit_value = cs_limit_get(&run->result.limits, limit);
    struct cs_limits most = cs_policy_ceiling(run->policy, run->result.verdict.risk);
    uint64_t may = cs_limit_get(&most, limit);
    const char *name = cs_limit_name(limit);
    const char *flag = limit == CS_LIMIT_WALL_CLOCK ? " (or --timeout)"
                       : limit == CS_LIMIT_MEMORY   ? " (or --memory)"
                                                    : "";
    char text[300];
    if (e->limit_value < may)
        snprintf(text, sizeof text,
                 "raise it with --limit %s=N%s, up to %" PRIu64
                 " %s for %s risk, or do less at once",
                 name, flag, may, cs_limit_unit(limit), cs_risk_name(run->result.verdict.risk));
    else
        snprintf(text, sizeof text, "this is the most for %s risk: do less at once",
                 cs_risk_name(run->result.verdict.risk));
    const char *advice = e->suggestion.len ? cs_arena_printf(&run->arena, "%.*s Or %s.",
                                                             CS_STR_ARG(e->suggestion), text)
                                           : text;
    suggest(run, advice);
}

static void limit_error(struct cs_run *run, enum cs_limit limit)
{
    char text[200];
    snprintf(text, sizeof text, "the limit of %s is reached: %" PRIu64 " %s (%s)",
             cs_limit_name(limit), cs_limit_get(&run->result.limits, limit), cs_limit_unit(limit),
             cs_limit_what(limit));
    error(run, limit == CS_LIMIT_WALL_CLOCK ? CS_ERROR_TIMEOUT : CS_ERROR_RESOURCE, text);
    name_limit(run, limit);
}

static struct cs_str text_of(struct cs_run *run, struct cs_json_val report, const char *key)
{
    struct cs_str s = cs_json_str(cs_json_get(report, key), &run->arena);
    if (s.len > TEXT_MAX) {
        s.len = TEXT_MAX;
        while (s.len && ((unsigned char)s.at[s.len] & 0xC0) == 0x80)
            s.len--; /* not inside a character */
    }
    return cs_arena_dup(&run->arena, s);
}

static uint32_t number_of(struct cs_json_val report, const char *key)
{
    int64_t n;
    return cs_json_i64(cs_json_get(report, key), &n) && n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

static void read_limit(struct cs_run *run, struct cs_json_val report)
{
    struct cs_json_val name = cs_json_get(cs_json_get(report, "limit"), "name");
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        if (cs_json_is(name, cs_limit_name((enum cs_limit)i)))
            name_limit(run, (enum cs_limit)i);
}

/* A worker's own report. It is hostile: what is not a known field of the right kind is not taken
 * over. */
static void read_report(struct cs_run *run, struct cs_str payload)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(payload, NULL, &doc, &err) < 0) {
        error(run, CS_ERROR_PERMISSION, "the worker's report of its error is not valid");
        return;
    }
    struct cs_json_val report = cs_json_root(&doc);
    error(run, CS_ERROR_RUNTIME, "");
    struct cs_error *e = &run->result.error;
    for (int i = 0; i < CS_ERROR_INTERNAL; i++)
        if (cs_json_is(cs_json_get(report, "type"), cs_error_type_name((enum cs_error_type)i)))
            e->type = (enum cs_error_type)i;
    e->name = text_of(run, report, "name");
    e->message = text_of(run, report, "message");
    e->suggestion = text_of(run, report, "suggestion");
    e->snippet = text_of(run, report, "snippet");
    e->stack = text_of(run, report, "stack");
    e->file = text_of(run, report, "file");
    e->line = number_of(report, "line");
    e->column = number_of(report, "column");
    read_limit(run, report);
}

static bool says(struct cs_str text, const char *word)
{
    return text.len && memmem(text.at, text.len, word, strlen(word));
}

static bool surrogate(const char *escape, char low, char high)
{
    return escape[0] == '\\' && escape[1] == 'u' && (escape[2] | 32) == 'd' &&
           (escape[3] | 32) >= low && (escape[3] | 32) <= high;
}

/* Half a character, written as an escape, is nothing that a reader of JSON must accept: U+FFFD
 * instead. */
static void mend_surrogates(char *at, const char *end)
{
    while ((at = memchr(at, '\\', (size_t)(end - at))) && end - at >= 6) {
        if (surrogate(at, '8', 'b') && end - at >= 12 && surrogate(at + 6, 'c', 'f')) {
            at += 12;
            continue;
        }
        if (surrogate(at, '8', 'f'))
            memcpy(at, "\\ufffd", 6);
        at += 2;
    }
}

static void take_value(struct cs_run *run, struct cs_str json)
{
    struct cs_json doc = {0};
    struct cs_json_limits bounds = {.bytes = run->result.limits.result,
                                    .depth = (uint32_t)run->result.limits.json_depth + 1,
                                    .allow_duplicate = true};
    struct cs_err err = {0};
    if (json.len > run->result.limits.result)
        limit_error(run, CS_LIMIT_RESULT);
    else if (cs_json_parse(json, &bounds, &doc, &err) == 0) {
        run->result.value = cs_arena_dup(&run->arena, json);
        char *copy = (char *)run->result.value.at;
        mend_surrogates(copy, copy + json.len);
    } else if (err.code == CS_LIMIT)
        limit_error(run, CS_LIMIT_JSON_DEPTH);
    else
        error(run, CS_ERROR_PERMISSION, "the worker's result is not valid JSON");
    cs_json_done(&doc);
}

/* "the last printed JSON": the last line of stdout that is a JSON value. */
static void last_json_line(struct cs_run *run)
{
    struct cs_str rest = cs_buf_str(&run->out);
    for (unsigned lines = 0; rest.len && lines < 1000; lines++) {
        const char *newline = memrchr(rest.at, '\n', rest.len);
        size_t start = newline ? (size_t)(newline - rest.at) + 1 : 0;
        struct cs_str line = cs_strn(rest.at + start, rest.len - start);
        rest.len = newline ? start - 1 : 0;
        struct cs_json doc = {0};
        bool ok = line.len && cs_json_parse(line, NULL, &doc, NULL) == 0;
        cs_json_done(&doc);
        if (!ok)
            continue;
        take_value(run, line);
        return;
    }
}

static void stdout_as_value(struct cs_run *run)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    struct cs_str text = cs_buf_str(&run->out);
    if (text.len && text.at[text.len - 1] == '\n')
        text.len--; /* as $(...) does */
    cs_json_put_str(&w, text);
    take_value(run, cs_buf_str(&json));
}

/* What a guest was told "no" about, when it then failed: the limit is the reason people want to
 * hear. */
static void blame_limit(struct cs_run *run, const struct cs_job_end *end)
{
    if (end->scratch_full)
        limit_error(run, end->limit);
    else if (end->fork_refused)
        limit_error(run, CS_LIMIT_PROCESSES);
    else if (says(cs_buf_str(&run->err), "Too many open files"))
        limit_error(run, CS_LIMIT_OPEN_FILES);
}

static void guest_exit(struct cs_run *run, const struct cs_job_end *end)
{
    if (end->exit_status == 0) {
        if (run->result.language == CS_BASH)
            stdout_as_value(run);
        else
            last_json_line(run);
        return;
    }
    char text[160];
    if (end->exit_status > 128 && end->exit_status <= 128 + 64)
        snprintf(text, sizeof text, "the program was ended by signal %d (%s)",
                 end->exit_status - 128, strsignal(end->exit_status - 128));
    else
        snprintf(text, sizeof text, "the program ended with exit status %d", end->exit_status);
    error(run, CS_ERROR_RUNTIME, text);
    if (run->err.len)
        suggest(run, "its stderr says more");
    blame_limit(run, end);
}

static void our_fault(struct cs_run *run, const struct cs_err *err)
{
    switch (err->code) {
    case CS_INVALID:
        error(run, CS_ERROR_VALIDATION, err->msg);
        break;
    case CS_LIMIT:
    case CS_BUSY:
        error(run, CS_ERROR_RESOURCE, err->msg);
        run->result.error.has_limit = false;
        break;
    case CS_DENIED:
        error(run, CS_ERROR_PERMISSION, err->msg);
        run->result.status = CS_STATUS_DENIED;
        suggest(run, "'caisson doctor' says which wall is missing and what to do; "
                     "--allow-weak-isolation NAME runs without it");
        break;
    case CS_MISSING:
    case CS_CONFLICT:
        error(run, CS_ERROR_VALIDATION, err->msg);
        break;
    case CS_OK:
    case CS_SCRIPT:
    case CS_UPSTREAM:
    case CS_SYSTEM:
    case CS_BUG:
        error(run, CS_ERROR_INTERNAL, err->msg);
        break;
    }
}

/* The program's own error, with its place, was caused by this limit. */
static void limit_in_report(struct cs_run *run, enum cs_limit limit)
{
    run->result.error.type = CS_ERROR_RESOURCE;
    run->result.error.suggestion = (struct cs_str){0};
    name_limit(run, limit);
}

static void crashed(struct cs_run *run, const struct cs_job_end *end)
{
    char text[160];
    if (end->memory_refused) {
        limit_error(run, CS_LIMIT_MEMORY);
        return;
    }
    snprintf(text, sizeof text, "the worker was ended by signal %d (%s)", end->signal,
             end->signal ? strsignal(end->signal) : "it left without a word");
    error(run, CS_ERROR_RUNTIME, text);
    run->result.error.name = CS_STR("WorkerKilled");
}

static void by_ending(struct cs_run *run, const struct cs_job_end *end)
{
    switch (end->how) {
    case CS_ENDED_VALUE:
        take_value(run, end->payload);
        break;
    case CS_ENDED_ERROR:
        read_report(run, end->payload);
        if (run->result.is_guest)
            blame_limit(run, end);
        else if (end->scratch_full && says(run->result.error.message, "ENOSPC"))
            limit_in_report(run, end->limit);
        break;
    case CS_ENDED_EXIT:
        guest_exit(run, end);
        break;
    case CS_ENDED_LIMIT:
        limit_error(run, end->limit);
        break;
    case CS_ENDED_SYSCALL:
        error(run, CS_ERROR_PERMISSION,
              "the program tried a system call that the jail does not allow");
        run->result.error.name = CS_STR("SyscallRefused");
        break;
    case CS_ENDED_SIGNAL:
        crashed(run, end);
        break;
    case CS_ENDED_PROTOCOL:
        error(run, CS_ERROR_PERMISSION, end->err.msg);
        run->result.error.name = CS_STR("ProtocolError");
        break;
    case CS_ENDED_CANCELLED:
        error(run, CS_ERROR_RUNTIME, "cancelled");
        run->result.status = CS_STATUS_CANCELLED;
        break;
    case CS_ENDED_FAILED:
        our_fault(run, &end->err);
        break;
    }
}

void cs_settle_fault(struct cs_run *run, const struct cs_err *err)
{
    run->result.value = (struct cs_str){0};
    run->result.error = (struct cs_error){0};
    run->result.not_replayable = CS_STR("it was not the program that failed");
    our_fault(run, err);
}

/* It never ran. What the worker says about that is not needed, but in a replay, where it is told
 * what was said then. */
static void deny(struct cs_run *run)
{
    const struct cs_guarded *g = run->guarded;
    if (run->result.status == CS_STATUS_CANCELLED)
        return;
    /* In a replay the worker has heard what was said then. */
    struct cs_str why = g && g->denied.len ? g->denied : run->result.error.message;
    run->result.error = (struct cs_error){0};
    error(run, CS_ERROR_PERMISSION, "");
    run->result.error.message = why;
    run->result.error.suggestion = cs_guard_advice(why);
    run->result.status = CS_STATUS_DENIED;
}

void cs_settle(struct cs_run *run, const struct cs_job_end *end)
{
    struct cs_result *r = &run->result;
    r->status = CS_STATUS_COMPLETED;
    r->logs = run->logs;
    r->log_count = run->log_count;
    r->out = cs_buf_str(&run->out);
    r->err = cs_buf_str(&run->err);
    r->exit_status = end->exit_status;
    r->wall_us = end->wall_us;
    r->cpu_us = end->cpu_us;
    r->memory_peak = end->memory_peak;
    by_ending(run, end);
    if (!r->failed)
        run->new_state = cs_arena_dup(&run->arena, end->state);
    if (r->failed && run->refused)
        deny(run);
    /* The program is fine, but its files did not come back. */
    if (!r->failed && end->err.code)
        cs_settle_fault(run, &end->err);
}
