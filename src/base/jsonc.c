#include "base/jsonc.h"

#include <assert.h>
#include <string.h>

#define INLINE_MAX 72 /* an array of scalars that is not longer stays in one line */
#define NOWHERE    SIZE_MAX

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_line_end(struct cs_str t, size_t at)
{
    return at < t.len &&
           (t.at[at] == '\n' || (t.at[at] == '\r' && at + 1 < t.len && t.at[at + 1] == '\n'));
}

/* The place after the comment that starts at `at`; `at` if there is none, NOWHERE if it does not
 * end. A line comment ends before its line end. */
static size_t comment_end(struct cs_str t, size_t at)
{
    if (t.len - at < 2 || t.at[at] != '/')
        return at;
    if (t.at[at + 1] == '/') {
        while (at < t.len && !is_line_end(t, at))
            at++;
        return at;
    }
    if (t.at[at + 1] != '*')
        return at;
    for (at += 2; at + 1 < t.len; at++) {
        const char *star = memchr(t.at + at, '*', t.len - at - 1);
        if (!star)
            break;
        at = (size_t)(star - t.at);
        if (star[1] == '/')
            return at + 2;
    }
    return NOWHERE;
}

/* The next place that is neither white space nor a comment. */
static size_t skip(struct cs_str t, size_t at)
{
    while (at < t.len) {
        if (is_space(t.at[at])) {
            at++;
            continue;
        }
        size_t end = comment_end(t, at);
        if (end == at || end == NOWHERE)
            return at;
        at = end;
    }
    return at;
}

static size_t skip_blanks(struct cs_str t, size_t at)
{
    while (at < t.len && is_blank(t.at[at]))
        at++;
    return at;
}

/* --- reading --- */

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n' && *from != '\r')
            *from = ' ';
}

/* Makes spaces of comments, trailing commas and the byte order mark. What is wrong otherwise is
 * left for the parser to complain about. */
static void make_plain(struct cs_str t, char *plain)
{
    char before = '\0'; /* the last byte that counts */
    size_t at = 0;
    if (cs_str_starts(t, "\xEF\xBB\xBF")) {
        blank(plain, plain + 3);
        at = 3;
    }
    while (at < t.len) {
        char c = t.at[at];
        size_t end = c == '/' ? comment_end(t, at) : at;
        if (end == NOWHERE)
            return;
        if (end != at) {
            blank(plain + at, plain + end);
            at = end;
            continue;
        }
        if (c == '"') {
            for (at++; at < t.len && t.at[at] != '"'; at++)
                at += t.at[at] == '\\';
        } else if (c == ',' && before && !strchr(",:[{", before)) {
            size_t next = skip(t, at + 1);
            if (next < t.len && (t.at[next] == '}' || t.at[next] == ']'))
                plain[at] = ' ';
        }
        if (!is_space(c))
            before = c;
        at++;
    }
}

int cs_jsonc_parse(struct cs_str text, struct cs_jsonc *doc, struct cs_err *err)
{
    *doc = (struct cs_jsonc){.text = text};
    if (text.len > CS_JSONC_BYTES)
        return cs_fail(err, CS_LIMIT, "more than %u MiB", CS_JSONC_BYTES >> 20);
    cs_buf_put(&doc->plain, text.at, text.len);
    if (text.len)
        make_plain(text, doc->plain.at);
    struct cs_json_limits limits = {.bytes = CS_JSONC_BYTES, .allow_duplicate = true};
    if (cs_json_parse(cs_buf_str(&doc->plain), &limits, &doc->doc, err) < 0) {
        cs_buf_done(&doc->plain);
        return -1;
    }
    return 0;
}

void cs_jsonc_done(struct cs_jsonc *doc)
{
    cs_json_done(&doc->doc);
    cs_buf_done(&doc->plain);
}

struct cs_jsonc_place cs_jsonc_where(const struct cs_jsonc *doc, struct cs_json_val v)
{
    struct cs_jsonc_place place = {1, 1};
    size_t at = (size_t)(cs_json_raw(v).at - doc->plain.at);
    for (size_t i = 0; i < at; i++) {
        unsigned char c = (unsigned char)doc->text.at[i];
        if (c == '\n')
            place = (struct cs_jsonc_place){place.line + 1, 1};
        else
            place.column += (c & 0xC0) != 0x80; /* not for bytes that continue a character */
    }
    return place;
}

/* --- layout --- */

