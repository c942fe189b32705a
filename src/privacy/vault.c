/* Tokens and their values: entries, found by the one or by the other. */
#include "privacy/vault.h"

#include <openssl/rand.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "privacy/find.h"

#define FIRST_SLOTS 256

struct cs_vault *cs_vault_new(enum cs_token_style style)
{
    struct cs_vault *v = CS_NEW(struct cs_vault);
    v->style = style;
    v->names = cs_calloc(CS_PII_COUNT, sizeof *v->names);
    v->name_count = CS_PII_COUNT;
    for (unsigned i = 0; i < CS_PII_COUNT; i++) {
        v->names[i].kind = (uint8_t)i;
        snprintf(v->names[i].text, sizeof v->names[i].text, "%s", cs_pii_name((enum cs_pii)i));
    }
    v->servers = CS_NEW(struct cs_str);
    v->server_count = 1;
    /* Without randomness there is no process to speak of: libcrypto has seeded itself before. */
    if (RAND_bytes(v->key, sizeof v->key) != 1)
        abort();
    return v;
}

void cs_vault_free(struct cs_vault *v)
{
    if (!v)
        return;
    cs_locked_done(&v->locked);
    cs_known_done(&v->known);
    cs_arena_done(&v->arena);
    free(v->servers);
    free(v->names);
    free(v->by_value);
    free(v->by_token);
    free(v->entries);
    explicit_bzero(v, sizeof *v);
    free(v);
}

size_t cs_vault_count(const struct cs_vault *vault)
{
    return vault->count;
}

/* --- names and servers --- */

static int name_of(const struct cs_vault *v, struct cs_str name)
{
    for (size_t i = 0; i < v->name_count; i++)
        if (strlen(v->names[i].text) == name.len &&
            strncasecmp(v->names[i].text, name.at, name.len) == 0)
            return (int)i;
    return -1;
}

bool cs_vault_named(const void *ctx, struct cs_str name)
{
    return ctx ? name_of(ctx, name) >= 0 : cs_token_built_in(NULL, name);
}

int cs_vault_name(struct cs_vault *v, enum cs_pii kind, struct cs_str name)
{
    if (kind != CS_PII_CUSTOM)
        return (int)kind;
    int i = name_of(v, name);
    if (i >= 0)
        return i;
    if (v->name_count == CS_VAULT_NAMES || name.len == 0 || name.len > CS_TOKEN_NAME)
        return -1;
    v->names = cs_realloc(v->names, v->name_count + 1, sizeof *v->names);
    struct cs_vault_name *n = &v->names[v->name_count];
    *n = (struct cs_vault_name){.kind = (uint8_t)kind};
    memcpy(n->text, name.at, name.len);
    return (int)v->name_count++;
}

/* One too many: it has none. */
static uint16_t server_of(struct cs_vault *v, struct cs_str server)
{
    for (size_t i = 0; i < v->server_count; i++)
        if (cs_str_eq(v->servers[i], server))
            return (uint16_t)i;
    if (v->server_count == CS_VAULT_SERVERS)
        return 0;
    v->servers = cs_realloc(v->servers, v->server_count + 1, sizeof *v->servers);
    v->servers[v->server_count] = cs_arena_dup(&v->arena, server);
    return (uint16_t)v->server_count++;
}

/* --- forms --- */

static size_t fold_name(struct cs_str raw, char *to)
{
    size_t n = 0;
    bool blank = false;
    for (size_t i = 0; i < raw.len; i++) {
        unsigned char c = (unsigned char)raw.at[i];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            blank = n > 0;
            continue;
        }
        if (blank)
            to[n++] = ' ';
        blank = false;
        bool latin = i > 0 && (unsigned char)raw.at[i - 1] == 0xC3 && c >= 0x80 && c <= 0x9E;
        to[n++] = (char)((c >= 'A' && c <= 'Z') || (latin && c != 0x97) ? c | 0x20 : c);
    }
    return n;
}

