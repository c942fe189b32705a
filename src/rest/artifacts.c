/* What executions left behind. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/hash.h"
#include "rest/inside.h"

static void put_artifact(struct cs_json_writer *w, const struct cs_artifact_row *row)
{
    char hex[65];
    cs_hex(row->hash, sizeof row->hash, hex);
    cs_json_open(w, '{');
    cs_put_text(w, "artifact_id", row->id);
    cs_put_text(w, "name", row->name);
    cs_put_text(w, "kind", row->kind);
    cs_put_text(w, "media_type", row->media_type);
    cs_put_number(w, "size", row->size);
    cs_put_text(w, "sha256", cs_str(hex));
    cs_put_text(w, "execution_id", row->execution);
    cs_put_text(w, "session_id", row->session);
    cs_put_time(w, "created_at", row->created);
    cs_json_close(w, '}');
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                      size_t count, struct cs_str content)
{
    struct cs_visit *v = ctx;
    (void)content;
    if (err->code != CS_OK) {
        cs_visit_fail(v, 0, err);
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "artifacts");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++)
        put_artifact(&w, &rows[i]);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    cs_visit_json(v, 200, &json);
}

void cs_rest_get_artifacts(struct cs_visit *v)
{
    uint64_t limit = 0;
    if (!cs_visit_number(v, "limit", 1, CS_REST_PAGE_MOST, CS_REST_PAGE, &limit))
        return;
    cs_store_artifacts(v->rest->o.store, cs_visit_tenant(v), cs_visit_query(v, "session_id"),
                       cs_visit_query(v, "execution_id"), limit, on_listed, v);
}

/* --- content --- */

/* A program chose it, and it goes into a header: only "type/subtype" of plain letters does. */
static const char *media_type(struct cs_visit *v, struct cs_str type)
{
    size_t slashes = 0;
    for (size_t i = 0; i < type.len; i++) {
        char c = type.at[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr("/.+-", c));
        if (!plain)
            return "application/octet-stream";
        slashes += c == '/';
    }
    if (slashes != 1 || type.len > 100 || type.at[0] == '/' || type.at[type.len - 1] == '/')
        return "application/octet-stream";
    return cs_arena_dup(&v->arena, type).at;
}

static bool read_number(struct cs_str *s, uint64_t *value)
{
    size_t n = 0;
    *value = 0;
    while (n < s->len && n < 19 && s->at[n] >= '0' && s->at[n] <= '9')
        *value = *value * 10 + (uint64_t)(s->at[n++] - '0');
    s->at += n;
    s->len -= n;
    return n > 0 && n < 19;
}

/* "bytes=FIRST-LAST" and "bytes=FIRST-". Everything else is served whole, as RFC 9110 allows. */
static void read_range(struct cs_visit *v)
{
    struct cs_str range = cs_exchange_header(v->x, "Range");
    uint64_t first = 0, last = UINT64_MAX;
    if (range.len < 7 || strncasecmp(range.at, "bytes=", 6) != 0)
        return;
    range.at += 6;
    range.len -= 6;
    if (!read_number(&range, &first) || !range.len || *range.at != '-')
        return;
    range.at++;
    range.len--;
    if (range.len && (!read_number(&range, &last) || range.len || last < first))
        return;
    v->has_range = true;
    v->offset = first;
    v->last = last;
}

static void answer_part(struct cs_visit *v, const struct cs_artifact_row *row, const char *type,
                        struct cs_str content)
{
    CS_AUTO_BUF struct cs_buf range = {0};
    if (v->offset >= row->size) {
        cs_buf_printf(&range, "bytes */%llu", (unsigned long long)row->size);
        cs_visit_set(v, "Content-Range", cs_buf_str(&range));
        cs_visit_failf(v, 416, CS_INVALID, "the artifact has %llu bytes",
                       (unsigned long long)row->size);
        return;
    }
    cs_buf_printf(&range, "bytes %llu-%llu/%llu", (unsigned long long)v->offset,
                  (unsigned long long)(v->offset + content.len - 1), (unsigned long long)row->size);
    cs_visit_set(v, "Content-Range", cs_buf_str(&range));
    cs_visit_attach(v, row->name);
    cs_visit_reply(v, 206, type, content);
}

/* The content never changes: its hash is its tag. */
static bool answer_known(struct cs_visit *v, const struct cs_artifact_row *row)
{
    char tag[67] = "\"";
    cs_hex(row->hash, sizeof row->hash, tag + 1);
    tag[65] = '"';
    tag[66] = '\0';
    cs_visit_set(v, "ETag", cs_str(tag));
    CS_AUTO_BUF struct cs_buf digest = {0};
    cs_buf_puts(&digest, "sha-256=:");
    cs_base64(cs_strn((const char *)row->hash, sizeof row->hash), &digest);
    cs_buf_putc(&digest, ':');
    cs_visit_set(v, "Repr-Digest", cs_buf_str(&digest));
    struct cs_str known = v->x ? cs_exchange_header(v->x, "If-None-Match") : (struct cs_str){0};
    if (!known.len || !memmem(known.at, known.len, tag, sizeof tag - 1))
        return false;
    cs_visit_reply(v, 304, NULL, (struct cs_str){0});
    return true;
}