struct layout {
    bool block;           /* members stand on lines of their own */
    bool spaced;          /* a space after colons and commas */
    struct cs_str eol;    /* "\n" or "\r\n" */
    struct cs_str indent; /* of a member */
    struct cs_str unit;   /* one level more */
};

static void new_line(struct cs_buf *out, const struct layout *l, unsigned depth)
{
    cs_buf_putstr(out, l->eol);
    cs_buf_putstr(out, l->indent);
    for (unsigned i = 0; i < depth; i++)
        cs_buf_putstr(out, l->unit);
}

static bool is_container(struct cs_json_val v)
{
    enum cs_json_type type = cs_json_type(v);
    return type == CS_JSON_OBJECT || type == CS_JSON_ARRAY;
}

static bool fits_in_line(struct cs_json_val v)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (cs_json_count(v) == 0)
        return true;
    if (cs_json_type(v) == CS_JSON_OBJECT)
        return false;
    size_t len = 0;
    while (cs_json_next(v, &it, NULL, &item)) {
        len += cs_json_raw(item).len + 2;
        if (is_container(item) || len > INLINE_MAX)
            return false;
    }
    return true;
}

/* As deep as the parser allows, which is 128. */
static void put_value(struct cs_buf *out, const struct layout *l, struct cs_json_val v,
                      unsigned depth)
{
    if (!is_container(v)) {
        cs_buf_putstr(out, cs_json_raw(v));
        return;
    }
    bool object = cs_json_type(v) == CS_JSON_OBJECT;
    bool lines = l->block && !fits_in_line(v);
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool first = true;
    cs_buf_putc(out, object ? '{' : '[');
    while (cs_json_next(v, &it, &key, &item)) {
        if (!first)
            cs_buf_puts(out, lines || !l->spaced ? "," : ", ");
        first = false;
        if (lines)
            new_line(out, l, depth + 1);
        if (object) {
            cs_buf_putstr(out, cs_json_raw(key));
            cs_buf_puts(out, l->spaced ? ": " : ":");
        }
        put_value(out, l, item, depth + 1);
    }
    if (lines)
        new_line(out, l, depth);
    cs_buf_putc(out, object ? '}' : ']');
}

static void put_member(struct cs_buf *out, const struct layout *l, struct cs_str name,
                       struct cs_json_val value)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_put_str(&w, name);
    cs_buf_puts(out, l->spaced ? ": " : ":");
    put_value(out, l, value, 0);
}

/* --- places in the text --- */

static size_t from_of(const struct cs_jsonc *doc, struct cs_json_val v)
{
    return (size_t)(cs_json_raw(v).at - doc->plain.at);
}

static size_t end_of(const struct cs_jsonc *doc, struct cs_json_val v)
{
    return from_of(doc, v) + cs_json_raw(v).len;
}

/* Is there only white space before `at` in its line? Then where the line end before it starts. */
static bool own_line(struct cs_str t, size_t at, size_t *line_end)
{
    while (at > 0 && is_blank(t.at[at - 1]))
        at--;
    if (at == 0 || t.at[at - 1] != '\n')
        return false;
    *line_end = at - 1 - (at > 1 && t.at[at - 2] == '\r');
    return true;
}

/* Where the line ends, if only comments come before that; else NOWHERE. */
static size_t rest_of_line(struct cs_str t, size_t at)
{
    for (;;) {
        at = skip_blanks(t, at);
        if (is_line_end(t, at))
            return at;
        size_t end = at < t.len ? comment_end(t, at) : at;
        if (end == at || end == NOWHERE)
            return NOWHERE;
        at = end;
    }
}

static struct cs_str eol_at(struct cs_str t, size_t at)
{
    return t.at[at] == '\r' ? CS_STR("\r\n") : CS_STR("\n");
}

/* The white space that the line of `at` starts with. */
static struct cs_str indent_of_line(struct cs_str t, size_t at)
{
    while (at > 0 && t.at[at - 1] != '\n')
        at--;
    size_t end = skip_blanks(t, at);
    return cs_strn(t.at + at, end - at);
}

static struct cs_str deeper(struct cs_str inner, struct cs_str outer)
{
    if (inner.len > outer.len && memcmp(inner.at, outer.at, outer.len) == 0)
        return cs_strn(inner.at + outer.len, inner.len - outer.len);
    if (inner.len && inner.at[0] == '\t')
        return CS_STR("\t");
    return CS_STR("  ");
}

