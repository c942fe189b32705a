/* What an execution logs, as JSON or as a stream; and its trace. */
#include <stdlib.h>
#include <string.h>

#include "rest/inside.h"
#include "run/approvals.h"

static const char *const levels[] = {"debug", "info", "warn", "error"};

/* --- one event of a stream --- */

/* `json` is one line. */
static void put_event(struct cs_buf *out, const char *event, struct cs_str json)
{
    cs_buf_printf(out, "event: %s\ndata: ", event);
    cs_buf_putstr(out, json);
    cs_buf_puts(out, "\n\n");
}

/* Lines are numbered, as they are on record too: those that Last-Event-ID says were seen are left
 * out. The others are heard only by those who listen, and have no number. */
static void put_log(struct cs_visit *v, struct cs_buf *out, struct cs_str level, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (++v->event <= v->skip)
        return;
    cs_json_open(&w, '{');
    cs_put_text(&w, "level", level);
    cs_json_key(&w, "text");
    cs_json_put_str(&w, text);
    cs_json_close(&w, '}');
    cs_buf_printf(out, "id: %llu\n", (unsigned long long)v->event);
    put_event(out, "log", cs_buf_str(&json));
}

static void put_done(struct cs_buf *out, struct cs_str id, struct cs_str status)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", id);
    cs_put_text(&w, "status", status);
    cs_json_close(&w, '}');
    put_event(out, "done", cs_buf_str(&json));
}

/* --- while it runs --- */

/* A peer who does not read is cut off; the visit then ends when the exchange is gone. */
static void say(struct cs_visit *v, struct cs_str text)
{
    if (text.len && !v->cut)
        v->cut = !cs_exchange_write(v->x, text);
}

static void on_log(void *ctx, enum cs_level level, struct cs_str text)
{
    struct cs_visit *v = ctx;
    CS_AUTO_BUF struct cs_buf out = {0};
    put_log(v, &out, cs_str(levels[level]), text);
    say(v, cs_buf_str(&out));
}

static void on_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    struct cs_visit *v = ctx;
    CS_AUTO_BUF struct cs_buf out = {0}, json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "stream", is_stderr ? CS_STR("stderr") : CS_STR("stdout"));
    cs_json_key(&w, "text");
    cs_json_put_str(&w, bytes);
    cs_json_close(&w, '}');
    put_event(&out, "output", cs_buf_str(&json));
    say(v, cs_buf_str(&out));
}

static void on_progress(void *ctx, struct cs_str json)
{
    struct cs_visit *v = ctx;
    CS_AUTO_BUF struct cs_buf out = {0}, line = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    /* A program made it: it is written anew, on one line. */
    if (cs_json_parse(json, NULL, &doc, NULL) < 0)
        return;
    cs_put_canonical(&line, cs_json_root(&doc));
    put_event(&out, "progress", cs_buf_str(&line));
    say(v, cs_buf_str(&out));
}

static void on_approval(void *ctx, const struct cs_approval_row *row)
{
    struct cs_visit *v = ctx;
    CS_AUTO_BUF struct cs_buf out = {0}, json = {0};
    cs_approval_json(row, false, &json);
    put_event(&out, "approval", cs_buf_str(&json));
    say(v, cs_buf_str(&out));
}

static void put_open(struct cs_buf *out, const struct cs_run *run)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    for (size_t i = 0; i < cs_put_open_approval(run, i, &json); i++) {
        put_event(out, "approval", cs_buf_str(&json));
        cs_buf_clear(&json);
    }
}

static void finish(struct cs_visit *v, const struct cs_buf *text)
{
    say(v, cs_buf_str(text));
    if (v->cut)
        return;
    cs_exchange_end(CS_TAKE(v->x));
    cs_visit_free(v);
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct cs_visit *v = ctx;
    v->seat = NULL;
    CS_AUTO_BUF struct cs_buf out = {0};
    put_done(&out, cs_str(r->execution_id), cs_str(cs_status_name(r->status)));
    finish(v, &out);
}

static void on_alive(struct cs_visit *v)
{
    say(v, CS_STR(": still here\n\n"));
}

static void begin_stream(struct cs_visit *v)
{
    v->streams = true;
    cs_visit_set(v, "Cache-Control", CS_STR("no-store"));
    cs_visit_set(v, "X-Content-Type-Options", CS_STR("nosniff"));
    cs_visit_set(v, "X-Accel-Buffering", CS_STR("no"));
    cs_exchange_stream(v->x, 200, "text/event-stream");
}

static void stream_run(struct cs_visit *v, struct cs_run *run)
{
    static const struct cs_run_watch watch = {
        .log = on_log,
        .output = on_output,
        .progress = on_progress,
        .approval = on_approval,
        .approval_over = on_approval,
    };
    CS_AUTO_BUF struct cs_buf out = {0};
    const struct cs_log *logs = NULL;
    size_t count = cs_run_logs(run, &logs);
    for (size_t i = 0; i < count; i++)
        put_log(v, &out, cs_str(levels[logs[i].level]), logs[i].text);
    put_open(&out, run);
    v->seat = cs_run_join(run, &watch, on_done, v);
    cs_visit_timer(v, CS_REST_ALIVE_MS, true, on_alive);
    begin_stream(v);
    say(v, cs_buf_str(&out));
}