size_t cs_vault_fold(enum cs_pii kind, struct cs_str raw, char *to)
{
    size_t n = 0;
    if (kind == CS_PII_PERSON)
        return fold_name(raw, to);
    if (kind == CS_PII_EMAIL) {
        for (; n < raw.len; n++)
            to[n] = (char)(raw.at[n] >= 'A' && raw.at[n] <= 'Z' ? raw.at[n] | 0x20 : raw.at[n]);
        return n;
    }
    if (kind == CS_PII_IBAN) {
        for (size_t i = 0; i < raw.len; i++)
            if (raw.at[i] != ' ')
                to[n++] =
                    (char)(raw.at[i] >= 'a' && raw.at[i] <= 'z' ? raw.at[i] & ~0x20 : raw.at[i]);
        return n;
    }
    if (kind == CS_PII_PHONE || kind == CS_PII_CREDIT_CARD || kind == CS_PII_SSN)
        for (size_t i = 0; i < raw.len; i++)
            if (cs_is_digit(raw.at[i]))
                to[n++] = raw.at[i];
    /* Digits that are none to us (of another script) make no value equal to another. */
    if (n < 4) {
        memcpy(to, raw.at, raw.len);
        n = raw.len;
    }
    return n;
}

/* Of values up to here on the stack: all but a few. */
#define SHORT 512

struct folded {
    char near[SHORT];
    char *at;
    size_t len;
};

_Static_assert(CS_PII_COUNT <= 32, "a kind has five bits");

/* What is hashed: which values may be the same at all, and then the value. */
static void fold(const struct cs_value *value, unsigned name, struct folded *f)
{
    f->at = value->raw.len + 3 <= SHORT ? f->near : cs_calloc(value->raw.len + 3, 1);
    f->at[0] = (char)name;
    f->at[1] = (char)(name >> 8);
    f->at[2] =
        (char)(value->program | value->is_number << 1 | value->exact << 2 | value->kind << 3);
    if (value->exact) {
        memcpy(f->at + 3, value->raw.at, value->raw.len);
        f->len = 3 + value->raw.len;
    } else {
        f->len = 3 + cs_vault_fold(value->kind, value->raw, f->at + 3);
    }
}

static void fold_done(struct folded *f)
{
    explicit_bzero(f->at, f->len);
    if (f->at != f->near)
        free(f->at);
}

static bool same(const struct cs_entry *e, const struct folded *f)
{
    struct cs_value value = {.kind = (enum cs_pii)e->kind,
                             .raw = e->raw,
                             .program = e->program,
                             .is_number = e->is_number,
                             .exact = e->exact};
    struct folded other;
    fold(&value, e->name, &other);
    bool is = other.len == f->len && memcmp(other.at, f->at, f->len) == 0;
    fold_done(&other);
    return is;
}

/* --- entries --- */

static size_t token_slot(const struct cs_vault *v, unsigned name, uint64_t id)
{
    uint64_t x = (id ^ (uint64_t)name << 48) * 0x9E3779B97F4A7C15u;
    return (size_t)(x >> 32) & (v->slots - 1);
}

static struct cs_entry *by_id(const struct cs_vault *v, unsigned name, uint64_t id)
{
    if (!v->slots)
        return NULL;
    for (size_t i = token_slot(v, name, id); v->by_token[i]; i = (i + 1) & (v->slots - 1)) {
        struct cs_entry *e = &v->entries[v->by_token[i] - 1];
        if (e->name == name && e->id == id)
            return e;
    }
    return NULL;
}

static struct cs_entry *by_value(const struct cs_vault *v, uint64_t hash, const struct folded *f)
{
    if (!v->slots)
        return NULL;
    for (size_t i = hash & (v->slots - 1); v->by_value[i]; i = (i + 1) & (v->slots - 1)) {
        struct cs_entry *e = &v->entries[v->by_value[i] - 1];
        if (e->hash == hash && same(e, f))
            return e;
    }
    return NULL;
}

static void place(struct cs_vault *v, size_t index)
{
    const struct cs_entry *e = &v->entries[index];
    size_t i = e->hash & (v->slots - 1), k = token_slot(v, e->name, e->id);
    while (v->by_value[i])
        i = (i + 1) & (v->slots - 1);
    while (v->by_token[k])
        k = (k + 1) & (v->slots - 1);
    v->by_value[i] = v->by_token[k] = (uint32_t)index + 1;
}

