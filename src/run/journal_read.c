/*
 * A journal as it is read: records, one after the other. It comes from our own store, but is read
 * as if it did not: every length is checked, every number has its bounds.
 */
#include "base/mem.h"
#include "run/journal_in.h"

/* --- keys and their numbers: open addressing, and the keys are hashes already --- */

static size_t first_slot(const struct cs_keymap *t, const unsigned char key[32])
{
    uint64_t n;
    memcpy(&n, key, sizeof n);
    return (size_t)n & (t->cap - 1);
}

static struct cs_keymap_row *find_row(struct cs_keymap *t, const unsigned char key[32])
{
    size_t i = first_slot(t, key);
    while (t->rows[i].value && memcmp(t->rows[i].key, key, 32) != 0)
        i = (i + 1) & (t->cap - 1);
    return &t->rows[i];
}

static void grow(struct cs_keymap *t)
{
    struct cs_keymap old = *t;
    t->cap = old.cap ? 2 * old.cap : 16;
    t->rows = cs_calloc(t->cap, sizeof *t->rows);
    for (size_t i = 0; i < old.cap; i++)
        if (old.rows[i].value)
            *find_row(t, old.rows[i].key) = old.rows[i];
    free(old.rows);
}

uint32_t cs_keymap_get(const struct cs_keymap *t, const unsigned char key[32])
{
    return t->cap ? find_row((struct cs_keymap *)t, key)->value : 0;
}

uint32_t *cs_keymap_at(struct cs_keymap *t, const unsigned char key[32])
{
    if (2 * (t->count + 1) > t->cap)
        grow(t);
    struct cs_keymap_row *row = find_row(t, key);
    if (!row->value) {
        memcpy(row->key, key, 32);
        t->count++; /* at worst it grows too early */
    }
    return &row->value;
}

void cs_keymap_done(struct cs_keymap *t)
{
    free(t->rows);
    *t = (struct cs_keymap){0};
}

/* --- fields --- */

struct reader {
    struct cs_str body;
    bool ok;
};

static uint8_t take_u8(struct reader *r, uint8_t most)
{
    uint8_t v = 0;
    r->ok = r->ok && cs_field_u8(&r->body, &v) && v <= most;
    return r->ok ? v : 0;
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t v = 0;
    r->ok = r->ok && cs_field_u32(&r->body, &v);
    return v;
}

static uint64_t take_u64(struct reader *r)
{
    uint64_t v = 0;
    r->ok = r->ok && cs_field_u64(&r->body, &v);
    return v;
}

static struct cs_str take_str(struct reader *r)
{
    struct cs_str s = {0};
    r->ok = r->ok && cs_field_str(&r->body, &s);
    return r->ok ? s : (struct cs_str){0};
}

static void take_hash(struct reader *r, unsigned char hash[32])
{
    struct cs_str s = take_str(r);
    r->ok = r->ok && s.len == 32;
    if (r->ok)
        memcpy(hash, s.at, 32);
}

static void take_ref(struct reader *r, struct cs_journal_ref *ref)
{
    ref->is_blob = take_u8(r, 1);
    if (!ref->is_blob) {
        ref->text = take_str(r);
        ref->size = ref->text.len;
        return;
    }
    ref->size = take_u64(r);
    r->ok = r->ok && ref->size <= CS_FILE_MAX;
    take_hash(r, ref->hash);
}

static int64_t take_time(struct reader *r)
{
    uint64_t v = take_u64(r);
    r->ok = r->ok && v < INT64_MAX;
    return (int64_t)v;
}

/* --- records --- */

static void read_request(struct reader *r, struct cs_journal_doc *doc)
{
    doc->language = (enum cs_language)take_u8(r, CS_NODE);
    doc->clock = (enum cs_clock)take_u8(r, CS_CLOCK_LIVE);
    doc->cache = (enum cs_cache_mode)take_u8(r, CS_CACHE_REFRESH);
    doc->durable = take_u8(r, 1);
    take_ref(r, &doc->texts[CS_TEXT_CODE]);
    take_ref(r, &doc->texts[CS_TEXT_INPUTS]);
    doc->principal = take_str(r);
    doc->session = take_str(r);
    doc->intent = take_str(r);
    doc->actor_type = take_str(r);
    doc->limits = cs_limits_default();
    uint32_t count = take_u32(r);
    for (uint32_t i = 0; i < count && r->ok; i++) {
        uint64_t value = take_u64(r);
        if (r->ok && i < CS_LIMIT_COUNT)
            cs_limit_set(&doc->limits, (enum cs_limit)i, value);
    }
}

static void read_begin(struct reader *r, struct cs_journal_doc *doc)
{
    doc->begun = true;
    doc->seed[0] = take_u64(r);
    doc->seed[1] = take_u64(r);
    doc->start_us = take_time(r);
    doc->has_state = take_u8(r, 1);
    doc->state_bytes = take_u64(r);
    take_ref(r, &doc->texts[CS_TEXT_STATE]);
    take_ref(r, &doc->texts[CS_TEXT_GLOBALS]);
}

static void read_event(struct reader *r, struct cs_journal_event *e)
{
    e->what = (enum cs_heard_kind)take_u8(r, CS_HEARD_START);
    take_hash(r, e->key);
    e->occurrence = take_u32(r);
    e->call = take_u32(r);
    e->server = take_str(r);
    e->tool = take_str(r);
    e->time_us = take_time(r);
    if (e->kind == CS_JOURNAL_SENT)
        return;
    e->status = (enum cs_call_status)take_u8(r, CS_CALL_CANCELLED);
    if (e->kind == CS_JOURNAL_ASKED) {
        e->size = take_u64(r);
        return;
    }
    e->answer = (enum cs_answer)take_u8(r, CS_ANSWER_TEXT);
    e->canonical = take_str(r);
    struct cs_journal_ref ref = {0};
    take_ref(r, &ref);
    e->payload = ref.text;
    e->is_blob = ref.is_blob;
    e->size = ref.size;
    memcpy(e->hash, ref.hash, sizeof e->hash);
}

