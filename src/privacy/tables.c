/*
 * Keys that stand above their values: columns under a header row, and columns of an INSERT.
 *
 *     a,b     a;b     a<TAB>b     | a | b |     a  b (by blanks)     (a, b) VALUES (1, 2), (3, 4)
 *     COPY t (a, b) FROM stdin;
 */
#include <strings.h>

#include "privacy/page.h"

#define COLUMNS  64
#define ROW_MAX  8192
#define HEAD_MAX 40 /* bytes of a column's name */

struct table {
    char by; /* ',', '\t', ';', '|', ' ' (two and more); 0: none */
    unsigned count;
    unsigned senses; /* columns that mean something */
    struct {
        struct cs_str key;
        struct cs_sense sense;
    } columns[COLUMNS];
};

struct cell {
    size_t start, end;
};

/* A cell between quotes: `i` goes behind it. */
static struct cell quoted_cell(const struct cs_view *view, size_t *i, size_t end)
{
    struct cell c = {++*i, end};
    while (*i < end && (view->at[*i] != '"' || cs_view_at(view, *i + 1) == '"'))
        *i += view->at[*i] == '"' ? 2 : 1;
    if (*i < end)
        c.end = *i;
    return c;
}

static bool parts(const struct cs_view *view, size_t i, char by)
{
    return view->at[i] == by && (by != ' ' || cs_view_at(view, i + 1) == ' ');
}

static size_t blanks(const struct cs_view *view, size_t i, size_t end)
{
    while (i < end && view->at[i] == ' ')
        i++;
    return i;
}

/* The cell at `i`, which goes to the sign behind it, or to the end. */
static struct cell cell(const struct cs_view *view, size_t *i, size_t end, char by)
{
    struct cell c = {*i, end};
    bool quoted = *i < end && view->at[*i] == '"' && by != ' ';
    if (quoted)
        c = quoted_cell(view, i, end);
    while (*i < end && !parts(view, *i, by))
        ++*i;
    if (!quoted && *i < end)
        c.end = *i;
    while (c.end > c.start && (view->at[c.end - 1] == ' ' || view->at[c.end - 1] == '\t'))
        c.end--;
    return c;
}

/* The cells of a line; 0: too many. */
static unsigned split(const struct cs_view *view, size_t i, size_t end, char by,
                      struct cell cells[COLUMNS])
{
    unsigned n = 0;
    i = blanks(view, i, end);
    if (by == '|' && i < end && view->at[i] == '|')
        i++;
    for (; n < COLUMNS; i++) {
        i = blanks(view, i, end);
        struct cell c = cell(view, &i, end, by);
        if (i >= end && by == '|' && c.end <= c.start && n > 0)
            return n; /* after the last bar */
        cells[n++] = c;
        if (i >= end)
            return n;
    }
    return 0;
}

static bool like_head(const struct cs_view *view, struct cell c)
{
    if (c.end - c.start > HEAD_MAX)
        return false;
    if (c.start < c.end && !cs_is_letter(view->at[c.start]) && view->at[c.start] != '#' &&
        !((unsigned char)view->at[c.start] & 0x80))
        return false;
    for (size_t i = c.start; i < c.end; i++)
        if (memchr("@:=<>{}[]\"!?", view->at[i], 12))
            return false;
    return true;
}

static size_t line_end(const struct cs_view *view, size_t i)
{
    const char *nl = i < view->len ? memchr(view->at + i, '\n', view->len - i) : NULL;
    return nl ? (size_t)(nl - view->at) : view->len;
}

/* A line that only parts others: |---|:---:|, ---+---, ===== */
static bool is_rule(const struct cs_view *view, size_t from, size_t to)
{
    unsigned lines = 0;
    for (size_t i = from; i < to; i++) {
        char c = view->at[i];
        if (c == '-' || c == '=')
            lines++;
        else if (c != '|' && c != '+' && c != ':' && c != ' ' && c != '\r')
            return false;
    }
    return lines >= 3;
}