static void grow(struct cs_vault *v)
{
    if (v->count == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 32;
        v->entries = cs_realloc(v->entries, v->cap, sizeof *v->entries);
    }
    if (v->slots && v->count * 2 < v->slots)
        return;
    v->slots = v->slots ? v->slots * 2 : FIRST_SLOTS;
    free(v->by_value);
    free(v->by_token);
    v->by_value = cs_calloc(v->slots, sizeof *v->by_value);
    v->by_token = cs_calloc(v->slots, sizeof *v->by_token);
    for (size_t i = 0; i < v->count; i++)
        place(v, i);
}

/* --- replays --- */

void cs_vault_record(struct cs_vault *vault, struct cs_buf *tokens)
{
    vault->record = tokens;
    vault->records++;
}

void cs_vault_note(struct cs_vault *v, struct cs_entry *e)
{
    if (!v->record || e->recorded == v->records)
        return;
    char text[CS_TOKEN_MAX];
    e->recorded = v->records;
    cs_buf_put(v->record, text, cs_vault_text(v, e, text));
    cs_buf_putc(v->record, '\n');
}

static bool play_line(struct cs_str *rest, struct cs_token *t)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->at, '\n', rest->len);
    struct cs_str line = cs_strn(rest->at, end ? (size_t)(end - rest->at) : rest->len);
    *rest = end ? cs_strn(end + 1, rest->len - line.len - 1) : cs_strn(NULL, 0);
    if (!cs_token_next(line, 0, cs_token_any_name, NULL, t))
        *t = (struct cs_token){0};
    return true;
}

void cs_vault_play(struct cs_vault *vault, struct cs_str tokens)
{
    struct cs_token t;
    vault->play = tokens;
    vault->is_playing = tokens.len > 0;
    /* Whatever is not in the list gets a number above all that are. */
    while (play_line(&tokens, &t)) {
        int name = name_of(vault, t.name);
        if (name < 0 && t.name.len)
            name = cs_vault_name(vault, CS_PII_CUSTOM, t.name);
        if (name >= 0 && t.shape != CS_SHAPE_HASH && t.id > vault->names[name].last)
            vault->names[name].last = (uint32_t)t.id;
    }
}

/* The id that it had in the record. */
static bool played(struct cs_vault *v, unsigned name, uint64_t *id)
{
    struct cs_token t;
    if (!v->is_playing || !play_line(&v->play, &t) || t.name.len == 0 ||
        name_of(v, t.name) != (int)name || by_id(v, name, t.id))
        return false;
    *id = t.id;
    return true;
}

/* --- putting in --- */

static int fresh_id(struct cs_vault *v, unsigned name, const struct folded *f, uint64_t *id,
                    struct cs_err *err)
{
    if (v->style == CS_TOKEN_HASH) {
        /* Another key than that of the table, so that neither says anything about the other. */
        unsigned char key[sizeof v->key];
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = v->key[i] ^ 0xA5;
        *id = cs_siphash(key, cs_strn(f->at, f->len));
        while (by_id(v, name, *id))
            ++*id;
        explicit_bzero(key, sizeof key);
        return 0;
    }
    if (v->names[name].last == CS_TOKEN_NUMBER)
        return cs_fail(err, CS_LIMIT, "there are no more tokens for %s", v->names[name].text);
    *id = ++v->names[name].last;
    return 0;
}

/*
 * May it be looked for in whatever comes from the world? Not what could be an ordinary word, number
 * or date: the token in place of it would hide what is nobody's, and a reader could tell from the
 * text around it what the value must be.
 */
static bool is_telling(const struct cs_entry *e)
{
    enum { DIGIT = 1, BLANK = 2, LOWER = 4, UPPER = 8, OTHER = 16 };
    unsigned has = 0;
    for (size_t i = 0; i < e->raw.len; i++) {
        char c = e->raw.at[i];
        has |= cs_is_digit(c)         ? DIGIT
               : c == ' '             ? BLANK
               : c >= 'a' && c <= 'z' ? LOWER
               : !cs_is_letter(c)     ? OTHER
               : i > 0                ? UPPER
                                      : 0u;
    }
    if (e->program || e->raw.len < CS_KNOWN_BYTES || e->kind == CS_PII_LITERAL ||
        e->kind == CS_PII_DATE_OF_BIRTH)
        return false;
    if (has == DIGIT)
        return e->raw.len > CS_KNOWN_BYTES;
    if (e->kind == CS_PII_PERSON)
        return has & BLANK;
    if (e->kind == CS_PII_ADDRESS)
        return (has & BLANK) && (has & DIGIT);
    return e->kind == CS_PII_CUSTOM || (has & (DIGIT | OTHER)) || has == (UPPER | LOWER);
}