/* The line end and the indentation that the file uses, seen at the first member of its root. */
static struct layout of_file(const struct cs_jsonc *doc)
{
    struct layout l = {.spaced = true, .eol = CS_STR("\n"), .unit = CS_STR("  ")};
    struct cs_json_val root = cs_json_root(&doc->doc), key, item;
    struct cs_json_iter it = {0};
    size_t line_end, open = from_of(doc, root), close = end_of(doc, root) - 1;
    const char *first = memchr(doc->text.at + open, '\n', close - open);
    if (first) {
        size_t at = (size_t)(first - doc->text.at);
        l.block = true;
        l.eol = eol_at(doc->text, at > open && doc->text.at[at - 1] == '\r' ? at - 1 : at);
    }
    if (!cs_json_next(root, &it, &key, &item))
        return l;
    size_t from = from_of(doc, key);
    if (own_line(doc->text, from, &line_end))
        l.unit = deeper(indent_of_line(doc->text, from), CS_STR(""));
    if (!l.block)
        l.spaced = is_space(doc->text.at[from_of(doc, item) - 1]);
    return l;
}

/* As this member of `object` is laid out. */
static struct layout of_member(const struct cs_jsonc *doc, struct cs_json_val object,
                               struct cs_json_val key, struct cs_json_val item)
{
    struct cs_str t = doc->text;
    struct layout l = of_file(doc);
    size_t from = from_of(doc, key), line_end;
    l.block = own_line(t, from, &line_end);
    l.spaced = is_space(t.at[from_of(doc, item) - 1]);
    if (l.block) {
        l.eol = eol_at(t, line_end);
        l.indent = indent_of_line(t, from);
        l.unit = deeper(l.indent, indent_of_line(t, from_of(doc, object)));
    }
    return l;
}

/* --- changing --- */

struct splice {
    size_t from, to;
    struct cs_str with;
};

/* In the order of the text, none inside another. */
static void apply(struct cs_str t, const struct splice *splices, size_t count, struct cs_buf *out)
{
    size_t at = 0;
    cs_buf_room(out, t.len + 1024);
    for (size_t i = 0; i < count; i++) {
        assert(at <= splices[i].from && splices[i].from <= splices[i].to);
        cs_buf_put(out, t.at + at, splices[i].from - at);
        cs_buf_putstr(out, splices[i].with);
        at = splices[i].to;
    }
    cs_buf_put(out, t.at + at, t.len - at);
}

static void add_to_empty(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_str name,
                         struct cs_json_val value, struct cs_buf *out)
{
    struct cs_str t = doc->text;
    size_t open = from_of(doc, object), close = end_of(doc, object) - 1, last = open + 1;
    struct layout l = of_file(doc);
    CS_AUTO_BUF struct cs_buf indent = {0}, member = {0};
    struct cs_str outer = indent_of_line(t, open);
    cs_buf_putstr(&indent, outer);
    cs_buf_putstr(&indent, l.unit);
    l.indent = cs_buf_str(&indent);
    for (size_t at = last; at < close;) {
        size_t end = comment_end(t, at);
        at = end > at ? (last = end) : at + 1;
    }
    bool has_comment = last > open + 1;
    if (has_comment)
        l.block = memchr(t.at + last, '\n', close - last) != NULL;
    if (l.block)
        new_line(&member, &l, 0);
    else if (has_comment)
        cs_buf_putc(&member, ' ');
    put_member(&member, &l, name, value);
    if (l.block && !has_comment) {
        cs_buf_putstr(&member, l.eol);
        cs_buf_putstr(&member, outer);
    }
    struct splice one = {has_comment ? last : open + 1, has_comment ? last : close,
                         cs_buf_str(&member)};
    apply(t, &one, 1, out);
}

void cs_jsonc_add(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_str name,
                  struct cs_json_val value, struct cs_buf *out)
{
    struct cs_str t = doc->text;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item, k, v;
    if (!cs_json_next(object, &it, &key, &item)) {
        add_to_empty(doc, object, name, value, out);
        return;
    }
    while (cs_json_next(object, &it, &k, &v)) {
        key = k;
        item = v;
    }
    struct layout l = of_member(doc, object, key, item);
    size_t end = end_of(doc, item), comma = skip(t, end);
    bool trailing = t.at[comma] == ',';
    size_t after = trailing ? comma + 1 : end;
    size_t line = l.block ? rest_of_line(t, after) : NOWHERE;
    size_t place = line == NOWHERE ? after : line;