/* --- afterwards, from the record --- */

static bool read_envelope(struct cs_visit *v, const struct cs_execution_row *row,
                          struct cs_json *doc)
{
    struct cs_err err = {0};
    const struct cs_json_limits limits = {.depth = 1000};
    if (!row->envelope.len || cs_json_parse(row->envelope, &limits, doc, &err) == 0)
        return true;
    cs_fail(&err, CS_BUG, "the record of the execution cannot be read");
    cs_visit_fail(v, 0, &err);
    return false;
}

static void stream_row(struct cs_visit *v, const struct cs_execution_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (!read_envelope(v, row, &doc) || !v->x) {
        if (!v->x)
            cs_visit_free(v);
        return;
    }
    struct cs_json_iter it = {0};
    struct cs_json_val item, logs = cs_json_get(cs_json_root(&doc), "logs");
    while (row->envelope.len && cs_json_next(logs, &it, NULL, &item))
        put_log(v, &out, cs_json_str(cs_json_get(item, "level"), &arena),
                cs_json_str(cs_json_get(item, "text"), &arena));
    put_done(&out, row->id, row->status);
    begin_stream(v);
    finish(v, &out);
}

/* Members of the envelope, as they stand there. */
static void copy(struct cs_json_writer *w, struct cs_json_val root, const char *name)
{
    struct cs_json_val value = cs_json_get(root, name);
    if (cs_json_type(value) == CS_JSON_NONE)
        return;
    cs_json_key(w, name);
    cs_json_put_raw(w, cs_json_raw(value));
}

static void answer_logs(struct cs_visit *v, const struct cs_execution_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!read_envelope(v, row, &doc))
        return;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", row->id);
    cs_put_text(&w, "status", row->status);
    struct cs_json_val root = row->envelope.len ? cs_json_root(&doc) : (struct cs_json_val){0};
    if (row->envelope.len) {
        copy(&w, root, "logs");
        copy(&w, root, "stdout");
        copy(&w, root, "stderr");
        copy(&w, root, "output_bytes_cut");
    } else {
        cs_json_key(&w, "logs");
        cs_json_put_raw(&w, CS_STR("[]"));
    }
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

static void answer_logs_of(struct cs_visit *v, const struct cs_run *run)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", cs_str(cs_run_id(run)));
    const char *phase = cs_run_phase(run);
    cs_put_text(&w, "status", cs_str(strcmp(phase, "waiting") == 0 ? "running" : phase));
    cs_put_logs(&w, run);
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_logs(struct cs_visit *v)
{
    bool stream = cs_str_is(cs_exchange_method(v->x), "GET") &&
                  cs_visit_accepts(v, "text/event-stream", "application/json");
    struct cs_run *run = cs_visit_running(v);
    struct cs_str seen = cs_visit_header(v, "Last-Event-ID");
    v->skip = seen.len && seen.len < 20 ? strtoull(seen.at, NULL, 10) : 0;
    if (run && stream)
        stream_run(v, run);
    else if (run)
        answer_logs_of(v, run);
    else
        cs_visit_find(v, stream ? stream_row : answer_logs);
}

/* --- the trace --- */

static void put_phase(struct cs_json_writer *w, const char *name, struct cs_json_val ms)
{
    if (cs_json_type(ms) != CS_JSON_NUMBER)
        return;
    cs_json_open(w, '{');
    cs_put_text(w, "phase", cs_str(name));
    cs_json_key(w, "ms");
    cs_json_put_raw(w, cs_json_raw(ms));
    cs_json_close(w, '}');
}

static void answer_trace(struct cs_visit *v, const struct cs_execution_row *row)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!row->envelope.len) {
        cs_visit_failf(v, 0, CS_CONFLICT, "there is no trace (yet): the execution is %.*s",
                       CS_STR_ARG(row->status));
        return;
    }
    if (!read_envelope(v, row, &doc))
        return;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    struct cs_json_val root = cs_json_root(&doc), metrics = cs_json_get(root, "metrics");
    cs_json_open(&w, '{');
    cs_put_text(&w, "execution_id", row->id);
    cs_put_text(&w, "status", row->status);
    cs_put_time(&w, "created_at", row->created);
    cs_put_time(&w, "finished_at", row->finished);
    cs_json_key(&w, "phases");
    cs_json_open(&w, '[');
    put_phase(&w, "queued", cs_json_get(metrics, "queued_ms"));
    put_phase(&w, "execution", cs_json_get(metrics, "execution_time_ms"));
    cs_json_close(&w, ']');
    copy(&w, root, "calls");
    copy(&w, root, "risk");
    copy(&w, root, "error");
    copy(&w, root, "metrics");
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_trace(struct cs_visit *v)
{
    struct cs_run *run = cs_visit_running(v);
    if (run)
        cs_visit_failf(v, 0, CS_CONFLICT, "there is no trace yet: the execution is %s",
                       cs_run_phase(run));
    else
        cs_visit_find(v, answer_trace);
}
