/*
 * Lines of the ledger, written and read.
 *
 * Must hold, and tests name them:
 *   1. One entry is one line: no byte of it is a control character, and no character in it ends a
 *      line for anybody (U+0085, U+2028, U+2029) or turns the text around (bidi).
 *   2. Its text is canonical JSON (RFC 8785), so that it has one form and one hash.
 *   3. `prev` is the hash of the line before; of the first, 32 zero bytes.
 *   4. `seq` is one more than that of the line before.
 *   5. What a caller says cannot change the shape of a line: names are cut and escaped, data that
 * is no JSON object is replaced by its hash.
 *   6. A signature covers position, hash, time and key of a checkpoint, behind a prefix that
 *      nothing else that we sign begins with.
 *
 *   (nothing) --entry 1--> signed up to 0, head 1 --entry--> ... --checkpoint n--> signed up to n
 *                                      ^                                                |
 *                                      +------------------- entry n + 1 ----------------+
 */
#include <string.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "base/utf8.h"
#include "ledger/inside.h"

#define NAME_BYTES 128 /* of a name that stands in an entry */
#define TAIL_BYTES 17  /* "~" and 16 hex digits, where it was cut */

#define PREFIX "caisson-ledger-checkpoint/1\n"

/* --- writing --- */

/* Bytes of a character that must not be in a line although JSON lets it stand; 0: it may. DEL, C1,
 * zero width, line and paragraph separators, and what turns the text around. */
static size_t unwanted(const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    if (p[0] == 0x7F)
        return 1;
    if (p[0] == 0xC2 && n >= 2 && p[1] < 0xA0)
        return 2;
    if (n < 3)
        return 0;
    if (p[0] == 0xE2 && p[1] == 0x80)
        return (p[2] >= 0x8B && p[2] <= 0x8F) || (p[2] >= 0xA8 && p[2] <= 0xAE) ? 3 : 0;
    if (p[0] == 0xE2 && p[1] == 0x81)
        return p[2] >= 0xA6 && p[2] <= 0xA9 ? 3 : 0;
    return p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF ? 3 : 0;
}

/* The same with U+FFFD in their place; false: there are none, and nothing was appended. */
static bool clean(struct cs_str s, struct cs_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < s.len; i++) {
        size_t n = (unsigned char)s.at[i] < 0x7F ? 0 : unwanted(s.at + i, s.len - i);
        if (!n)
            continue;
        cs_buf_put(out, s.at + from, i - from);
        cs_buf_puts(out, CS_UTF8_BAD);
        from = i + n;
        i = from - 1;
    }
    if (from)
        cs_buf_put(out, s.at + from, s.len - from);
    return from != 0;
}

/* A name in quotes. One that is too long has the beginning of its hash at its end. */
static void put_name(struct cs_buf *out, struct cs_str name)
{
    CS_AUTO_BUF struct cs_buf cleaned = {0}, cut = {0};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    if (name.len > NAME_BYTES) {
        unsigned char hash[32];
        cs_sha256(name, hash);
        cs_buf_putstr(&cut, cs_utf8_cut(name, NAME_BYTES - TAIL_BYTES));
        cs_buf_putc(&cut, '~');
        cs_hex_put(&cut, hash, (TAIL_BYTES - 1) / 2);
        name = cs_buf_str(&cut);
    }
    cs_json_put_str(&w, clean(name, &cleaned) ? cs_buf_str(&cleaned) : name);
}

static void put_member(struct cs_buf *out, const char *key, struct cs_str name)
{
    if (name.len == 0)
        return;
    cs_buf_puts(out, key);
    put_name(out, name);
    cs_buf_putc(out, ',');
}

static void put_hex(struct cs_buf *out, const char *key, const unsigned char *bytes, size_t n)
{
    cs_buf_puts(out, key);
    cs_hex_put(out, bytes, n);
}