    CS_AUTO_BUF struct cs_buf member = {0};
    if (l.block)
        new_line(&member, &l, 0);
    else if (l.spaced)
        cs_buf_putc(&member, ' ');
    put_member(&member, &l, name, value);
    if (trailing)
        cs_buf_putc(&member, ',');
    struct splice two[] = {{end, end, trailing ? CS_STR("") : CS_STR(",")},
                           {place, place, cs_buf_str(&member)}};
    apply(t, two, 2, out);
}

/* Would what follows the line end at `line_end` become part of a comment without it? */
static bool line_comment_before(struct cs_str t, size_t from, size_t line_end)
{
    for (size_t at = from; at < line_end;) {
        size_t end = comment_end(t, at);
        if (end == NOWHERE)
            return false;
        if (end > at && t.at[at + 1] == '/' && end == line_end)
            return true;
        at = end > at ? end : at + 1;
    }
    return false;
}

/* Widens what is taken away over the white space that belongs to it. `before`: where the token
 * before it ends. */
static void widen(struct cs_str t, struct splice *cut, size_t before, size_t close, bool last)
{
    size_t line_end, next = skip_blanks(t, cut->to);
    bool at_line_end = is_line_end(t, next);
    if (own_line(t, cut->from, &line_end)) {
        if (at_line_end) {
            cut->from = line_end;
            cut->to = next;
        } else if (rest_of_line(t, next) == NOWHERE && skip(t, next) == close) {
            if (!line_comment_before(t, before, line_end))
                cut->from = line_end;
        } else {
            cut->to = next;
        }
        return;
    }
    if (at_line_end || last)
        while (cut->from > before && is_blank(t.at[cut->from - 1]))
            cut->from--;
    if (!last)
        cut->to = next;
}

static bool only_space(struct cs_str t, size_t from, size_t to)
{
    while (from < to && is_space(t.at[from]))
        from++;
    return from >= to;
}

void cs_jsonc_remove(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_json_val key,
                     struct cs_buf *out)
{
    struct cs_str t = doc->text;
    size_t open = from_of(doc, object), close = end_of(doc, object) - 1;
    size_t before = open + 1; /* where the member before it ends */
    struct cs_json_iter it = {0};
    struct cs_json_val k, v = object;
    bool first = true;
    while (cs_json_next(object, &it, &k, &v) && k.at != key.at) {
        before = end_of(doc, v);
        first = false;
    }
    size_t end = end_of(doc, v), comma = skip(t, end);
    bool own_comma = t.at[comma] == ',';
    bool last = own_comma ? t.at[skip(t, comma + 1)] == '}' : true;
    struct splice cuts[3];
    size_t count = 0;
    struct splice cut = {from_of(doc, key), end, CS_STR("")};
    if (own_comma && skip_blanks(t, end) == comma)
        cut.to = comma + 1;
    if (!first) {
        size_t earlier = skip(t, before);
        if (!own_comma)
            cuts[count++] = (struct splice){earlier, earlier + 1, CS_STR("")};
        before = earlier + 1;
    }
    widen(t, &cut, before, close, last);
    cuts[count++] = cut;
    if (own_comma && cut.to <= comma)
        cuts[count++] = (struct splice){comma, comma + 1, CS_STR("")};
    if (first && last && only_space(t, open + 1, cut.from) &&
        only_space(t, cuts[count - 1].to, close) && (count == 1 || only_space(t, cut.to, comma))) {
        cuts[0] = (struct splice){open + 1, close, CS_STR("")};
        count = 1;
    }
    apply(t, cuts, count, out);
}

void cs_jsonc_set(const struct cs_jsonc *doc, struct cs_json_val object, struct cs_json_val key,
                  struct cs_json_val old, struct cs_json_val value, struct cs_buf *out)
{
    struct layout l = of_member(doc, object, key, old);
    CS_AUTO_BUF struct cs_buf text = {0};
    put_value(&text, &l, value, 0);
    struct splice one = {from_of(doc, old), end_of(doc, old), cs_buf_str(&text)};
    apply(doc->text, &one, 1, out);
}

void cs_jsonc_new(struct cs_str section, struct cs_str name, struct cs_json_val value,
                  struct cs_buf *out)
{
    struct layout l = {.block = true, .spaced = true, .eol = CS_STR("\n"), .unit = CS_STR("  ")};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_buf_puts(out, "{\n  ");
    cs_json_put_str(&w, section);
    cs_buf_puts(out, ": {\n    ");
    l.indent = CS_STR("    ");
    put_member(out, &l, name, value);
    cs_buf_puts(out, "\n  }\n}\n");
}