/* Does a row of as many cells follow the line that ends at `end`? */
static bool row_follows(const struct cs_view *view, size_t end, const struct table *t)
{
    struct cell cells[COLUMNS];
    for (unsigned n = 0; n < 2; n++) {
        size_t next = line_end(view, end) + 1; /* \r\n */
        if (next >= view->len)
            return false;
        end = line_end(view, next);
        if (end - next > ROW_MAX)
            return false;
        if (!is_rule(view, next, end))
            return split(view, next, end, t->by, cells) == t->count;
    }
    return false;
}

static bool header(struct cs_view *view, size_t from, size_t to, char by, struct table *t)
{
    struct cell cells[COLUMNS];
    unsigned n = split(view, from, to, by, cells);
    t->by = by;
    t->count = n;
    if (n < 2 || !like_head(view, cells[0]) || !row_follows(view, to, t))
        return false;
    t->senses = 0;
    unsigned named = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!like_head(view, cells[i]))
            return false;
        named += cells[i].end > cells[i].start;
        t->columns[i].key = cs_strn(view->at + cells[i].start, cells[i].end - cells[i].start);
        t->columns[i].sense = cs_page_sense(view->page, t->columns[i].key);
        t->senses += t->columns[i].sense.kind != CS_PII_COUNT;
    }
    return t->senses > 0 && named > 1; /* "key," is a list's */
}

/* Two cells, of which the first is a key and the second none. */
static void pair(struct cs_view *view, size_t from, size_t to, char by)
{
    struct cell cells[COLUMNS];
    if (by == ',' || split(view, from, to, by, cells) != 2)
        return;
    struct cs_str key = cs_strn(view->at + cells[0].start, cells[0].end - cells[0].start);
    struct cs_sense sense = cs_page_sense(view->page, key);
    if (sense.kind == CS_PII_COUNT)
        return;
    /* By blanks only a secret, and of one word. */
    if (by == ' ' && (!cs_pii_secret((enum cs_pii)sense.kind) ||
                      memchr(view->at + cells[1].start, ' ', cells[1].end - cells[1].start)))
        return;
    if (cells[1].end > cells[1].start)
        cs_keyed(view, sense, key, cells[1].start, cells[1].end);
}

/* What a line could be parted by, as bits in the order of `by`. */
static unsigned signs(const struct cs_view *view, size_t from, size_t to)
{
    static const unsigned char bit[256] = {['|'] = 1, ['\t'] = 2, [';'] = 4, [','] = 8};
    unsigned seen = 0;
    for (size_t i = from; i < to; i++)
        seen |= bit[(unsigned char)view->at[i]];
    return to - from < 200 && memmem(view->at + from, to - from, "  ", 2) ? seen | 16 : seen;
}

/* A line that may be the head of a table: which one? */
static void begins(struct cs_view *view, size_t from, size_t to, struct table *t)
{
    static const char by[] = {'|', '\t', ';', ',', ' '};
    t->by = 0;
    if (to - from < 5 || to - from > 1024)
        return;
    unsigned seen = signs(view, from, to);
    for (unsigned i = 0; i < sizeof by && seen >> i; i++) {
        if (!(seen >> i & 1))
            continue;
        if (header(view, from, to, by[i], t))
            return;
        t->by = 0;
        pair(view, from, to, by[i]);
    }
}

static bool row(struct cs_view *view, size_t from, size_t to, const struct table *t)
{
    struct cell cells[COLUMNS];
    if (is_rule(view, from, to))
        return true;
    if (to - from > ROW_MAX || split(view, from, to, t->by, cells) != t->count)
        return false;
    for (unsigned i = 0; i < t->count; i++)
        if (t->columns[i].sense.kind != CS_PII_COUNT && cells[i].end > cells[i].start)
            cs_keyed(view, t->columns[i].sense, t->columns[i].key, cells[i].start, cells[i].end);
    if (t->count == 2)
        pair(view, from, to, t->by); /* under "Key  Value" */
    return true;
}