static struct cs_entry *add(struct cs_vault *v, const struct cs_value *value, unsigned name,
                            uint64_t hash, uint64_t id)
{
    grow(v);
    char *raw = cs_locked_alloc(&v->locked, value->raw.len);
    memcpy(raw, value->raw.at, value->raw.len);
    struct cs_entry *e = &v->entries[v->count];
    *e = (struct cs_entry){
        .hash = hash,
        .id = id,
        .raw = cs_strn(raw, value->raw.len),
        .name = (uint16_t)name,
        .server = server_of(v, value->server),
        .kind = (uint8_t)value->kind,
        .program = value->program,
        .is_number = value->is_number,
        .exact = value->exact,
    };
    place(v, v->count++);
    if (is_telling(e))
        cs_known_add(&v->known, e->raw, (uint32_t)v->count - 1);
    return e;
}

static int room(const struct cs_vault *v, const struct cs_value *value, struct cs_err *err)
{
    if (v->count >= CS_VAULT_ENTRIES || value->raw.len > CS_VAULT_BYTES - v->locked.bytes)
        return cs_fail(err, CS_LIMIT,
                       "there are more personal values and secrets than one session may have (%u, "
                       "%u MiB): ask the tools for less at once, or begin a new session",
                       CS_VAULT_ENTRIES, CS_VAULT_BYTES >> 20);
    return 0;
}

struct cs_entry *cs_vault_put(struct cs_vault *v, const struct cs_value *value, bool *fresh,
                              struct cs_err *err)
{
    int name = cs_vault_name(v, value->kind, value->name);
    if (name < 0) {
        cs_fail(err, CS_LIMIT, "there are more patterns of one's own than tokens can have names");
        return NULL;
    }
    struct folded f;
    fold(value, (unsigned)name, &f);
    uint64_t hash = cs_siphash(v->key, cs_strn(f.at, f.len)), id = 0;
    struct cs_entry *e = by_value(v, hash, &f);
    *fresh = !e;
    if (!e && room(v, value, err) == 0 &&
        ((value->program && played(v, (unsigned)name, &id)) ||
         fresh_id(v, (unsigned)name, &f, &id, err) == 0))
        e = add(v, value, (unsigned)name, hash, id);
    fold_done(&f);
    return e;
}

int cs_vault_put_as(struct cs_vault *v, const struct cs_value *value, uint64_t id,
                    struct cs_err *err)
{
    int name = cs_vault_name(v, value->kind, value->name);
    if (name < 0 || by_id(v, (unsigned)name, id))
        return cs_fail(err, CS_INVALID, "a token is there twice");
    if (room(v, value, err) < 0)
        return -1;
    struct folded f;
    fold(value, (unsigned)name, &f);
    add(v, value, (unsigned)name, cs_siphash(v->key, cs_strn(f.at, f.len)), id);
    fold_done(&f);
    if (v->style != CS_TOKEN_HASH && id > v->names[name].last)
        v->names[name].last = (uint32_t)id;
    return 0;
}

/* --- tokens --- */

size_t cs_vault_text(const struct cs_vault *v, const struct cs_entry *e, char text[CS_TOKEN_MAX])
{
    return cs_token_write(v->style, cs_str(v->names[e->name].text), e->id, text);
}

struct cs_entry *cs_vault_of(const struct cs_vault *v, const struct cs_token *t)
{
    static const bool fits[][CS_SHAPE_BARE + 1] = {
        [CS_TOKEN_BRACKET] =
            {[CS_SHAPE_BRACKET] = true, [CS_SHAPE_PERCENT] = true, [CS_SHAPE_BARE] = true},
        [CS_TOKEN_UNDERSCORE] = {[CS_SHAPE_UNDERSCORE] = true},
        [CS_TOKEN_HASH] = {[CS_SHAPE_HASH] = true},
    };
    int name = v ? name_of(v, t->name) : -1;
    return name >= 0 && fits[v->style][t->shape] ? by_id(v, (unsigned)name, t->id) : NULL;
}
