/* What a replay did differently: in the result, the logs and the calls; and all of it as JSON. */
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "run/journal.h"

#define MOST        50   /* differences of a kind */
#define SHOWN_BYTES 2000 /* of a value */
#define PATH_BYTES  300
#define DEEPEST     64

struct compare {
    struct cs_json_writer *w;
    struct cs_arena *arena;
    struct cs_buf path;
    unsigned found, depth;
};

static void put_value(struct cs_json_writer *w, const char *key, struct cs_json_val v)
{
    cs_json_key(w, key);
    if (cs_json_type(v) == CS_JSON_NONE) {
        cs_json_put_null(w);
        return;
    }
    struct cs_str raw = cs_json_raw(v);
    if (raw.len <= SHOWN_BYTES) {
        cs_json_put_raw(w, raw);
        return;
    }
    CS_AUTO_BUF struct cs_buf cut = {0};
    cs_buf_putstr(&cut, cs_utf8_cut(raw, SHOWN_BYTES));
    cs_buf_printf(&cut, "… (%zu bytes in all)", raw.len);
    cs_json_put_str(w, cs_buf_str(&cut));
}

static void differ(struct compare *c, struct cs_json_val was, struct cs_json_val is)
{
    if (++c->found > MOST)
        return;
    cs_json_open(c->w, '{');
    cs_json_key(c->w, "path");
    cs_json_put_str(c->w, cs_utf8_cut(cs_buf_str(&c->path), PATH_BYTES));
    put_value(c->w, "recorded", was);
    put_value(c->w, "replayed", is);
    cs_json_close(c->w, '}');
}

static void walk(struct compare *c, struct cs_json_val was, struct cs_json_val is);

static struct cs_json_val member_of(struct cs_json_val object, struct cs_json_val key,
                                    struct cs_arena *arena)
{
    struct cs_str name = cs_json_str(key, arena);
    const struct cs_json_val none = {0};
    if (memchr(name.at ? name.at : "", 0, name.len))
        return none;
    return cs_json_get(object, cs_arena_dup(arena, name).at);
}

static void walk_member(struct compare *c, struct cs_json_val key, struct cs_json_val was,
                        struct cs_json_val is)
{
    size_t len = c->path.len;
    struct cs_str name = cs_json_str(key, c->arena);
    if (c->path.len)
        cs_buf_putc(&c->path, '.');
    cs_buf_putstr(&c->path, cs_utf8_cut(name, SHOWN_BYTES));
    /* Advice goes by the limits that the policy of today sets, and is no part of what happened. */
    if (!cs_str_is(cs_buf_str(&c->path), "error.suggestion"))
        walk(c, was, is);
    c->path.len = len;
}

static void walk_object(struct compare *c, struct cs_json_val was, struct cs_json_val is)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    while (c->found <= MOST && cs_json_next(was, &it, &key, &item))
        walk_member(c, key, item, member_of(is, key, c->arena));
    it = (struct cs_json_iter){0};
    while (c->found <= MOST && cs_json_next(is, &it, &key, &item)) {
        struct cs_json_val before = member_of(was, key, c->arena);
        if (cs_json_type(before) == CS_JSON_NONE)
            walk_member(c, key, before, item);
    }
}

static void walk_array(struct compare *c, struct cs_json_val was, struct cs_json_val is)
{
    struct cs_json_iter a = {0}, b = {0};
    size_t len = c->path.len;
    for (unsigned i = 0; c->found <= MOST; i++) {
        struct cs_json_val one = {0}, other = {0};
        bool more = cs_json_next(was, &a, NULL, &one), also = cs_json_next(is, &b, NULL, &other);
        if (!more && !also)
            return;
        cs_buf_printf(&c->path, "[%u]", i);
        walk(c, more ? one : (struct cs_json_val){0}, also ? other : (struct cs_json_val){0});
        c->path.len = len;
    }
}

static void walk(struct compare *c, struct cs_json_val was, struct cs_json_val is)
{
    enum cs_json_type a = cs_json_type(was), b = cs_json_type(is);
    if (cs_str_eq(cs_json_raw(was), cs_json_raw(is)))
        return;
    if (a != b || (a != CS_JSON_OBJECT && a != CS_JSON_ARRAY) || c->depth >= DEEPEST) {
        differ(c, was, is);
        return;
    }
    c->depth++;
    if (a == CS_JSON_OBJECT)
        walk_object(c, was, is);
    else
        walk_array(c, was, is);
    c->depth--;
}

