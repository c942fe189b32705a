/* Calls that folding knows: texts put together, taken apart and decoded; modules asked for. */
#include "base/utf8.h"
#include "compile/fold.h"

#define REPEAT_MOST 4096 /* bytes that repeat() makes */

static const struct cs_folded nothing;

/* Bytes that a program made; what is no UTF-8 in them becomes '?'. */
static struct cs_folded text_of(char *text, size_t len, enum cs_via via)
{
    for (size_t i = 0; i < len;) {
        int n = cs_utf8_len(text + i, len - i);
        if (n < 0)
            text[i] = '?';
        i += n < 0 ? 1 : (size_t)n;
    }
    return cs_fold_text(text, len, via, false);
}

/* ---- numbers and encodings become text ---- */

struct cs_folded cs_fold_codes(struct cs_parser *p, const struct cs_folded *list, uint32_t n)
{
    char *text = cs_fold_steps(p, n) ? cs_fold_room(p, (size_t)n * 4) : NULL;
    size_t len = 0;
    for (uint32_t i = 0; i < n && text; i++) {
        double v = list[i].number;
        if (list[i].sort != FOLD_NUMBER || v < 0 || v > 0x10ffff)
            return nothing;
        uint32_t code = (uint32_t)v;
        len += cs_utf8_put(text + len, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }
    return text ? cs_fold_text(text, len, VIA_CHARCODE, false) : nothing;
}

static struct cs_folded from_codes(const struct cs_call *c)
{
    uint32_t n = cs_list_len(c->p, c->list), first = cs_list_at(c->p, c->list, 0);
    if (n == 1 && (first & CS_SPREAD)) {
        struct cs_folded v = cs_fold_node(c->p, first & ~CS_SPREAD);
        return cs_is_list(v) ? cs_fold_codes(c->p, v.list, v.len) : nothing;
    }
    if (n == 0 || !cs_fold_steps(c->p, n))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, n * sizeof *list);
    for (uint32_t i = 0; i < n; i++)
        list[i] = cs_call_arg(c, i);
    return cs_fold_codes(c->p, list, n);
}

/* String.fromCharCode.apply(null, [...]) */
static struct cs_folded from_list(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 1);
    return cs_is_list(v) ? cs_fold_codes(c->p, v.list, v.len) : nothing;
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* As lenient as those who decode it: other characters are passed over. */
static struct cs_folded base64(const struct cs_call *c, struct cs_folded v)
{
    char *text = cs_is_text(v) ? cs_fold_room(c->p, (size_t)v.len) : NULL;
    size_t len = 0;
    uint32_t bits = 0, held = 0;
    for (uint32_t i = 0; text && i < v.len && v.text[i] != '='; i++) {
        int s = sextet(v.text[i]);
        if (s < 0)
            continue;
        held = held << 6 | (uint32_t)s;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            text[len++] = (char)(held >> bits);
        }
    }
    return text ? text_of(text, len, VIA_BASE64) : nothing;
}

