/* Sessions, and the files of their workspaces. */
#include <string.h>

#include "rest/inside.h"

#define HISTORY 20

static void put_session(struct cs_json_writer *w, const struct cs_session_row *row)
{
    cs_put_text(w, "session_id", row->id);
    cs_put_text(w, "name", row->name);
    cs_put_text(w, "principal", row->principal);
    cs_put_time(w, "created_at", row->created);
    cs_put_time(w, "used_at", row->used);
    cs_put_time(w, "expires_at", row->expires);
    cs_put_number(w, "idle_ms", (uint64_t)row->idle_ms);
    cs_put_number(w, "executions", row->executions);
}

/* True if there is nothing (more) to do. */
static bool failed(struct cs_visit *v, const struct cs_err *err)
{
    if (err->code == CS_OK)
        return false;
    cs_visit_fail(v, 0, err);
    return true;
}

/* --- start --- */

static void on_started(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                       size_t count)
{
    struct cs_visit *v = ctx;
    if (failed(v, err) || !count)
        return;
    CS_AUTO_BUF struct cs_buf json = {0}, location = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_session(&w, rows);
    cs_json_close(&w, '}');
    cs_buf_printf(&location, "/sessions/%.*s", CS_STR_ARG(rows->id));
    cs_visit_set(v, "Location", cs_buf_str(&location));
    cs_visit_json(v, 201, &json);
}

void cs_rest_post_session(struct cs_visit *v)
{
    struct cs_err err = {0};
    struct cs_str body = cs_exchange_body(v->x);
    if (body.len && cs_rest_read_object(body, v->rest->session, &v->body, &v->arena, &err) < 0) {
        cs_visit_fail(v, 0, &err);
        return;
    }
    struct cs_json_val root = body.len ? cs_json_root(&v->body) : (struct cs_json_val){0};
    struct cs_str name = body.len ? cs_json_str(cs_json_get(root, "name"), &v->arena) : body;
    int64_t idle = 0;
    if (body.len)
        cs_json_i64(cs_json_get(root, "idle_ms"), &idle);
    cs_session_start(v->rest->o.sessions, &v->caller, name, idle, on_started, v);
}

/* --- list --- */

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                      size_t count)
{
    struct cs_visit *v = ctx;
    if (failed(v, err))
        return;
    bool more = count > v->limit;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "sessions");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count && i < v->limit; i++) {
        cs_json_open(&w, '{');
        put_session(&w, &rows[i]);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    if (more) {
        CS_AUTO_BUF struct cs_buf next = {0};
        cs_buf_printf(&next, "/sessions?limit=%zu&offset=%llu", v->limit,
                      (unsigned long long)(v->offset + v->limit));
        cs_put_text(&w, "next", cs_buf_str(&next));
    }
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_sessions(struct cs_visit *v)
{
    uint64_t limit = 0;
    if (!cs_visit_number(v, "limit", 1, CS_REST_PAGE_MOST, CS_REST_PAGE, &limit) ||
        !cs_visit_number(v, "offset", 0, 1000000, 0, &v->offset))
        return;
    v->limit = limit;
    cs_store_sessions(v->rest->o.store, cs_visit_tenant(v), limit + 1, v->offset, on_listed, v);
}

/* --- one: its state, and what ran in it last --- */

static void on_history(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                       size_t count)
{
    struct cs_visit *v = ctx;
    if (failed(v, err))
        return;
    CS_AUTO_BUF struct cs_buf json = {0};
    cs_buf_putstr(&json, v->text); /* all but its end */
    struct cs_json_writer w = {.out = &json, .comma = true, .depth = 1};
    cs_json_key(&w, "history");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++)
        cs_put_execution(&w, &rows[i]);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

static void on_looked(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                      size_t count)
{
    struct cs_visit *v = ctx;
    if (failed(v, err) || !count)
        return;
    if (!v->rest || !v->x) {
        cs_visit_free(v);
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    put_session(&w, rows);
    cs_json_key(&w, "state");
    cs_json_put_raw(&w, rows->state.len ? rows->state : CS_STR("{}"));
    v->text = cs_arena_dup(&v->arena, cs_buf_str(&json));
    const struct cs_execution_filter filter = {.session = rows->id, .limit = HISTORY};
    cs_store_executions(v->rest->o.store, cs_visit_tenant(v), &filter, on_history, v);
}

void cs_rest_get_session(struct cs_visit *v)
{
    cs_session_look(v->rest->o.sessions, &v->caller, v->parts[0], on_looked, v);
}

/* --- what answers nothing but that it worked --- */

static void on_changed(void *ctx, const struct cs_err *err)
{
    struct cs_visit *v = ctx;
    if (!failed(v, err))
        cs_visit_reply(v, 204, NULL, (struct cs_str){0});
}

void cs_rest_delete_session(struct cs_visit *v)
{
    cs_session_stop(v->rest->o.sessions, &v->caller, v->parts[0], on_changed, v);
}

/* --- files --- */

static void on_files(void *ctx, const struct cs_err *err, const struct cs_session_file *files,
                     size_t count)
{
    struct cs_visit *v = ctx;
    if (failed(v, err))
        return;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "files");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        cs_json_open(&w, '{');
        cs_put_text(&w, "path", files[i].path);
        cs_put_text(&w, "type", files[i].is_directory ? CS_STR("directory") : CS_STR("file"));
        cs_put_number(&w, "size", files[i].size);
        cs_put_time(&w, "modified_at", files[i].modified);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_files(struct cs_visit *v)
{
    cs_session_files(v->rest->o.sessions, &v->caller, v->parts[0], on_files, v);
}

/* Only kinds that a browser shows or saves; none that it would run. */
static const char *type_of(struct cs_str path)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {{".json", "application/json"},
                 {".txt", "text/plain; charset=utf-8"},
                 {".md", "text/markdown; charset=utf-8"},
                 {".csv", "text/csv; charset=utf-8"},
                 {".png", "image/png"},
                 {".jpg", "image/jpeg"},
                 {".jpeg", "image/jpeg"},
                 {".gif", "image/gif"},
                 {".webp", "image/webp"},
                 {".pdf", "application/pdf"},
                 {".zip", "application/zip"},
                 {".gz", "application/gzip"}};
    for (size_t i = 0; i < CS_COUNT(types); i++)
        if (cs_str_ends(path, types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

static void on_content(void *ctx, const struct cs_err *err, struct cs_str content)
{
    struct cs_visit *v = ctx;
    if (failed(v, err))
        return;
    cs_visit_attach(v, v->parts[1]);
    cs_visit_reply(v, 200, type_of(v->parts[1]), content);
}

void cs_rest_get_file(struct cs_visit *v)
{
    cs_session_file_get(v->rest->o.sessions, &v->caller, v->parts[0], v->parts[1], on_content, v);
}

void cs_rest_put_file(struct cs_visit *v)
{
    cs_session_file_put(v->rest->o.sessions, &v->caller, v->parts[0], v->parts[1],
                        cs_exchange_body(v->x), on_changed, v);
}

void cs_rest_delete_file(struct cs_visit *v)
{
    cs_session_file_remove(v->rest->o.sessions, &v->caller, v->parts[0], v->parts[1], on_changed,
                           v);
}
