/*
 * Artifacts as a program sees them: caisson.storage.get(id, {offset, length, as}),
 * caisson.storage.put(name, value, {mediaType}), caisson.storage.list(). They are calls of our own,
 * like searchTools. A handle of another tenant is an unknown one.
 */
#include "base/base64.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "run/guard.h"
#include "run/shield.h"

#define LISTED     100
#define PAGE_BYTES (1u << 20)
#define NAME_SHOWN 80
#define NAME_BYTES 255 /* of what is put */
#define TYPE_BYTES 100
#define PUTS_MOST  1000 /* by one execution */

static const struct cs_refusal invalid = {CS_CALL_INVALID, CS_ANSWER_INVALID, NULL, false};
static const struct cs_refusal missing = {CS_CALL_DENIED, CS_ANSWER_MISSING, NULL, false};
static const struct cs_refusal too_large = {CS_CALL_LIMIT, CS_ANSWER_LIMIT, NULL, false};
static const struct cs_refusal failed = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, true};

/* The store answers, whatever has become of the call. */
struct cs_own_wait {
    struct cs_gate_call *call; /* NULL: it is over */
    bool in_part, as_bytes;
    uint64_t offset, limit;
};

static struct cs_own_wait *wait_for(struct cs_gate_call *c)
{
    struct cs_own_wait *w = CS_NEW(struct cs_own_wait);
    w->call = c;
    c->wait = w;
    return w;
}

void cs_own_wait_leave(struct cs_own_wait *w)
{
    if (w)
        w->call = NULL;
}

/* The call that waits; NULL: none does any more. Frees the wait. */
static struct cs_gate_call *arrive(struct cs_own_wait *w)
{
    struct cs_gate_call *c = w->call;
    if (c)
        c->wait = NULL;
    free(w);
    return c;
}

static void refuse_store(struct cs_gate_call *c, const struct cs_err *err)
{
    bool unknown = err->code == CS_MISSING;
    cs_gate_refuse(c, unknown ? missing : failed, cs_str(err->msg),
                   unknown ? CS_STR("`await caisson.storage.list()` gives the handles that can be "
                                    "opened here.")
                           : CS_STR(""));
}

/* --- list --- */

static void put_row(struct cs_json_writer *w, const struct cs_artifact_row *row)
{
    cs_json_open(w, '{');
    cs_json_key(w, "id");
    cs_json_put_str(w, row->id);
    cs_json_key(w, "name");
    cs_json_put_str(w, row->name);
    cs_json_key(w, "media_type");
    cs_json_put_str(w, row->media_type);
    cs_json_key(w, "kind");
    cs_json_put_str(w, row->kind);
    cs_json_key(w, "size");
    cs_json_put_u64(w, row->size);
    cs_json_key(w, "execution_id");
    cs_json_put_str(w, row->execution);
    cs_json_key(w, "created");
    cs_json_put_i64(w, row->created);
    cs_json_close(w, '}');
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                      size_t count, struct cs_str content)
{
    struct cs_gate_call *c = arrive(ctx);
    (void)content;
    if (!c)
        return;
    if (err->code != CS_OK) {
        refuse_store(c, err);
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '[');
    for (size_t i = 0; i < count; i++) {
        cs_flows_read(c->run, rows[i].came); /* names are a program's own words */
        put_row(&w, &rows[i]);
    }
    cs_json_close(&w, ']');
    cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, cs_buf_str(&json));
}

static void list(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    cs_store_artifacts(run->runner->store, run->tenant, run->result.session_id, (struct cs_str){0},
                       LISTED, on_listed, wait_for(c));
}

/* --- get --- */

static void refuse_size(struct cs_gate_call *c, const struct cs_artifact_row *row, uint64_t limit)
{
    CS_AUTO_BUF struct cs_buf message = {0}, suggestion = {0};
    cs_buf_printf(&message, "the artifact has %llu bytes; a call answers with at most %llu",
                  (unsigned long long)row->size, (unsigned long long)limit);
    cs_buf_printf(&suggestion,
                  "Read it in parts: `await caisson.storage.get('%.*s', { offset: 0, length: "
                  "500000 })` gives { text, next, size }.",
                  CS_STR_ARG(row->id));
    cs_gate_refuse(c, too_large, cs_buf_str(&message), cs_buf_str(&suggestion));
}

