/*
 * Artifacts as a program sees them: caisson.storage.get(id, {offset, length}),
 * caisson.storage.list(). They are calls of our own, like searchTools. A handle of another tenant
 * is an unknown one.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "run/inside.h"

#define LISTED     100
#define PAGE_BYTES (1u << 20)
#define NAME_SHOWN 80

static const struct cs_refusal invalid = {CS_CALL_INVALID, CS_ANSWER_INVALID, NULL, false};
static const struct cs_refusal missing = {CS_CALL_DENIED, CS_ANSWER_MISSING, NULL, false};
static const struct cs_refusal too_large = {CS_CALL_LIMIT, CS_ANSWER_LIMIT, NULL, false};
static const struct cs_refusal failed = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, true};

/* The store answers, whatever has become of the call. */
struct cs_own_wait {
    struct cs_gate_call *call; /* NULL: it is over */
    bool in_part;
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
    for (size_t i = 0; i < count; i++)
        put_row(&w, &rows[i]);
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

/* {text, offset, next, size}; `next` is where the next part starts, or null. A part starts and ends
 * between characters, if it is text and `offset` was. */
static void put_part(const struct cs_artifact_row *row, uint64_t offset, struct cs_str content,
                     struct cs_buf *json)
{
    struct cs_json_writer w = CS_JSON_WRITER(json);
    bool is_last = offset >= row->size || content.len >= row->size - offset;
    size_t whole = content.len;
    /* A character at the end of which bytes are missing is left for the next part. */
    for (size_t back = 1; !is_last && back < 4 && back < content.len; back++) {
        unsigned char c = (unsigned char)content.at[content.len - back];
        if (c < 0x80)
            break;
        if (c >= 0xC0) {
            if (cs_utf8_len(content.at + content.len - back, back) < 0)
                whole = content.len - back;
            break;
        }
    }
    cs_json_open(&w, '{');
    cs_json_key(&w, "text");
    cs_json_put_str(&w, cs_strn(content.at, whole));
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

static void answer(struct cs_gate_call *c, const struct cs_own_wait *asked,
                   const struct cs_artifact_row *row, struct cs_str content)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_str value = content;
    if (!asked->in_part && row->size > asked->limit) {
        refuse_size(c, row, asked->limit);
        return;
    }
    if (asked->in_part) {
        put_part(row, asked->offset, content, &json);
        value = cs_buf_str(&json);
    } else if (!cs_str_is(row->media_type, "application/json")) {
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_json_put_str(&w, content);
        value = cs_buf_str(&json);
    }
    /* Escapes make a text longer. */
    if (value.len > asked->limit + 200)
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
    w->limit = limit;
    if (!w->in_part || length > limit)
        length = limit;
    cs_store_artifact_get(run->runner->store, run->tenant, cs_utf8_cut(id, NAME_SHOWN), w->offset,
                          (size_t)length, on_got, w);
}

bool cs_gate_storage(struct cs_gate_call *c)
{
    struct cs_str name = cs_buf_str(&c->name);
    bool is_get = cs_str_is(name, "storageGet");
    if (!is_get && !cs_str_is(name, "storageList"))
        return false;
    if (!c->run->runner->store)
        cs_gate_refuse(c, missing, CS_STR("nothing is kept here: there are no artifacts"),
                       CS_STR("`caisson serve` and `caisson mcp` keep them."));
    else if (is_get)
        get(c);
    else
        list(c);
    return true;
}