/* What stands for data that cannot stand there itself. */
static void put_stand_in(struct cs_buf *out, const char *why, struct cs_str data)
{
    unsigned char hash[32];
    cs_sha256(data, hash);
    cs_buf_printf(out, "{\"%s\":{\"bytes\":%zu,\"hash\":\"", why, data.len);
    cs_hex_put(out, hash, 32);
    cs_buf_puts(out, "\"}}");
}

static void put_data(struct cs_buf *out, struct cs_str data)
{
    CS_AUTO_BUF struct cs_buf canon = {0}, cleaned = {0};
    if (data.len == 0 || cs_str_is(data, "{}"))
        return;
    bool good = cs_canon(data, &canon, NULL) == 0 && canon.at[0] == '{';
    /* Names in it may have another order now. */
    if (good && clean(cs_buf_str(&canon), &cleaned)) {
        cs_buf_clear(&canon);
        good = cs_canon(cs_buf_str(&cleaned), &canon, NULL) == 0;
    }
    cs_buf_puts(out, "\"data\":");
    if (!good)
        put_stand_in(out, "malformed", data);
    else if (canon.len > CS_LEDGER_DATA)
        put_stand_in(out, "too_large", cs_buf_str(&canon));
    else
        cs_buf_putstr(out, cs_buf_str(&canon));
    cs_buf_putc(out, ',');
}

void cs_chain_link(void *ctx, uint64_t seq, const unsigned char prev[32], const struct cs_entry *e,
                   struct cs_buf *text, unsigned char hash[32])
{
    (void)ctx;
    size_t start = text->len;
    int64_t time = e->time < 0 ? 0 : e->time;
    cs_buf_putc(text, '{');
    put_data(text, e->data);
    put_member(text, "\"event\":", e->event.len ? e->event : CS_STR("unknown"));
    put_member(text, "\"execution\":", e->execution);
    put_hex(text, "\"prev\":\"", prev, 32);
    cs_buf_puts(text, "\",");
    put_member(text, "\"principal\":", e->principal);
    cs_buf_printf(text, "\"seq\":%llu,", (unsigned long long)seq);
    put_member(text, "\"session\":", e->session);
    put_member(text, "\"tenant\":", e->tenant);
    cs_buf_printf(text, "\"time\":%lld,\"v\":1}", (long long)time);
    cs_sha256(cs_strn(text->at + start, text->len - start), hash);
}

/* --- reading: lines that we have written, and nothing else --- */

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_hex(struct cursor *c, unsigned char *bytes, size_t n)
{
    if ((size_t)(c->end - c->at) < 2 * n || !cs_hex_read(cs_strn(c->at, 2 * n), bytes, n))
        return false;
    c->at += 2 * n;
    return true;
}

static bool take_number(struct cursor *c, uint64_t *number)
{
    const char *start = c->at;
    uint64_t n = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        n = n * 10 + (uint64_t)(*c->at - '0');
        if (n > CS_LEDGER_NUMBER)
            return false;
    }
    *number = n;
    return c->at > start && (*start != '0' || c->at == start + 1);
}

/* Up to the quote that ends it; `at` is after the one that begins it. */
static bool skip_string(struct cursor *c)
{
    for (;;) {
        c->at = cs_json_skip_plain(c->at, c->end);
        if (c->at == c->end)
            return false;
        size_t left = (size_t)(c->end - c->at);
        unsigned char byte = (unsigned char)*c->at;
        if (byte == '"')
            return true;
        if (byte == '\\') {
            if (left < 2)
                return false;
            c->at += 2;
            continue;
        }
        int n = byte < 0x80 ? 0 : cs_utf8_len(c->at, left);
        if (n <= 0)
            return false;
        c->at += n;
    }
}

static bool take_string(struct cursor *c, struct cs_str *s)
{
    const char *start = c->at;
    if (!skip_string(c) || c->at == start)
        return false;
    *s = cs_strn(start, (size_t)(c->at - start));
    c->at++;
    return true;
}