/* How much of it does not end inside a character. */
static size_t whole_characters(struct cs_str content)
{
    for (size_t back = 1; back < 4 && back < content.len; back++) {
        unsigned char c = (unsigned char)content.at[content.len - back];
        if (c < 0x80)
            break;
        if (c >= 0xC0)
            return cs_utf8_len(content.at + content.len - back, back) < 0 ? content.len - back
                                                                          : content.len;
    }
    return content.len;
}

/* {text, offset, next, size}, or {base64, ...}; `next` is where the next part starts, or null. A
 * part starts and ends between characters, if it is text and `offset` was. */
static void put_part(const struct cs_artifact_row *row, const struct cs_own_wait *asked,
                     struct cs_str content, struct cs_buf *json)
{
    CS_AUTO_BUF struct cs_buf base64 = {0};
    struct cs_json_writer w = CS_JSON_WRITER(json);
    uint64_t offset = asked->offset;
    bool is_last = offset >= row->size || content.len >= row->size - offset;
    size_t whole = is_last || asked->as_bytes ? content.len : whole_characters(content);
    cs_json_open(&w, '{');
    cs_json_key(&w, asked->as_bytes ? "base64" : "text");
    if (asked->as_bytes)
        cs_base64(content, &base64);
    cs_json_put_str(&w, asked->as_bytes ? cs_buf_str(&base64) : cs_strn(content.at, whole));
    cs_json_key(&w, "offset");
    cs_json_put_u64(&w, offset);
    cs_json_key(&w, "next");
    if (is_last)
        cs_json_put_null(&w);
    else
        cs_json_put_u64(&w, offset + whole);
    cs_json_key(&w, "size");
    cs_json_put_u64(&w, row->size);
    cs_json_close(&w, '}');
}

static void refuse_binary(struct cs_gate_call *c, const struct cs_artifact_row *row)
{
    CS_AUTO_BUF struct cs_buf suggestion = {0};
    cs_buf_printf(&suggestion,
                  "`await caisson.storage.get('%.*s', { as: 'bytes' })` gives its bytes; in Python "
                  "`caisson.storage.get('%.*s', binary=True)`.",
                  CS_STR_ARG(row->id), CS_STR_ARG(row->id));
    cs_gate_refuse(c, invalid, CS_STR("the artifact is no text"), cs_buf_str(&suggestion));
}

/* A result is JSON, and was looked at. What else is called so may be anything. */
static bool is_json(struct cs_gate_call *c, const struct cs_artifact_row *row,
                    struct cs_str content)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!cs_str_is(row->media_type, "application/json"))
        return false;
    if (cs_str_is(row->kind, "result"))
        return true;
    struct cs_json_limits limits = {.bytes = content.len + 1,
                                    .depth = (uint32_t)c->run->result.limits.json_depth + 1,
                                    .allow_duplicate = true};
    return cs_json_parse(content, &limits, &doc, NULL) == 0;
}

/* Streams are text, however much of it is broken. */
static bool is_text(const struct cs_artifact_row *row, struct cs_str content)
{
    return cs_str_is(row->kind, "stdout") || cs_media_text(content);
}

/* Tokens in it are those of the vault that this execution has. Those of others stand for other
 * values: they must not be taken for ours. */
static bool is_ours(const struct cs_run *run, const struct cs_artifact_row *row)
{
    struct cs_str session = run->result.session_id;
    return session.len ? cs_str_eq(row->session, session)
                       : cs_str_is(row->execution, run->result.execution_id);
}

static void answer(struct cs_gate_call *c, const struct cs_own_wait *asked,
                   const struct cs_artifact_row *row, struct cs_str content)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_str value = content;
    if (!asked->in_part && row->size > asked->limit) {
        refuse_size(c, row, asked->limit);
        return;
    }
    cs_lineage_read(c->run, row);
    cs_flows_read(c->run, row->came);
    if (asked->in_part || asked->as_bytes) {
        put_part(row, asked, content, &json);
        value = cs_buf_str(&json);
    } else if (!is_json(c, row, content)) {
        if (!is_text(row, content)) {
            refuse_binary(c, row);
            return;
        }
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_json_put_str(&w, content);
        value = cs_buf_str(&json);
    }
    CS_AUTO_BUF struct cs_buf masked = {0};
    struct cs_err err = {0};
    int n = asked->as_bytes
                ? 0
                : cs_shield_artifact(c->run, is_ours(c->run, row), value, &masked, &err);
    if (n > 0)
        value = cs_buf_str(&masked);
    /* Escapes make a text longer. */
    if (n < 0)
        cs_gate_refuse(c, failed, cs_str(err.msg), (struct cs_str){0});
    else if (value.len > asked->limit + 200)
        refuse_size(c, row, asked->limit);
    else
        cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, value);
}

