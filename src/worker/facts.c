/*
 * FACTS: what the program and all it imports can reach, do and hide, as the compiler noted it; and
 * the same once more when it imports something while it runs, with what is new first.
 */
#include "base/json.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "worker/digest.h"
#include "worker/modules.h"

#define ENVELOPE    1024 /* bytes that are kept for what stands around the facts */
#define FILES_MOST  100u
#define PLACES_ROOM (96u << 10) /* bytes of lines */
#define PLACE_BYTES 240         /* of one line */

/* What is new comes first: of equal facts the first is listed, and of many the last are cut. */
static struct cs_module *listed(uint32_t i, bool late)
{
    struct cs_module *m = &cs_modules.modules[i];
    return m->seen == (late ? CS_MODULE_FRESH : CS_MODULE_JUDGED) ? m : NULL;
}

static bool is_listed(const struct cs_module *m)
{
    return m->seen == CS_MODULE_FRESH || m->seen == CS_MODULE_JUDGED;
}

struct listing {
    struct cs_json_writer *w;
    const struct cs_fact **seen; /* by content */
    uint32_t mask, count;
    bool truncated;
    bool late;       /* it is about what is imported while the program runs, */
    bool makes_code; /* eval, Function and the like are among what is new */
};

static uint32_t mix(uint32_t h, struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return (h ^ 0xff) * 16777619u;
}

/* Was this noted before, in this module or an earlier one? */
static bool repeated(struct listing *l, const struct cs_fact *f)
{
    uint32_t at = mix(mix(mix(2166136261u + (uint32_t)f->kind, f->name), f->via), f->key) & l->mask;
    for (const struct cs_fact *b; (b = l->seen[at]); at = (at + 1) & l->mask) {
        if (b->kind == f->kind && cs_str_eq(b->name, f->name) && cs_str_eq(b->via, f->via) &&
            cs_str_eq(b->key, f->key))
            return true;
    }
    l->seen[at] = f;
    return false;
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str s)
{
    if (s.len == 0)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, cs_utf8_cut(s, CS_FACT_NAME_BYTES));
}

static void put_fact(struct cs_json_writer *w, const struct cs_module *m, const struct cs_fact *f)
{
    static const char *const words[] = {
#define X(id, word) word,
        CS_FACTS(X)
#undef X
    };
    cs_json_open(w, '{');
    cs_json_key(w, "kind");
    cs_json_put_z(w, words[f->kind]);
    cs_json_key(w, "name");
    cs_json_put_str(w, f->name);
    cs_json_key(w, "line");
    cs_json_put_u64(w, f->line);
    cs_json_key(w, "column");
    cs_json_put_u64(w, f->column);
    put_text(w, "via", f->via);
    put_text(w, "key", f->key);
    if (m != &cs_modules.modules[0])
        put_text(w, "module", m->name);
    if (m->seen == CS_MODULE_FRESH) {
        cs_json_key(w, "late");
        cs_json_put_bool(w, true);
    }
    cs_json_close(w, '}');
}

/* Imports at run time are no matter of the engine. */
static bool makes_code(const struct cs_fact *f)
{
    return f->kind == CS_FACT_CODE && !cs_str_starts(f->name, "import");
}

static void put_module(struct listing *l, const struct cs_module *m)
{
    const struct cs_compiled *c = &m->compiled;
    struct cs_buf *out = l->w->out;
    l->truncated |= c->facts_cut;
    for (uint32_t i = 0; i < c->fact_count; i++) {
        const struct cs_fact *f = &c->facts[i];
        /* In what was written for a server every tool of it is called, and none because of that. */
        bool meant = f->kind != CS_FACT_TOOL && f->kind != CS_FACT_FLOW;
        if ((!meant && cs_module_is_generated(m)) || repeated(l, f))
            continue;
        if (l->count == CS_FACTS_MOST ||
            out->len > CS_FACTS_BYTES - ENVELOPE - 24 * CS_FACT_NAME_BYTES) {
            l->truncated = true;
            return;
        }
        l->count++;
        l->makes_code |= makes_code(f) && (!l->late || m->seen == CS_MODULE_FRESH);
        put_fact(l->w, m, f);
    }
}