static void read_end(struct reader *r, struct cs_journal_doc *doc)
{
    doc->ended = true;
    doc->how = (enum cs_ending)take_u8(r, CS_ENDED_FAILED);
    doc->limit = (enum cs_limit)take_u8(r, CS_LIMIT_COUNT - 1);
    doc->scratch_full = take_u8(r, 1);
    doc->end_us = take_time(r);
    take_hash(r, doc->state_hash);
}

static void read_privacy(struct reader *r, struct cs_journal_doc *doc)
{
    doc->is_protected = true;
    doc->level = (enum cs_privacy_level)take_u8(r, CS_PRIVACY_HIGH);
    doc->asked = (enum cs_privacy_level)take_u8(r, CS_PRIVACY_HIGH);
}

static bool read_record(uint8_t type, struct cs_str body, struct cs_journal_doc *doc)
{
    struct reader r = {body, true};
    switch (type) {
    case CS_RECORD_REQUEST:
        read_request(&r, doc);
        break;
    case CS_RECORD_BEGIN:
        read_begin(&r, doc);
        break;
    case CS_RECORD_HEARD:
    case CS_RECORD_SENT:
    case CS_RECORD_ASKED:
        doc->events[doc->count].kind = (enum cs_journal_kind)(type - CS_RECORD_HEARD);
        read_event(&r, &doc->events[doc->count]);
        doc->count++;
        break;
    case CS_RECORD_END:
        read_end(&r, doc);
        break;
    case CS_RECORD_PRIVACY:
        read_privacy(&r, doc);
        break;
    case CS_RECORD_MADE:
        doc->made = take_str(&r);
        break;
    default:
        return false;
    }
    return r.ok && !r.body.len;
}

/* A record: u8 type, u32 length, body. */
static bool next_record(struct cs_str *bytes, uint8_t *type, struct cs_str *body)
{
    return cs_field_u8(bytes, type) && cs_field_str(bytes, body);
}

static bool is_event(uint8_t type)
{
    return type >= CS_RECORD_HEARD && type <= CS_RECORD_ASKED;
}

static int read_all(struct cs_str bytes, struct cs_journal_doc *doc, struct cs_err *err)
{
    struct cs_str rest = bytes, body;
    uint8_t type = 0, first = 0;
    size_t events = 0, n = 0;
    while (rest.len && next_record(&rest, &type, &body))
        events += is_event(type);
    doc->events = cs_arena_alloc(&doc->arena, (events + 1) * sizeof *doc->events);
    for (rest = bytes; rest.len; n++) {
        size_t at = bytes.len - rest.len;
        if (!next_record(&rest, &type, &body))
            return cs_fail(err, CS_INVALID, "the journal is cut off at byte %zu", at);
        first = n ? first : type;
        if (first != CS_RECORD_VERSION || (n == 1 && type != CS_RECORD_REQUEST))
            return cs_fail(err, CS_INVALID, "this is no journal");
        if (!n && !cs_str_is(body, CS_JOURNAL_VERSION))
            return cs_fail(err, CS_INVALID, "the journal is of a version that is not known here");
        if (n && !read_record(type, body, doc))
            return cs_fail(err, CS_INVALID, "the journal is damaged at byte %zu", at);
    }
    return n > 1 ? 0 : cs_fail(err, CS_INVALID, "the journal is empty");
}

int cs_journal_read(struct cs_str bytes, struct cs_journal_doc *doc, struct cs_err *err)
{
    *doc = (struct cs_journal_doc){0};
    if (read_all(bytes, doc, err) == 0)
        return 0;
    cs_journal_doc_done(doc);
    return -1;
}

void cs_journal_doc_done(struct cs_journal_doc *doc)
{
    cs_arena_done(&doc->arena);
    *doc = (struct cs_journal_doc){0};
}

/* --- texts of the head that are blobs --- */

struct loading {
    struct cs_store *store;
    struct cs_journal_doc *doc;
    unsigned at;
    void (*then)(void *ctx, const struct cs_err *err);
    void *ctx;
};

static void load_next(struct loading *l);

static void on_loaded(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                      struct cs_str content)
{
    struct loading *l = ctx;
    struct cs_journal_ref *ref = &l->doc->texts[l->at];
    (void)hash;
    if (err->code != CS_OK) {
        struct cs_err why = *err;
        cs_wrap(&why, "a part of the journal");
        l->then(l->ctx, &why);
        free(l);
        return;
    }
    ref->text = cs_arena_dup(&l->doc->arena, content);
    ref->is_blob = false;
    load_next(l);
}

static void load_next(struct loading *l)
{
    static const struct cs_err none;
    while (l->at < CS_TEXT_COUNT && !l->doc->texts[l->at].is_blob)
        l->at++;
    if (l->at < CS_TEXT_COUNT) {
        const struct cs_journal_ref *ref = &l->doc->texts[l->at];
        cs_store_blob_get(l->store, ref->hash, (size_t)ref->size, on_loaded, l);
        return;
    }
    l->then(l->ctx, &none);
    free(l);
}

void cs_journal_load(struct cs_store *store, struct cs_journal_doc *doc,
                     void (*then)(void *ctx, const struct cs_err *err), void *ctx)
{
    struct loading *l = CS_NEW(struct loading);
    *l = (struct loading){store, doc, 0, then, ctx};
    load_next(l);
}