static void on_got(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                   size_t count, struct cs_str content)
{
    struct cs_own_wait asked = *(struct cs_own_wait *)ctx;
    struct cs_gate_call *c = arrive(ctx);
    if (!c)
        return;
    if (err->code != CS_OK || !count)
        refuse_store(c, err);
    else
        answer(c, &asked, rows, content);
}

static bool number_of(struct cs_json_val v, uint64_t *n)
{
    int64_t got;
    if (!cs_json_i64(v, &got) || got < 0)
        return false;
    *n = (uint64_t)got;
    return true;
}

static void get(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str id = {0};
    uint64_t length = PAGE_BYTES, limit = run->result.limits.call_result;
    if (cs_json_parse(cs_buf_str(&c->arguments), NULL, &doc, NULL) == 0)
        id = cs_json_str(cs_json_get(cs_json_root(&doc), "id"), &arena);
    if (!cs_str_starts(id, "art_")) {
        cs_gate_refuse(c, invalid, CS_STR("storage.get wants the handle of an artifact, 'art_...'"),
                       CS_STR("`await caisson.storage.list()` gives those that can be opened."));
        return;
    }
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_own_wait *w = wait_for(c);
    bool has_offset = number_of(cs_json_get(root, "offset"), &w->offset);
    w->in_part = number_of(cs_json_get(root, "length"), &length) || has_offset;
    w->as_bytes = cs_json_is(cs_json_get(root, "as"), "bytes");
    w->limit = limit;
    if (!w->in_part || length > limit)
        length = limit;
    cs_store_artifact_get(run->runner->store, run->tenant, cs_utf8_cut(id, NAME_SHOWN), w->offset,
                          (size_t)length, on_got, w);
}

/* --- put --- */

static void put_handle(struct cs_json_writer *w, const struct cs_artifact_row *row)
{
    char hex[65];
    cs_hex(row->hash, sizeof row->hash, hex);
    cs_json_open(w, '{');
    cs_json_key(w, "id");
    cs_json_put_str(w, row->id);
    cs_json_key(w, "name");
    cs_json_put_str(w, row->name);
    cs_json_key(w, "size");
    cs_json_put_u64(w, row->size);
    cs_json_key(w, "media_type");
    cs_json_put_str(w, row->media_type);
    cs_json_key(w, "hash");
    cs_json_put_z(w, hex);
    cs_json_close(w, '}');
}

static void on_put(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                   size_t count, struct cs_str content);

/* It is there: put twice, or by a process that died before it could say so. */
static void find_again(struct cs_gate_call *c)
{
    char id[CS_ID_TEXT];
    cs_artifact_id(c->run, cs_buf_str(&c->arguments), id);
    cs_store_artifact_get(c->run->runner->store, c->run->tenant, cs_str(id), 0, 0, on_put,
                          wait_for(c));
}

/* It is kept, whether or not somebody still waits to hear so. */
static void on_put(void *ctx, const struct cs_err *err, const struct cs_artifact_row *rows,
                   size_t count, struct cs_str content)
{
    struct cs_gate_call *c = arrive(ctx);
    (void)content;
    if (!c)
        return;
    if (err->code == CS_CONFLICT) {
        find_again(c);
        return;
    }
    if (err->code == CS_OK && count) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_artifact_kept(c->run, rows);
        put_handle(&w, rows);
        cs_gate_answer(c, CS_CALL_OK, CS_ANSWER_OK, cs_buf_str(&json));
    } else {
        cs_gate_refuse(c, err->code == CS_LIMIT ? too_large : failed, cs_str(err->msg),
                       (struct cs_str){0});
    }
}

/* "type/subtype" of plain letters, or nothing. */
static bool type_ok(struct cs_str type)
{
    size_t slashes = 0;
    for (size_t i = 0; i < type.len; i++) {
        char c = type.at[i];
        bool letter = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (!letter && (!c || !strchr("/.+-", c)))
            return false;
        slashes += c == '/';
    }
    return !type.len || (type.len <= TYPE_BYTES && slashes == 1 && type.at[0] != '/' &&
                         type.at[type.len - 1] != '/');
}