static void on_content(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                       size_t count, struct cs_str content)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK || !count) {
        cs_visit_fail(v, 0, err);
        return;
    }
    const char *type = media_type(v, rows->media_type);
    if (answer_known(v, rows))
        return;
    cs_visit_set(v, "Accept-Ranges", CS_STR("bytes"));
    if (v->has_range) {
        answer_part(v, rows, type, content);
        return;
    }
    if (content.len < rows->size) {
        cs_visit_failf(v, 0, CS_LIMIT,
                       "the artifact has %llu bytes: ask for parts of it, 'Range: "
                       "bytes=0-1048575'",
                       (unsigned long long)rows->size);
        return;
    }
    cs_visit_attach(v, rows->name);
    cs_visit_reply(v, 200, type, content);
}

void cs_rest_get_artifact(struct cs_visit *v)
{
    read_range(v);
    uint64_t want = v->has_range ? v->last - v->offset : CS_REST_CONTENT_MAX - 1;
    size_t max = want < CS_REST_CONTENT_MAX ? (size_t)want + 1 : CS_REST_CONTENT_MAX;
    if (v->parts[0].len > 64)
        cs_visit_failf(v, 0, CS_MISSING, "there is no such artifact");
    else
        cs_store_artifact_get(v->rest->o.store, cs_visit_tenant(v), v->parts[0], v->offset, max,
                              on_content, v);
}

/* --- removed --- */

static void on_removal_noted(void *ctx, const struct cs_err *err)
{
    struct cs_visit *v = ctx;
    struct cs_err why = *err;
    if (err->code == CS_OK) {
        cs_visit_reply(v, 204, NULL, (struct cs_str){0});
        return;
    }
    cs_wrap(&why, "it is removed, but that could not be put on record");
    cs_visit_fail(v, 0, &why);
}

static void on_removed(void *ctx, const struct cs_err *err)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK || !v->rest) {
        cs_visit_fail(v, 0, err);
        return;
    }
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    cs_put_text(&w, "artifact", v->parts[0]);
    cs_json_close(&w, '}');
    struct cs_entry entry = {.event = CS_STR("artifact.removed"),
                             .tenant = cs_visit_tenant(v),
                             .principal = cs_str(v->caller.principal),
                             .data = cs_buf_str(&data)};
    cs_store_append(v->rest->o.store, &entry, 1, on_removal_noted, v);
}

void cs_rest_delete_artifact(struct cs_visit *v)
{
    if (v->parts[0].len > 64)
        cs_visit_failf(v, 0, CS_MISSING, "there is no such artifact");
    else
        cs_store_artifact_remove(v->rest->o.store, cs_visit_tenant(v), v->parts[0], on_removed, v);
}

/* --- lineage --- */

static void on_lineage(void *ctx, const struct cs_err *err, const struct cs_lineage_found *found)
{
    struct cs_visit *v = ctx;
    if (err->code != CS_OK) {
        cs_visit_fail(v, 0, err);
        return;
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    if (cs_str_is(v->query, "dot")) {
        cs_lineage_dot(found, &text);
        cs_visit_reply(v, 200, "text/vnd.graphviz; charset=utf-8", cs_buf_str(&text));
        return;
    }
    cs_lineage_json(found, &text);
    cs_visit_json(v, 200, &text);
}

void cs_rest_get_lineage(struct cs_visit *v)
{
    struct cs_lineage_want want = {.up = true};
    struct cs_str way = cs_visit_query(v, "direction");
    uint64_t depth = 0;
    v->query = cs_visit_query(v, "format");
    if (!cs_visit_number(v, "depth", 1, 1000, 32, &depth))
        return;
    if (way.len && !cs_str_is(way, "up") && !cs_str_is(way, "down") && !cs_str_is(way, "both")) {
        cs_visit_failf(v, 0, CS_INVALID, "direction: must be up, down or both");
        return;
    }
    if (v->query.len && !cs_str_is(v->query, "json") && !cs_str_is(v->query, "dot")) {
        cs_visit_failf(v, 0, CS_INVALID, "format: must be json or dot");
        return;
    }
    want.up = !cs_str_is(way, "down");
    want.down = way.len && !cs_str_is(way, "up");
    want.depth = (uint32_t)depth;
    if (v->parts[0].len > 64)
        cs_visit_failf(v, 0, CS_MISSING, "there is no such artifact");
    else
        cs_store_lineage(v->rest->o.store, cs_visit_tenant(v), v->parts[0], &want, on_lineage, v);
}