/* [{path, recorded, replayed}] of some members of both; how many there are. */
static unsigned compare(struct cs_json_writer *w, struct cs_json_val was, struct cs_json_val is,
                        const char *const *members, size_t count)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct compare c = {.w = w, .arena = &arena};
    cs_json_open(w, '[');
    for (size_t i = 0; i < count; i++) {
        cs_buf_clear(&c.path);
        cs_buf_puts(&c.path, members[i]);
        walk(&c, cs_json_get(was, members[i]), cs_json_get(is, members[i]));
    }
    cs_json_close(w, ']');
    cs_buf_done(&c.path);
    return c.found;
}

/* --- calls: which, and how they ended --- */

static void put_call(struct cs_json_writer *w, const char *key, struct cs_json_val call)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_json_key(w, key);
    if (cs_json_type(call) == CS_JSON_NONE) {
        cs_json_put_null(w);
        return;
    }
    struct cs_str server = cs_json_str(cs_json_get(call, "server"), &arena);
    struct cs_str tool = cs_json_str(cs_json_get(call, "tool"), &arena);
    struct cs_str status = cs_json_str(cs_json_get(call, "status"), &arena);
    cs_buf_printf(&text, "%.*s.%.*s: %.*s", CS_STR_ARG(server), CS_STR_ARG(tool),
                  CS_STR_ARG(status));
    cs_json_put_str(w, cs_buf_str(&text));
}

static bool same_call(struct cs_json_val a, struct cs_json_val b)
{
    static const char *const keys[] = {"server", "tool", "status", "argument_bytes",
                                       "result_bytes"};
    for (size_t i = 0; i < CS_COUNT(keys); i++)
        if (!cs_str_eq(cs_json_raw(cs_json_get(a, keys[i])), cs_json_raw(cs_json_get(b, keys[i]))))
            return false;
    return true;
}