static bool name_ok(struct cs_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.at[i] < 0x20 || name.at[i] == 0x7F)
            return false;
    return name.len && name.len <= NAME_BYTES;
}

/* One of {value}, {text}, {base64}. NULL, or what is wrong. */
static const char *read_content(struct cs_json_val root, struct cs_arena *arena,
                                struct cs_buf *bytes, struct cs_artifact_want *want)
{
    struct cs_json_val value = cs_json_get(root, "value"), text = cs_json_get(root, "text");
    struct cs_json_val base64 = cs_json_get(root, "base64");
    if (cs_json_type(base64) == CS_JSON_STRING) {
        if (cs_base64_read(cs_json_str(base64, arena), bytes) < 0)
            return "`base64` is not base64";
        want->content = cs_buf_str(bytes);
    } else if (cs_json_type(text) == CS_JSON_STRING) {
        want->content = cs_json_str(text, arena);
    } else if (cs_json_type(value) != CS_JSON_NONE) {
        want->content = cs_json_raw(value);
        if (!want->media_type.len)
            want->media_type = CS_STR("application/json");
    } else {
        return "storage.put wants a value, a text or bytes";
    }
    if (!want->media_type.len)
        want->media_type = cs_media_type(want->name, want->content);
    return NULL;
}

static const char *read_put(struct cs_json_val root, struct cs_arena *arena, struct cs_buf *bytes,
                            struct cs_artifact_want *want)
{
    want->kind = "stored";
    want->name = cs_json_str(cs_json_get(root, "name"), arena);
    want->media_type = cs_json_str(cs_json_get(root, "media_type"), arena);
    if (!name_ok(want->name))
        return "storage.put wants a name of 1 to 255 bytes, without control characters";
    if (!type_ok(want->media_type))
        return "a media type is like 'text/csv'";
    return read_content(root, arena, bytes, want);
}

static void put(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_artifact_want want = {0};
    char id[CS_ID_TEXT];
    struct cs_err err = {0};
    const struct cs_limits *l = &run->result.limits;
    struct cs_json_limits limits = {
        .bytes = CS_CALL_MAX, .depth = (uint32_t)l->json_depth + 1, .allow_duplicate = true};
    if (c->arguments.len > l->arguments) {
        cs_fail(&err, CS_LIMIT, "the content has %zu bytes; a call takes at most %llu",
                c->arguments.len, (unsigned long long)l->arguments);
        cs_gate_refuse(c, too_large, cs_str(err.msg),
                       CS_STR("Write it to a file in /workspace/out: those are kept too."));
        return;
    }
    if (run->result.artifact_count >= PUTS_MOST) {
        cs_fail(&err, CS_LIMIT, "an execution keeps at most %d artifacts", PUTS_MOST);
        cs_gate_refuse(c, too_large, cs_str(err.msg), CS_STR("Put several values into one."));
        return;
    }
    if (cs_json_parse(cs_buf_str(&c->arguments), &limits, &doc, &err) < 0) {
        cs_gate_refuse(c, invalid, cs_str(err.msg), (struct cs_str){0});
        return;
    }
    const char *wrong = read_put(cs_json_root(&doc), &arena, &bytes, &want);
    if (wrong) {
        cs_gate_refuse(c, invalid, cs_str(wrong),
                       CS_STR("Write `await caisson.storage.put('report.csv', text)`."));
    } else {
        cs_artifact_id(run, cs_buf_str(&c->arguments), id);
        want.id = id;
        cs_artifact_keep(run, &want, on_put, wait_for(c));
    }
}

static void (*function_of(struct cs_str name))(struct cs_gate_call *c)
{
    return cs_str_is(name, "storageGet")    ? get
           : cs_str_is(name, "storagePut")  ? put
           : cs_str_is(name, "storageList") ? list
                                            : NULL;
}

bool cs_gate_storage(struct cs_gate_call *c)
{
    void (*function)(struct cs_gate_call *) = function_of(cs_buf_str(&c->name));
    if (!function)
        return false;
    if (!c->run->runner->store)
        cs_gate_refuse(c, missing, CS_STR("nothing is kept here: there are no artifacts"),
                       CS_STR("`caisson serve` and `caisson mcp` keep them."));
    else
        function(c);
    return true;
}