static int by_path(const void *a, const void *b)
{
    const struct cs_module *x = *(const struct cs_module *const *)a;
    const struct cs_module *y = *(const struct cs_module *const *)b;
    size_t n = x->path.len < y->path.len ? x->path.len : y->path.len;
    int d = n ? memcmp(x->path.at, y->path.at, n) : 0;
    return d ? d : (x->path.len > y->path.len) - (x->path.len < y->path.len);
}

static size_t hex_of(struct cs_str text, char digits[2 * CS_DIGEST_MAX + 1])
{
    unsigned char hash[CS_DIGEST_MAX];
    size_t bytes = cs_hash(CS_STR("sha-256"), text, hash);
    for (size_t i = 0; i < bytes; i++) {
        digits[2 * i] = "0123456789abcdef"[hash[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[hash[i] & 15];
    }
    return 2 * bytes;
}

/* The SHA-256 over the SHA-256 of each text that was loaded, in the order of their paths. */
static void put_hash(struct cs_json_writer *w)
{
    CS_AUTO_FREE const struct cs_module **list = cs_calloc(cs_modules.count + 1, sizeof *list);
    CS_AUTO_BUF struct cs_buf all = {0};
    unsigned char hash[CS_DIGEST_MAX];
    size_t n = 0, bytes = 0;
    for (uint32_t i = 1; i < cs_modules.count; i++) {
        const struct cs_module *m = &cs_modules.modules[i];
        if (!m->builtin && is_listed(m))
            list[n++] = m;
    }
    if (n)
        qsort(list, n, sizeof *list, by_path);
    for (size_t i = 0; i < n; i++) {
        bytes = cs_hash(CS_STR("sha-256"), list[i]->text, hash);
        cs_buf_put(&all, hash, bytes);
    }
    char digits[2 * CS_DIGEST_MAX + 1];
    cs_json_key(w, "modules_hash");
    cs_json_put_str(w, cs_strn(digits, hex_of(cs_buf_str(&all), digits)));
}

/* --- imported files, for people --- */

/* Somebody's own text, which the person who is asked about the program does not see otherwise. */
static bool is_import(uint32_t i)
{
    const struct cs_module *m = &cs_modules.modules[i];
    return i > 0 && !m->builtin && is_listed(m) && !cs_module_is_generated(m);
}

static bool has_room(const struct cs_json_writer *w, size_t start)
{
    size_t len = w->out->len;
    return len + 2 * ENVELOPE + 6 * PLACE_BYTES + 12 * CS_FACT_NAME_BYTES < CS_FACTS_BYTES &&
           len - start < PLACES_ROOM;
}

static void put_files(struct cs_json_writer *w)
{
    uint32_t shown = 0, more = 0;
    char digits[2 * CS_DIGEST_MAX + 1];
    cs_json_key(w, "files");
    cs_json_open(w, '[');
    for (uint32_t n = 0; n < 2 * cs_modules.count; n++) {
        uint32_t i = n % cs_modules.count;
        const struct cs_module *m = listed(i, n < cs_modules.count);
        if (!m || !is_import(i))
            continue;
        if (shown == FILES_MOST || !has_room(w, w->out->len)) {
            more++;
            continue;
        }
        shown++;
        cs_json_open(w, '{');
        put_text(w, "name", m->name);
        cs_json_key(w, "bytes");
        cs_json_put_u64(w, m->text.len);
        cs_json_key(w, "lines");
        cs_json_put_u64(w, cs_lines_count(m->text, true));
        cs_json_key(w, "hash");
        cs_json_put_str(w, cs_strn(digits, hex_of(m->text, digits)));
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    if (more) {
        cs_json_key(w, "files_more");
        cs_json_put_u64(w, more);
    }
}

/* What is rarely harmless comes first, if there is no room for all. */
static bool is_grave(enum cs_fact_kind kind)
{
    return kind == CS_FACT_CODE || kind == CS_FACT_DYNAMIC || kind == CS_FACT_PROTOTYPE ||
           kind == CS_FACT_ENV || kind == CS_FACT_ESCAPE || kind == CS_FACT_INVISIBLE ||
           kind == CS_FACT_IMPORT || kind == CS_FACT_LOOP;
}

static void put_place(struct cs_json_writer *w, const struct cs_module *m, const struct cs_fact *f,
                      struct cs_str line, size_t start, size_t end)
{
    cs_json_open(w, '{');
    put_text(w, "module", m->name);
    cs_json_key(w, "line");
    cs_json_put_u64(w, f->line);
    cs_json_key(w, "column");
    cs_json_put_u64(w, f->column);
    cs_json_key(w, "text");
    cs_json_put_str(w, cs_strn(line.at + start, end - start));
    cs_json_key(w, "bytes_before");
    cs_json_put_u64(w, start);
    cs_json_key(w, "bytes_after");
    cs_json_put_u64(w, line.len - end);
    cs_json_close(w, '}');
}

/* The lines that something was noted in, in the order of the text. */
static void put_places(struct cs_json_writer *w, const struct cs_module *m, bool grave,
                       size_t first)
{
    struct cs_str rest = m->text, line = {0};
    uint32_t number = 0;
    for (uint32_t i = 0; i < m->compiled.fact_count && has_room(w, first); i++) {
        const struct cs_fact *f = &m->compiled.facts[i];
        if (is_grave(f->kind) != grave || f->line < number)
            continue;
        while (number < f->line && cs_line_next(&rest, true, &line))
            number++;
        if (number < f->line)
            return;
        size_t at = cs_line_offset(line, f->column);
        size_t start = at > PLACE_BYTES / 4 ? at - PLACE_BYTES / 4 : 0;
        size_t end = line.len - start > PLACE_BYTES ? start + PLACE_BYTES : line.len;
        put_place(w, m, f, line, cs_text_aligned(line, start), cs_text_aligned(line, end));
    }
}

static void put_imports(struct cs_json_writer *w)
{
    put_files(w);
    cs_json_key(w, "places");
    cs_json_open(w, '[');
    size_t first = w->out->len;
    for (unsigned pass = 0; pass < 4; pass++)
        for (uint32_t i = 0; i < cs_modules.count; i++)
            if (listed(i, pass < 2) && is_import(i))
                put_places(w, &cs_modules.modules[i], pass % 2 == 0, first);
    cs_json_close(w, ']');
}

static uint64_t longest_line(struct cs_str text)
{
    uint64_t longest = 0;
    for (const char *at = text.at, *end = text.at + text.len; at && at < end;) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        uint64_t n = (uint64_t)((nl ? nl : end) - at);
        longest = n > longest ? n : longest;
        at = nl ? nl + 1 : end;
    }
    return longest;
}

bool cs_modules_facts(struct cs_str imports, struct cs_buf *json)
{
    uint32_t files = 0, facts = 0;
    uint64_t longest = 0, bytes = 0;
    struct cs_json_writer writer = CS_JSON_WRITER(json), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "language");
    cs_json_put_z(w, "typescript");
    put_text(w, "imports", imports);
    for (uint32_t i = 0; i < cs_modules.count; i++) {
        const struct cs_module *m = &cs_modules.modules[i];
        if (!is_listed(m))
            continue;
        bool own = !m->builtin && !cs_module_is_generated(m);
        uint64_t line = own ? longest_line(m->text) : 0;
        bytes += own ? m->text.len : 0;
        files += !m->builtin;
        facts += m->compiled.fact_count;
        longest = line > longest ? line : longest;
    }
    struct listing l = {.w = w, .mask = 255, .late = imports.len > 0};
    while (l.mask < facts * 2)
        l.mask = l.mask * 2 + 1;
    CS_AUTO_FREE const struct cs_fact **seen = cs_calloc(l.mask + 1, sizeof *seen);
    l.seen = seen;
    cs_json_key(w, "facts");
    cs_json_open(w, '[');
    for (int late = 1; late >= 0; late--)
        for (uint32_t i = 0; i < cs_modules.count; i++)
            if (listed(i, late == 1))
                put_module(&l, &cs_modules.modules[i]);
    cs_json_close(w, ']');
    cs_json_key(w, "modules");
    cs_json_put_u64(w, files);
    cs_json_key(w, "source_bytes");
    cs_json_put_u64(w, bytes);
    put_hash(w);
    put_imports(w);
    cs_json_key(w, "longest_line");
    cs_json_put_u64(w, longest);
    if (l.truncated) {
        cs_json_key(w, "truncated");
        cs_json_put_bool(w, true);
    }
    cs_json_close(w, '}');
    return l.makes_code;
}