/* `partly`: it was ended, and the replay may have come a call further before it was. */
static unsigned compare_calls(struct cs_json_writer *w, struct cs_json_val was,
                              struct cs_json_val is, bool partly)
{
    struct cs_json_iter a = {0}, b = {0};
    unsigned found = 0;
    cs_json_open(w, '[');
    for (unsigned i = 1;; i++) {
        struct cs_json_val one = {0}, other = {0};
        bool more = cs_json_next(was, &a, NULL, &one), also = cs_json_next(is, &b, NULL, &other);
        if (!more && (partly || !also))
            break;
        if (!more)
            one = (struct cs_json_val){0};
        if (!also)
            other = (struct cs_json_val){0};
        if (more && also && same_call(one, other))
            continue;
        if (++found > MOST)
            continue;
        cs_json_open(w, '{');
        cs_json_key(w, "call");
        cs_json_put_u64(w, i);
        put_call(w, "recorded", one);
        put_call(w, "replayed", other);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    return found;
}

/* --- logs --- */

static unsigned compare_logs(struct cs_json_writer *w, struct cs_json_val was,
                             struct cs_json_val is, bool as_far_as_it_goes)
{
    struct cs_json_iter a = {0}, b = {0};
    unsigned found = 0;
    cs_json_open(w, '[');
    for (unsigned i = 1;; i++) {
        struct cs_json_val one = {0}, other = {0};
        bool more = cs_json_next(was, &a, NULL, &one), also = cs_json_next(is, &b, NULL, &other);
        if ((!more && !also) || (as_far_as_it_goes && !(more && also)))
            break;
        if (!more)
            one = (struct cs_json_val){0};
        if (!also)
            other = (struct cs_json_val){0};
        if (cs_str_eq(cs_json_raw(one), cs_json_raw(other)) || ++found > MOST)
            continue;
        cs_json_open(w, '{');
        cs_json_key(w, "line");
        cs_json_put_u64(w, i);
        put_value(w, "recorded", cs_json_get(one, "text"));
        put_value(w, "replayed", cs_json_get(other, "text"));
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    return found;
}

/* --- all of it --- */

static void put_end(struct cs_json_writer *w, const char *key, struct cs_str status,
                    const unsigned char hash[CS_SHA256])
{
    char hex[2 * CS_SHA256 + 1];
    cs_hex(hash, CS_SHA256, hex);
    cs_json_key(w, key);
    cs_json_open(w, '{');
    cs_json_key(w, "status");
    cs_json_put_str(w, status);
    cs_json_key(w, "outputs_hash");
    cs_json_put_z(w, hex);
    cs_json_close(w, '}');
}

static void put_parting(struct cs_json_writer *w, const struct cs_again_facts *f)
{
    cs_json_key(w, "diverged");
    if (!f->why.len) {
        cs_json_put_null(w);
        return;
    }
    cs_json_open(w, '{');
    cs_json_key(w, "call");
    cs_json_put_u64(w, f->call);
    cs_json_key(w, "server");
    cs_json_put_str(w, f->server);
    cs_json_key(w, "tool");
    cs_json_put_str(w, f->tool);
    cs_json_key(w, "why");
    cs_json_put_str(w, f->why);
    cs_json_close(w, '}');
}

/* The recorded world has a state before; what a program leaves is compared by its hash. */
static bool same_state(const struct cs_again_facts *f)
{
    unsigned char hash[CS_SHA256] = {0};
    if (f->state.len)
        cs_sha256(f->state, hash);
    return memcmp(hash, f->doc->state_hash, sizeof hash) == 0;
}

void cs_again_report(const struct cs_again_facts *f, struct cs_buf *report,
                     struct cs_replayed *replayed)
{
    static const char *const outputs[] = {"result", "error"};
    CS_AUTO_JSON struct cs_json then = {0}, now = {0};
    CS_AUTO_BUF struct cs_buf envelope = {0}, differences = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_json_limits limits = {.depth = 1200, .allow_duplicate = true};
    cs_envelope(f->result, &envelope);
    cs_json_parse(f->recorded, &limits, &then, NULL);
    cs_json_parse(cs_buf_str(&envelope), &limits, &now, NULL);
    struct cs_json_val was = cs_json_root(&then), is = cs_json_root(&now);
    struct cs_str status = cs_json_str(cs_json_get(was, "status"), &arena);
    struct cs_str status_now = cs_str(cs_status_name(f->result->status));
    struct cs_json_val hash = cs_json_get(cs_json_get(was, "provenance"), "outputs_hash");
    cs_hex_read(cs_json_str(hash, &arena), replayed->recorded_hash, CS_SHA256);
    memcpy(replayed->replayed_hash, f->result->provenance.outputs_hash, CS_SHA256);

    struct cs_json_writer d = CS_JSON_WRITER(&differences);
    bool partly = !f->changed && cs_journal_killed(f->doc);
    bool state = same_state(f);
    cs_json_open(&d, '{');
    cs_json_key(&d, "result");
    unsigned found = compare(&d, was, is, outputs, CS_COUNT(outputs));
    cs_json_key(&d, "logs");
    found += compare_logs(&d, cs_json_get(was, "logs"), cs_json_get(is, "logs"), partly);
    cs_json_key(&d, "calls");
    found += compare_calls(&d, cs_json_get(was, "calls"), cs_json_get(is, "calls"), partly);
    cs_json_key(&d, "state");
    cs_json_put_bool(&d, !state);
    cs_json_close(&d, '}');
    bool same_hash = memcmp(replayed->recorded_hash, replayed->replayed_hash, CS_SHA256) == 0;
    replayed->same = same_hash && !found && state && !f->why.len && cs_str_eq(status, status_now);

    struct cs_json_writer w = CS_JSON_WRITER(report);
    cs_json_open(&w, '{');
    cs_json_key(&w, "execution_id");
    cs_json_put_str(&w, f->execution);
    cs_json_key(&w, "same");
    cs_json_put_bool(&w, replayed->same);
    put_end(&w, "recorded", status, replayed->recorded_hash);
    put_end(&w, "replayed", status_now, replayed->replayed_hash);
    put_parting(&w, f);
    cs_json_key(&w, "journal_verified");
    cs_json_put_bool(&w, f->verified);
    cs_json_key(&w, "differences");
    cs_json_put_raw(&w, cs_buf_str(&differences));
    cs_json_key(&w, "envelope");
    cs_json_put_raw(&w, cs_buf_str(&envelope));
    cs_json_close(&w, '}');
}