/* A line that is nothing but a key, as in forms: the value is the next line. */
static void alone(struct cs_view *view, size_t from, size_t to, size_t next)
{
    struct cell c = {from, to};
    if (to - from < 3 || next >= view->len || view->at[to - 1] == '.' || !like_head(view, c))
        return;
    struct cs_str key = cs_strn(view->at + from, to - from);
    struct cs_sense sense = cs_page_sense(view->page, key);
    if (sense.kind == CS_PII_COUNT || sense.weak || cs_pii_secret((enum cs_pii)sense.kind) ||
        memchr(key.at, ',', key.len))
        return;
    size_t end = line_end(view, next);
    if (end > next && end - next < 128 &&
        cs_page_sense(view->page, cs_strn(view->at + next, end - next)).kind == CS_PII_COUNT)
        cs_keyed(view, sense, key, next, end);
}

static bool columns(struct cs_view *view, size_t at, struct table *t);

/* "COPY public.users (id, dob) FROM stdin;": rows with tabs follow. */
static bool copy(struct cs_view *view, size_t from, size_t to, struct table *t)
{
    if (to - from < 16 || to - from > 1024 || strncasecmp(view->at + from, "copy ", 5) != 0)
        return false;
    const char *bracket = memrchr(view->at + from, ')', to - from);
    if (!bracket || !columns(view, (size_t)(bracket - view->at) + 1, t))
        return false;
    t->by = '\t';
    return true;
}

static void lines(struct cs_view *view)
{
    struct table t;
    t.by = 0;
    for (size_t i = 0; i < view->len;) {
        size_t end = line_end(view, i), stop = end;
        if (stop > i && view->at[stop - 1] == '\r')
            stop--;
        if (!t.by || !row(view, i, stop, &t)) {
            if (!copy(view, i, stop, &t))
                begins(view, i, stop, &t);
            if (!t.by && stop - i <= HEAD_MAX)
                alone(view, i, stop, end + 1);
        }
        i = end + 1;
    }
}

/* --- INSERT --- */

static size_t spaces(const struct cs_view *view, size_t i)
{
    while (i < view->len && memchr(" \t\r\n", view->at[i], 4))
        i++;
    return i;
}

/* The columns between the brackets that end before `at`. */
static bool columns(struct cs_view *view, size_t at, struct table *t)
{
    size_t low = at > 1024 ? at - 1024 : 0;
    while (at > low && memchr(" \t\r\n", view->at[at - 1], 4))
        at--;
    if (at == low || view->at[at - 1] != ')')
        return false;
    size_t end = at - 1, i = end;
    while (i > low && view->at[i - 1] != '(' && view->at[i - 1] != ')')
        i--;
    if (i == low || view->at[i - 1] != '(')
        return false;
    t->count = t->senses = 0;
    while (i < end) {
        if (t->count == COLUMNS)
            return false;
        size_t to = i;
        while (to < end && view->at[to] != ',')
            to++;
        struct cs_str key = cs_strn(view->at + i, to - i);
        t->columns[t->count].key = key;
        t->columns[t->count].sense = cs_page_sense(view->page, key);
        t->senses += t->columns[t->count++].sense.kind != CS_PII_COUNT;
        i = to + 1;
    }
    return t->senses > 0;
}

/* One value of a row, at `i`; returns where the comma or bracket behind it stands. */
static size_t value(struct cs_view *view, size_t i, struct cell *c)
{
    if (cs_view_at(view, i) == 'N' && cs_view_at(view, i + 1) == '\'')
        i++;
    char q = cs_view_at(view, i);
    if (q == '\'' || q == '"') {
        c->start = ++i;
        while (i < view->len && (view->at[i] != q || cs_view_at(view, i + 1) == q))
            i += view->at[i] == q || view->at[i] == '\\' ? 2 : 1;
        c->end = i < view->len ? i : view->len;
        return spaces(view, i + 1);
    }
    c->start = i;
    while (i < view->len && view->at[i] != ',' && view->at[i] != ')')
        i++;
    c->end = i;
    return i;
}

/* The rows behind VALUES; returns where they end. */
static size_t rows(struct cs_view *view, size_t i, const struct table *t)
{
    for (;;) {
        i = spaces(view, i);
        if (cs_view_at(view, i) != '(')
            return i;
        for (unsigned n = 0;; n++) {
            struct cell c;
            i = value(view, spaces(view, i + 1), &c);
            if (n < t->count && t->columns[n].sense.kind != CS_PII_COUNT && c.end > c.start)
                cs_keyed(view, t->columns[n].sense, t->columns[n].key, c.start, c.end);
            if (cs_view_at(view, i) != ',')
                break;
        }
        if (cs_view_at(view, i) != ')')
            return i;
        i = spaces(view, i + 1);
        if (cs_view_at(view, i) != ',')
            return i;
        i++;
    }
}