/* An object, whatever is in it: only its end matters here, as its hash is checked. */
static bool take_object(struct cursor *c, struct cs_str *s)
{
    const char *start = c->at;
    size_t depth = 0;
    if (start == c->end || *start != '{')
        return false;
    for (; c->at < c->end; c->at++) {
        char byte = *c->at;
        if (byte == '"') {
            c->at++;
            if (!skip_string(c))
                return false;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if (byte == '}' || byte == ']') {
            if (--depth == 0) {
                c->at++;
                *s = cs_strn(start, (size_t)(c->at - start));
                return true;
            }
        } else if ((signed char)byte <= 0x20) {
            return false;
        }
    }
    return false;
}

/* "key":"...", or not there at all. */
static bool maybe_name(struct cursor *c, const char *key, struct cs_str *s)
{
    *s = (struct cs_str){0};
    return !take(c, key) || (take_string(c, s) && take(c, ","));
}

bool cs_entry_read(struct cs_str line, struct cs_entry_parts *p)
{
    struct cursor c = {line.at, line.at + line.len};
    uint64_t time;
    *p = (struct cs_entry_parts){0};
    if (!take(&c, "{") ||
        (take(&c, "\"data\":") && !(take_object(&c, &p->data) && take(&c, ","))) ||
        !maybe_name(&c, "\"event\":\"", &p->event) || !p->event.len ||
        !maybe_name(&c, "\"execution\":\"", &p->execution) || !take(&c, "\"prev\":\"") ||
        !take_hex(&c, p->prev, 32) || !take(&c, "\",") ||
        !maybe_name(&c, "\"principal\":\"", &p->principal) || !take(&c, "\"seq\":") ||
        !take_number(&c, &p->seq) || !take(&c, ",") ||
        !maybe_name(&c, "\"session\":\"", &p->session) ||
        !maybe_name(&c, "\"tenant\":\"", &p->tenant) || !take(&c, "\"time\":") ||
        !take_number(&c, &time) || !take(&c, ",\"v\":1}"))
        return false;
    p->time = (int64_t)time;
    return c.at == c.end;
}

static bool same_name(struct cs_str in_line, struct cs_str column)
{
    const char *end = column.at + column.len;
    if (column.len == 0)
        return in_line.len == 0;
    if (column.len <= NAME_BYTES && cs_json_skip_plain(column.at, end) == end &&
        !memchr(column.at, 0x7F, column.len))
        return cs_str_eq(in_line, column);
    CS_AUTO_BUF struct cs_buf written = {0};
    put_name(&written, column);
    return cs_str_eq(in_line, cs_strn(written.at + 1, written.len - 2));
}

const char *cs_entry_differs(const struct cs_entry_parts *p, const struct cs_entry *columns)
{
    if (!same_name(p->event, columns->event))
        return "event";
    if (!same_name(p->execution, columns->execution))
        return "execution";
    if (!same_name(p->principal, columns->principal))
        return "principal";
    if (!same_name(p->tenant, columns->tenant))
        return "tenant";
    return p->time == columns->time ? NULL : "time";
}

/* --- checkpoints --- */

void cs_checkpoint_message(struct cs_buf *out, const struct cs_checkpoint_row *row)
{
    cs_buf_puts(out, PREFIX);
    put_hex(out, "{\"hash\":\"", row->hash, 32);
    put_hex(out, "\",\"key\":\"", row->key, 32);
    cs_buf_printf(out, "\",\"seq\":%llu,\"time\":%lld}", (unsigned long long)row->seq,
                  (long long)row->time);
}

void cs_checkpoint_put(struct cs_buf *out, const struct cs_checkpoint_row *row)
{
    put_hex(out, "{\"hash\":\"", row->hash, 32);
    put_hex(out, "\",\"key\":\"", row->key, 32);
    cs_buf_printf(out, "\",\"seq\":%llu", (unsigned long long)row->seq);
    put_hex(out, ",\"signature\":\"", row->signature, 64);
    cs_buf_printf(out, "\",\"time\":%lld}", (long long)row->time);
}

void cs_checkpoint_line(struct cs_buf *out, const struct cs_checkpoint_row *row)
{
    cs_buf_puts(out, "{\"checkpoint\":");
    cs_checkpoint_put(out, row);
    cs_buf_putc(out, '}');
}

static bool take_checkpoint(struct cursor *c, struct cs_checkpoint_row *row)
{
    uint64_t time;
    if (!take(c, "{\"hash\":\"") || !take_hex(c, row->hash, 32) || !take(c, "\",\"key\":\"") ||
        !take_hex(c, row->key, 32) || !take(c, "\",\"seq\":") || !take_number(c, &row->seq) ||
        !take(c, ",\"signature\":\"") || !take_hex(c, row->signature, 64) ||
        !take(c, "\",\"time\":") || !take_number(c, &time) || !take(c, "}"))
        return false;
    row->time = (int64_t)time;
    return true;
}

bool cs_checkpoint_read(struct cs_str line, struct cs_checkpoint_row *row)
{
    struct cursor c = {line.at, line.at + line.len};
    return take(&c, "{\"checkpoint\":") && take_checkpoint(&c, row) && take(&c, "}") &&
           c.at == c.end;
}

int cs_checkpoint_parse(struct cs_str text, struct cs_checkpoint_row *row, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf canon = {0};
    if (cs_json_parse(text, NULL, &doc, err) < 0)
        return cs_wrap(err, "the checkpoint");
    struct cs_json_val v = cs_json_get(cs_json_root(&doc), "checkpoint");
    cs_json_canon(cs_json_type(v) == CS_JSON_OBJECT ? v : cs_json_root(&doc), &canon);
    struct cursor c = {canon.at, canon.at + canon.len};
    if (!take_checkpoint(&c, row) || c.at != c.end)
        return cs_fail(err, CS_INVALID,
                       "this is no checkpoint: it is a line like {\"checkpoint\":{\"hash\":...}}, "
                       "as 'caisson audit checkpoint' prints it");
    return 0;
}

/* --- the head of an export --- */

void cs_export_head_put(struct cs_buf *out, const struct cs_export_head *h)
{
    put_hex(out, "{\"base\":{\"hash\":\"", h->base.hash, 32);
    cs_buf_printf(out, "\",\"seq\":%llu},\"caisson_ledger\":1,\"checkpoint\":",
                  (unsigned long long)h->base.seq);
    if (h->is_signed)
        cs_checkpoint_put(out, &h->checkpoint);
    else
        cs_buf_puts(out, "null");
    cs_buf_printf(out, ",\"checkpoints\":%llu,\"from\":%llu,\"head\":\"",
                  (unsigned long long)h->checkpoints, (unsigned long long)h->from);
    cs_hex_put(out, h->hash, 32);
    cs_buf_printf(out, "\",\"to\":%llu}", (unsigned long long)h->to);
}

bool cs_export_head_read(struct cs_str line, struct cs_export_head *h)
{
    struct cursor c = {line.at, line.at + line.len};
    *h = (struct cs_export_head){0};
    if (!take(&c, "{\"base\":{\"hash\":\"") || !take_hex(&c, h->base.hash, 32) ||
        !take(&c, "\",\"seq\":") || !take_number(&c, &h->base.seq) ||
        !take(&c, "},\"caisson_ledger\":1,\"checkpoint\":"))
        return false;
    h->is_signed = !take(&c, "null");
    return (!h->is_signed || take_checkpoint(&c, &h->checkpoint)) &&
           take(&c, ",\"checkpoints\":") && take_number(&c, &h->checkpoints) &&
           take(&c, ",\"from\":") && take_number(&c, &h->from) && take(&c, ",\"head\":\"") &&
           take_hex(&c, h->hash, 32) && take(&c, "\",\"to\":") && take_number(&c, &h->to) &&
           take(&c, "}") && c.at == c.end;
}