static int nibble(char c)
{
    char low = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static struct cs_folded hex(const struct cs_call *c, struct cs_folded v)
{
    char *text = cs_is_text(v) ? cs_fold_room(c->p, (size_t)v.len) : NULL;
    size_t len = 0;
    for (uint32_t i = 0; text && i + 1 < v.len; i += 2) {
        int high = nibble(v.text[i]), low = nibble(v.text[i + 1]);
        if (high < 0 || low < 0)
            break;
        text[len++] = (char)(high << 4 | low);
    }
    return text ? text_of(text, len, VIA_BASE64) : nothing;
}

/* %41, and for unescape %u0041. */
static struct cs_folded percent(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    char *text = cs_is_text(v) ? cs_fold_room(c->p, (size_t)v.len) : NULL;
    size_t len = 0;
    for (uint32_t i = 0; text && i < v.len;) {
        bool wide = v.len - i >= 6 && v.text[i] == '%' && v.text[i + 1] == 'u';
        uint32_t digits = wide ? 4 : 2, at = i + (wide ? 2 : 1), code = 0;
        bool good = v.text[i] == '%' && v.len - at >= digits;
        for (uint32_t k = 0; good && k < digits; k++) {
            int d = nibble(v.text[at + k]);
            good = d >= 0;
            code = code * 16 + (uint32_t)(d < 0 ? 0 : d);
        }
        if (good && wide)
            len += cs_utf8_put(text + len, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
        else
            text[len++] = good ? (char)code : v.text[i];
        i = good ? at + digits : i + 1;
    }
    return text ? text_of(text, len, cs_stranger(v.via, VIA_ESCAPE)) : nothing;
}

static struct cs_folded buffer(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0), how = cs_call_arg(c, 1);
    if (cs_is_list(v))
        return cs_fold_codes(c->p, v.list, v.len);
    if (!cs_is_text(v))
        return nothing;
    if (cs_is_text(how) && cs_str_starts(cs_strn(how.text, how.len), "base64"))
        return base64(c, v);
    if (cs_is_text(how) && cs_str_is(cs_strn(how.text, how.len), "hex"))
        return hex(c, v);
    return v;
}

/* ---- texts and lists ---- */

static struct cs_folded chars(struct cs_parser *p, struct cs_folded v)
{
    if (!cs_is_text(v) || !cs_fold_steps(p, v.len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&p->scratch, (v.len + 1) * sizeof *list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v.len; n++) {
        int size = cs_utf8_len(v.text + i, v.len - i);
        size = size < 0 ? 1 : size;
        list[n] = cs_fold_text(v.text + i, (size_t)size, (enum cs_via)v.via, false);
        i += (uint32_t)size;
    }
    return (struct cs_folded){.sort = FOLD_LIST, .via = v.via, .len = n, .list = list};
}

struct cs_folded cs_fold_chars(struct cs_parser *p, struct cs_folded v)
{
    return chars(p, v);
}

static const char *find(const char *at, const char *end, struct cs_folded what)
{
    size_t n = (size_t)(end - at);
    return what.len == 1 ? memchr(at, what.text[0], n) : memmem(at, n, what.text, what.len);
}

static struct cs_folded split(const struct cs_call *c)
{
    struct cs_folded v = c->object, by = cs_call_arg(c, 0);
    if (!cs_is_text(by))
        return nothing;
    if (by.len == 0)
        return chars(c->p, v);
    if (!cs_fold_steps(c->p, v.len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, (v.len / by.len + 1) * sizeof *list);
    uint32_t n = 0;
    const char *at = v.text, *end = v.text + v.len;
    for (;;) {
        const char *hit = find(at, end, by);
        list[n++] = cs_fold_text(at, (size_t)((hit ? hit : end) - at), (enum cs_via)v.via, false);
        if (!hit)
            break;
        at = hit + by.len;
    }
    return (struct cs_folded){.sort = FOLD_LIST, .via = v.via, .len = n, .list = list};
}

static struct cs_folded reversed(const struct cs_call *c)
{
    struct cs_folded v = c->object;
    if (!cs_is_list(v) || !cs_fold_steps(c->p, v.len))
        return nothing;
    struct cs_folded *list = cs_arena_alloc(&c->p->scratch, (v.len + 1) * sizeof *list);
    for (uint32_t i = 0; i < v.len; i++)
        list[i] = v.list[v.len - 1 - i];
    v.list = list;
    v.via = (uint8_t)cs_stranger(v.via, VIA_REVERSE);
    return v;
}

static struct cs_folded joined(const struct cs_call *c)
{
    struct cs_folded v = c->object, by = cs_call_arg(c, 0);
    if (!cs_is_list(v) || (!cs_is_text(by) && cs_list_len(c->p, c->list) > 0) ||
        !cs_fold_steps(c->p, v.len))
        return nothing;
    if (!cs_is_text(by))
        by = cs_fold_text(",", 1, VIA_PLAIN, false);
    enum cs_via via = cs_stranger(v.via, VIA_JOIN);
    size_t len = 0;
    for (uint32_t i = 0; i < v.len; i++) {
        if (!cs_is_text(v.list[i]))
            return nothing;
        len += v.list[i].len + (i ? by.len : 0);
        via = cs_stranger(v.list[i].via, via);
    }
    char *text = cs_fold_room(c->p, len), *at = text;
    for (uint32_t i = 0; text && i < v.len; i++) {
        if (i) {
            memcpy(at, by.text, by.len);
            at += by.len;
        }
        memcpy(at, v.list[i].text, v.list[i].len);
        at += v.list[i].len;
    }
    return text ? cs_fold_text(text, len, via, false) : nothing;
}

static struct cs_folded concat(const struct cs_call *c)
{
    struct cs_folded v = c->object;
    uint32_t n = cs_list_len(c->p, c->list);
    size_t len = v.len;
    enum cs_via via = cs_stranger(v.via, VIA_CONCAT);
    for (uint32_t i = 0; i < n; i++) {
        struct cs_folded a = cs_call_arg(c, i);
        if (!cs_is_text(a))
            return nothing;
        len += a.len;
        via = cs_stranger(a.via, via);
    }
    char *text = cs_fold_room(c->p, len), *at = text;
    for (uint32_t i = 0; text && i <= n; i++) {
        struct cs_folded a = i ? cs_call_arg(c, i - 1) : v;
        if (a.len)
            memcpy(at, a.text, a.len);
        at += a.len;
    }
    return text ? cs_fold_text(text, len, via, false) : nothing;
}

static struct cs_folded replaced(const struct cs_call *c, bool all)
{
    struct cs_folded v = c->object, what = cs_call_arg(c, 0), by = cs_call_arg(c, 1);
    cs_fold_regex(c->p, cs_list_at(c->p, c->list, 0) & ~CS_SPREAD, &what, &all);
    if (!cs_is_text(what) || !cs_is_text(by) || what.len == 0 || memchr(by.text, '$', by.len) ||
        !cs_fold_steps(c->p, v.len))
        return nothing;
    uint32_t hits = 0;
    const char *end = v.text + v.len, *hit;
    for (const char *at = v.text; (hits == 0 || all) && (hit = find(at, end, what));
         at = hit + what.len)
        hits++;
    size_t len = v.len - (size_t)hits * what.len + (size_t)hits * by.len;
    char *text = cs_fold_room(c->p, len), *to = text;
    const char *at = v.text;
    for (; text && hits > 0; hits--) {
        hit = find(at, end, what);
        memcpy(to, at, (size_t)(hit - at));
        to += hit - at;
        if (by.len)
            memcpy(to, by.text, by.len);
        to += by.len;
        at = hit + what.len;
    }
    if (!text)
        return nothing;
    memcpy(to, at, (size_t)(end - at));
    return text_of(text, len, cs_stranger(v.via, VIA_REPLACE));
}

static double whole(struct cs_folded v, double otherwise)
{
    return v.sort == FOLD_NUMBER ? v.number : otherwise;
}

/* slice, substring and substr with constants that count from the start. */
static struct cs_folded sliced(const struct cs_call *c, bool length)
{
    struct cs_folded v = c->object, a = cs_call_arg(c, 0), b = cs_call_arg(c, 1);
    uint32_t n = cs_list_len(c->p, c->list);
    if (v.sort == FOLD_LIST && n == 0)
        return v;
    if (!cs_is_text(v) || (n > 0 && a.sort != FOLD_NUMBER) || (n > 1 && b.sort != FOLD_NUMBER))
        return nothing;
    double first = whole(a, 0), last = n > 1 ? whole(b, 0) + (length ? first : 0) : v.len;
    size_t from = first > v.len ? v.len : (size_t)first, to = last > v.len ? v.len : (size_t)last;
    if (to <= from)
        return cs_fold_text("", 0, VIA_PLAIN, false);
    char *text = cs_fold_room(c->p, to - from);
    if (!text)
        return nothing;
    memcpy(text, v.text + from, to - from);
    return text_of(text, to - from, cs_stranger(v.via, VIA_REPLACE));
}

static struct cs_folded repeated(const struct cs_call *c)
{
    struct cs_folded v = c->object, n = cs_call_arg(c, 0);
    if (n.sort != FOLD_NUMBER || n.number < 0 || n.number > CS_FOLD_TEXT)
        return nothing;
    size_t times = (size_t)n.number;
    /* What is that long is no word that somebody hides. */
    if (times * v.len > REPEAT_MOST)
        return nothing;
    char *text = cs_fold_room(c->p, times * v.len);
    for (size_t i = 0; text && i < times && v.len; i++)
        memcpy(text + i * v.len, v.text, v.len);
    return text ? cs_fold_text(text, times * v.len, cs_stranger(v.via, VIA_CONCAT), false)
                : nothing;
}

static struct cs_folded cased(const struct cs_call *c, bool upper)
{
    struct cs_folded v = c->object;
    char *text = cs_fold_room(c->p, v.len);
    for (uint32_t i = 0; text && i < v.len; i++) {
        char ch = v.text[i], low = (char)(ch | 0x20);
        bool letter = low >= 'a' && low <= 'z';
        text[i] = !letter ? ch : upper ? (char)(ch & ~0x20) : low;
    }
    return text ? cs_fold_text(text, v.len, cs_stranger(v.via, VIA_REPLACE), false) : nothing;
}

static struct cs_folded trimmed(const struct cs_call *c)
{
    struct cs_folded v = c->object;
    if (!cs_fold_steps(c->p, v.len))
        return nothing;
    while (v.len && (unsigned char)v.text[v.len - 1] <= ' ')
        v.len--;
    while (v.len && (unsigned char)v.text[0] <= ' ') {
        v.text++;
        v.len--;
    }
    return v;
}

static struct cs_folded written(const struct cs_call *c)
{
    struct cs_folded how = cs_call_arg(c, 0);
    struct cs_str s = cs_is_text(how) ? cs_strn(how.text, how.len) : (struct cs_str){0};
    if (cs_str_starts(s, "base64") || cs_str_is(s, "hex") || how.sort == FOLD_NUMBER)
        return nothing;
    return c->object;
}

static struct cs_folded replaced_once(const struct cs_call *c)
{
    return replaced(c, false);
}

static struct cs_folded replaced_all(const struct cs_call *c)
{
    return replaced(c, true);
}

static struct cs_folded slice(const struct cs_call *c)
{
    return sliced(c, false);
}

static struct cs_folded substr(const struct cs_call *c)
{
    return sliced(c, true);
}

static struct cs_folded lower(const struct cs_call *c)
{
    return cased(c, false);
}

static struct cs_folded upper(const struct cs_call *c)
{
    return cased(c, true);
}

static struct cs_folded element(const struct cs_call *c)
{
    return cs_fold_element(c->object, cs_call_arg(c, 0));
}

static struct cs_folded last(const struct cs_call *c)
{
    double at = (double)c->object.len - 1;
    return cs_fold_element(c->object, (struct cs_folded){.sort = FOLD_NUMBER, .number = at});
}

static struct cs_folded first(const struct cs_call *c)
{
    return cs_fold_element(c->object, (struct cs_folded){.sort = FOLD_NUMBER});
}

/* (693741).toString(36) */
static struct cs_folded digits(const struct cs_call *c)
{
    struct cs_folded base = cs_call_arg(c, 0);
    char text[16], *to;
    size_t at = sizeof text;
    double v = c->object.number;
    if (base.sort != FOLD_NUMBER || base.number < 11 || base.number > 36 || v < 1 ||
        v > UINT32_MAX || !(to = cs_fold_room(c->p, sizeof text)))
        return nothing;
    for (uint32_t n = (uint32_t)v; n > 0; n /= (uint32_t)base.number)
        text[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % (uint32_t)base.number];
    memcpy(to, text + at, sizeof text - at);
    return cs_fold_text(to, sizeof text - at, VIA_CHARCODE, false);
}

static const struct {
    struct cs_str name;
    struct cs_folded (*of_text)(const struct cs_call *c);
    struct cs_folded (*of_list)(const struct cs_call *c);
} methods[] = {
    {CS_LIT("concat"), concat, cs_fold_lists},
    {CS_LIT("split"), split, NULL},
    {CS_LIT("map"), NULL, cs_fold_mapped},
    {CS_LIT("reduce"), NULL, cs_fold_reduced},
    {CS_LIT("replace"), replaced_once, NULL},
    {CS_LIT("replaceAll"), replaced_all, NULL},
    {CS_LIT("slice"), slice, slice},
    {CS_LIT("substring"), slice, NULL},
    {CS_LIT("substr"), substr, NULL},
    {CS_LIT("repeat"), repeated, NULL},
    {CS_LIT("toLowerCase"), lower, NULL},
    {CS_LIT("toUpperCase"), upper, NULL},
    {CS_LIT("trim"), trimmed, NULL},
    {CS_LIT("toString"), written, joined},
    {CS_LIT("valueOf"), written, NULL},
    {CS_LIT("normalize"), written, NULL},
    {CS_LIT("charAt"), element, NULL},
    {CS_LIT("at"), element, element},
    {CS_LIT("join"), NULL, joined},
    {CS_LIT("pop"), NULL, last},
    {CS_LIT("shift"), NULL, first},
    {CS_LIT("reverse"), NULL, reversed},
    {CS_LIT("toReversed"), NULL, reversed},
};

static struct cs_folded method(const struct cs_call *c, struct cs_str name)
{
    for (size_t i = 0; i < CS_COUNT(methods); i++) {
        if (!cs_str_eq(name, methods[i].name))
            continue;
        if (c->object.sort == FOLD_LIST)
            return methods[i].of_list ? methods[i].of_list(c) : nothing;
        return cs_is_text(c->object) && methods[i].of_text ? methods[i].of_text(c) : nothing;
    }
    return nothing;
}

/* ---- functions that everybody has ---- */

static struct cs_folded module_of(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    if (!cs_is_text(v) || v.len > CS_FACT_NAME_BYTES)
        return nothing;
    return cs_fold_root(c->p, ROOT_IMPORT, cs_intern(c->p, cs_strn(v.text, v.len)));
}

bool cs_requires(struct cs_parser *p, uint32_t link)
{
    static const char *const names[] = {"require", "module.require", "process.getBuiltinModule",
                                        "process.mainModule.require"};
    const struct cs_link *root = cs_chain_root(p, link);
    if (root->root != ROOT_FREE ||
        (root->atom != K_require && root->atom != K_module && root->atom != K_process))
        return false;
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_chain_is(p, link, names[i]))
            return true;
    }
    return false;
}

static struct cs_folded text_or_list(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    return v.sort == FOLD_TEXT || v.sort == FOLD_LIST || v.sort == FOLD_CHAIN ? v : nothing;
}

static struct cs_folded bytes(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    return cs_is_list(v) ? cs_fold_codes(c->p, v.list, v.len) : v;
}

static struct cs_folded member_of(const struct cs_call *c)
{
    struct cs_folded object = cs_call_arg(c, 0), v = cs_fold_keyed(c->p, object, cs_call_arg(c, 1));
    return v.sort == FOLD_NONE ? cs_fold_member(c->p, object, CS_PART_ANY) : v;
}

/* Object.getOwnPropertyDescriptor(x, 'y'): what holds x.y. */
static struct cs_folded described(const struct cs_call *c)
{
    struct cs_folded v = member_of(c);
    return v.sort == FOLD_CHAIN ? (struct cs_folded){.sort = FOLD_BOX, .link = v.link} : nothing;
}

static struct cs_folded prototype_of(const struct cs_call *c)
{
    return cs_fold_member(c->p, nothing, K___proto__);
}

/* Object.create(globalThis) has all that it has; others are objects of their own. */
static struct cs_folded created(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    return v.sort == FOLD_CHAIN && cs_chain_global(c->p, v.link) ? v : nothing;
}

/* Object.freeze(x) is x. */
static struct cs_folded itself(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    return v.sort == FOLD_CHAIN || v.sort == FOLD_LIST || v.sort == FOLD_DICT ? v : nothing;
}

static struct cs_folded listed(const struct cs_call *c)
{
    struct cs_folded v = cs_call_arg(c, 0);
    return v.sort == FOLD_LIST ? v : chars(c->p, v);
}

static struct cs_folded decoded(const struct cs_call *c)
{
    return base64(c, cs_call_arg(c, 0));
}

/* globalThis.valueOf() */
static struct cs_folded global(const struct cs_call *c)
{
    return cs_fold_root(c->p, ROOT_FREE, K_globalThis);
}

static struct cs_folded required(const struct cs_call *c)
{
    return cs_fold_root(c->p, ROOT_FREE, K_require);
}

static const struct {
    struct cs_str name;
    struct cs_folded (*fold)(const struct cs_call *c);
} functions[] = {
    {CS_LIT("String.fromCharCode"), from_codes},
    {CS_LIT("String.fromCodePoint"), from_codes},
    {CS_LIT("String.fromCharCode.apply"), from_list},
    {CS_LIT("String.fromCodePoint.apply"), from_list},
    {CS_LIT("String.raw"), text_or_list},
    {CS_LIT("String"), text_or_list},
    {CS_LIT("Object.freeze"), itself},
    {CS_LIT("Object.seal"), itself},
    {CS_LIT("Object.create"), created},
    {CS_LIT("Object.keys"), cs_fold_keys},
    {CS_LIT("Object.getOwnPropertyNames"), cs_fold_keys},
    {CS_LIT("Reflect.ownKeys"), cs_fold_keys},
    {CS_LIT("Object.values"), cs_fold_values},
    {CS_LIT("Object.getPrototypeOf"), prototype_of},
    {CS_LIT("Reflect.getPrototypeOf"), prototype_of},
    {CS_LIT("Object.getOwnPropertyDescriptor"), described},
    {CS_LIT("Reflect.getOwnPropertyDescriptor"), described},
    {CS_LIT("JSON.parse"), cs_fold_json},
    {CS_LIT("Map"), cs_fold_map},
    {CS_LIT("valueOf"), global},
    {CS_LIT("Object"), text_or_list},
    {CS_LIT("atob"), decoded},
    {CS_LIT("Buffer.from"), buffer},
    {CS_LIT("node:buffer.Buffer.from"), buffer},
    {CS_LIT("buffer.Buffer.from"), buffer},
    {CS_LIT("decodeURIComponent"), percent},
    {CS_LIT("decodeURI"), percent},
    {CS_LIT("unescape"), percent},
    {CS_LIT("Uint8Array"), bytes},
    {CS_LIT("Uint8Array.from"), bytes},
    {CS_LIT("Uint8Array.of"), from_codes},
    {CS_LIT("Array.from"), listed},
    {CS_LIT("Reflect.get"), member_of},
    {CS_LIT("node:module.createRequire"), required},
    {CS_LIT("module.createRequire"), required},
};

static struct cs_folded function(const struct cs_call *c, uint32_t link)
{
    struct cs_str name = cs_chain_text(c->p, link);
    for (size_t i = 0; i < CS_COUNT(functions); i++) {
        if (cs_str_eq(name, functions[i].name))
            return functions[i].fold(c);
    }
    return cs_requires(c->p, link) ? module_of(c) : nothing;
}

/* f.bind(...) is f, for our purposes. */
static bool is_itself(struct cs_parser *p, struct cs_link last)
{
    return last.up && last.atom != CS_PART_ANY && cs_str_is(p->names.at[last.atom].text, "bind");
}

/* The name of a method that is called; empty: it is none, or not constant. */
static struct cs_str method_name(struct cs_parser *p, const struct cs_node *callee)
{
    if (callee->kind == NODE_MEMBER)
        return p->names.at[callee->b].text;
    struct cs_folded key = cs_fold_node(p, callee->kind == NODE_INDEX ? callee->b : 0);
    return cs_is_text(key) ? cs_strn(key.text, key.len) : (struct cs_str){0};
}

struct cs_folded cs_fold_call(struct cs_parser *p, uint32_t node)
{
    const struct cs_node n = p->nodes.at[node], callee = p->nodes.at[n.a];
    struct cs_call c = {.p = p, .list = n.b};
    if (n.kind == NODE_IMPORT) {
        struct cs_folded v = cs_fold_node(p, n.a);
        if (!cs_is_text(v) || v.len > CS_FACT_NAME_BYTES)
            return nothing;
        return cs_fold_root(p, ROOT_IMPORT, cs_intern(p, cs_strn(v.text, v.len)));
    }
    struct cs_folded what = cs_fold_node(p, n.a);
    if (what.sort == FOLD_CHAIN) {
        struct cs_link last = p->links.at[what.link];
        if (is_itself(p, last))
            return (struct cs_folded){.sort = FOLD_CHAIN, .link = last.up};
        return function(&c, what.link);
    }
    if (what.sort == FOLD_FUNC && n.kind == NODE_CALL)
        return cs_fold_own(p, node, what.node);
    struct cs_str name = method_name(p, &callee);
    if (!name.len)
        return nothing;
    c.object = cs_fold_node(p, callee.a);
    /* new TextDecoder().decode(bytes) */
    if (c.object.sort == FOLD_NONE && cs_str_is(name, "decode"))
        return bytes(&c);
    if (c.object.sort == FOLD_NUMBER && cs_str_is(name, "toString"))
        return digits(&c);
    if (c.object.sort == FOLD_DICT && cs_str_is(name, "get"))
        return cs_fold_keyed(p, c.object, cs_call_arg(&c, 0));
    return c.object.sort == FOLD_TEXT || c.object.sort == FOLD_LIST ? method(&c, name) : nothing;
}