static void inserts(struct cs_view *view)
{
    struct table t;
    for (size_t i = 1; i + 8 < view->len; i++) {
        const char *v = memchr(view->at + i, ')', view->len - i);
        if (!v)
            return;
        i = spaces(view, (size_t)(v - view->at) + 1);
        if (i + 8 < view->len && strncasecmp(view->at + i, "values", 6) == 0 &&
            columns(view, i, &t))
            i = rows(view, i + 6, &t);
        i -= i > (size_t)(v - view->at) + 1; /* may be a bracket itself */
    }
}

/* --- HTML --- */

/* The next tag from `i` on: its name begins at the result; view->len: none. */
static size_t next_tag(const struct cs_view *view, size_t i)
{
    const char *tag = i < view->len ? memchr(view->at + i, '<', view->len - i) : NULL;
    return tag ? (size_t)(tag - view->at) + 1 : view->len;
}

static bool tag_is(const struct cs_view *view, size_t i, const char *name)
{
    size_t n = strlen(name);
    return view->len - i > n && strncasecmp(view->at + i, name, n) == 0 &&
           (view->at[i + n] == '>' || view->at[i + n] == ' ');
}

/* The text of a cell whose tag's name begins at `i`. */
static struct cell cell_text(const struct cs_view *view, size_t i)
{
    size_t most = view->len - i < 256 ? view->len - i : 256;
    const char *close = memchr(view->at + i, '>', most);
    size_t start = close ? (size_t)(close - view->at) + 1 : view->len, end = start;
    while (end < view->len && view->at[end] != '<')
        end++;
    while (start < end && memchr(" \t\r\n", view->at[start], 4))
        start++;
    return (struct cell){start, end};
}

/* One cell of a row: of the head, under it, or the value of the cell before. */
static void html_cell(struct cs_view *view, struct cell c, bool head, unsigned n, struct table *t)
{
    if (n >= COLUMNS)
        return;
    struct cs_str text = cs_strn(view->at + c.start, c.end - c.start);
    if (head) {
        t->columns[n].key = text;
        t->columns[n].sense = like_head(view, c) ? cs_page_sense(view->page, text) : CS_NO_SENSE;
        t->count = n + 1;
    } else if (n < t->count && t->columns[n].sense.kind != CS_PII_COUNT) {
        cs_keyed(view, t->columns[n].sense, t->columns[n].key, c.start, c.end);
    }
}

static void html(struct cs_view *view)
{
    struct table t;
    struct cell before = {0, 0};
    unsigned n = 0, row = 0;
    bool heads = false;
    t.count = 0;
    for (size_t i = next_tag(view, 0); i < view->len; i = next_tag(view, i)) {
        if (tag_is(view, i, "table")) {
            t.count = row = 0;
            heads = false;
        } else if (tag_is(view, i, "tr")) {
            n = 0;
            row++;
        } else if (tag_is(view, i, "th") || tag_is(view, i, "td")) {
            bool th = tag_is(view, i, "th");
            struct cell c = cell_text(view, i);
            heads = heads || th;
            html_cell(view, c, th || (row <= 1 && !heads), n, &t);
            if (!th && n == 1 && before.end > before.start && like_head(view, before)) {
                struct cs_str key = cs_strn(view->at + before.start, before.end - before.start);
                struct cs_sense sense = cs_page_sense(view->page, key);
                if (sense.kind != CS_PII_COUNT && c.end > c.start)
                    cs_keyed(view, sense, key, c.start, c.end);
            }
            before = n == 0 ? c : (struct cell){0, 0};
            n++;
        }
    }
}

void cs_find_tables(struct cs_view *view)
{
    if (memchr(view->at, '\n', view->len))
        lines(view);
    if (view->len > 40) {
        inserts(view);
        const char *table = memmem(view->at, view->len, "<t", 2);
        if (table)
            html(view);
    }
}
