/*
 * A message is cut into views, and hits of views become spans of the message.
 *
 * JSON is read by a lexer that builds nothing: it knows where strings begin and end, and which key
 * it has seen last at each depth. What is no JSON, from there on, is looked at as text, so that a
 * message that is cut off or has JSON in it only here and there is looked at in full.
 */
#include "base/mem.h"
#include "base/regex.h"
#include "privacy/page.h"

#define DEPTH   64 /* keys are known down to here */
#define COLUMNS 32

/* What a list is, besides a list of values. */
enum list {
    PLAIN,
    HEAD, /* names of columns */
    ROW,  /* under them */
};

struct lexer {
    struct cs_page *page;
    const char *at;
    const struct cs_block *blocks;
    size_t i, end;
    size_t done; /* everything before has been looked at */
    unsigned depth;
    struct frame {
        struct cs_str key;
        struct cs_sense sense;
        bool object;
        uint8_t list;   /* enum list */
        uint8_t column; /* the index in a list, up to COLUMNS */
    } frames[DEPTH];
    struct cs_str key; /* of the value to come */
    struct cs_sense sense;
    enum cs_key_role role;
    struct cs_str name; /* {"name": "DB_PASSWORD", "value": ...} */
    /* [["id", "dob"], [1, "1980-02-03"]], or the names under a key of their own */
    struct {
        struct cs_str keys[COLUMNS];
        struct cs_sense senses[COLUMNS];
        unsigned count;
        bool some; /* one of them means something */
    } columns;
};

void cs_spans_done(struct cs_spans *spans)
{
    free(spans->at);
    *spans = (struct cs_spans){0};
}

struct cs_name_memory **cs_page_names(struct cs_page *page)
{
    return &page->names;
}

/* --- views --- */

/* Is all of it something already, that is no secret? Secrets may be something more special. */
static bool is_settled(const struct cs_view *view)
{
    const struct cs_hits *hits = &view->page->hits;
    return hits->count == 1 && hits->at[0].start == 0 && hits->at[0].end == view->len &&
           !cs_pii_secret((enum cs_pii)hits->at[0].kind);
}

#define DULL_LEAST 8
#define DULL_MOST  256

/* Where it is kept whether there was nothing in this value; NULL: nowhere. */
static struct cs_dull *dull_of(const struct cs_view *view)
{
    if (!view->is_value || view->len < DULL_LEAST || view->len > DULL_MOST ||
        view->sense.kind != CS_PII_COUNT)
        return NULL;
    uint64_t h = view->len, part;
    for (size_t i = 0; i + 8 <= view->len; i += 8) {
        memcpy(&part, view->at + i, 8);
        h = (h ^ part) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    memcpy(&part, view->at + view->len - 8, 8);
    h = (h ^ part) * 0x9E3779B97F4A7C15u;
    return &view->page->dull[(h >> 40) % CS_DULL_KEPT];
}

static bool is_dull(const struct cs_dull *d, const struct cs_view *view)
{
    const struct cs_page *page = view->page;
    return d->text.len == view->len && d->layer == page->top &&
           d->made == page->layers[page->top].made && cs_str_eq(d->key, view->key) &&
           memcmp(d->text.at, view->at, view->len) == 0;
}

/* All but names. True: it is done. */
static bool look_for_all(struct cs_view *view, size_t offset)
{
    struct cs_page *page = view->page;
    struct cs_dull *d = dull_of(view);
    if (d && is_dull(d, view))
        return false;
    if (page->customs)
        cs_find_custom(page->detector, view);
    if (view->sense.kind != CS_PII_COUNT) {
        cs_keyed(view, view->sense, view->key, 0, view->len);
        if (is_settled(view))
            return true;
    }
    page->secret_end = 0;
    cs_find_anchors(view, offset);
    /* A string without escapes has no lines. */
    if (!view->is_value || (page->top > 0 && view->at == page->layers[page->top].at))
        cs_find_tables(view);
    if (d && page->hits.count == 0)
        *d = (struct cs_dull){cs_strn(view->at, view->len), view->key, page->top,
                              page->layers[page->top].made};
    return false;
}

static void look(struct cs_view *view, size_t offset, bool is_number, bool is_key)
{
    struct cs_page *page = view->page;
    if (!look_for_all(view, offset) && !is_number && (page->kinds & (1u << CS_PII_PERSON))) {
        cs_page_settle(page);
        cs_find_names(view);
    }
    if (page->hits.count)
        cs_page_flush(page, offset, is_number, is_key);
}

static void scan_json(struct cs_page *page, size_t from, size_t to);

/* [from, to) of the top layer. */
static void look_at(struct cs_page *page, size_t from, size_t to, const struct lexer *under,
                    bool is_number, bool is_key)
{
    struct cs_view view = {.at = page->layers[page->top].at + from,
                           .len = to - from,
                           .sense = CS_NO_SENSE,
                           .level = page->level,
                           .page = page};
    if (under) {
        view.is_value = true;
        view.key = under->key;
        view.sense = under->sense;
    }
    look(&view, from, is_number, is_key);
}

static bool like_json(const char *at, size_t len)
{
    while (len && (at[0] == ' ' || at[0] == '\n' || at[0] == '\r' || at[0] == '\t')) {
        at++;
        len--;
    }
    return len > 1 && (at[0] == '{' || at[0] == '[') && memchr(at, '"', len);
}

/* A text, or the inside of a string, that may hold escapes. */
static void scan_text(struct cs_page *page, size_t from, size_t to, const struct lexer *under,
                      bool is_key)
{
    bool pushed = cs_page_folds(page, from, to) && cs_page_push(page, from, to, false);
    if (pushed)
        look_at(page, 0, page->layers[page->top].len, under, false, is_key);
    else
        look_at(page, from, to, under, false, is_key);
    if (pushed)
        cs_page_pop(page);
}

static void scan_inside(struct cs_page *page, size_t from, size_t to, const struct lexer *under,
                        bool is_key)
{
    const char *at = page->layers[page->top].at;
    if (!is_key && like_json(at + from, to - from))
        scan_json(page, from, to);
    else
        scan_text(page, from, to, under, is_key);
}

/* The inside of a JSON string; `escapes`: are there any? */
static void scan_string(struct cs_page *page, size_t from, size_t to, bool escapes,
                        const struct lexer *under, bool is_key)
{
    if (!escapes) {
        scan_text(page, from, to, under, is_key);
        return;
    }
    if (!cs_page_push(page, from, to, true)) {
        look_at(page, from, to, under, false, is_key);
        return;
    }
    scan_inside(page, 0, page->layers[page->top].len, under, is_key);
    cs_page_pop(page);
}

/* --- JSON --- */

/* The end of the string that begins at `i`, or where the text ends. */
static size_t string_end(const struct lexer *l, size_t i, bool *escapes)
{
    *escapes = false;
    for (;;) {
        i = CS_BLOCK_NEXT(l->blocks, quote, CS_SET, i, l->end);
        if (i == l->end || l->at[i] == '"')
            return i;
        *escapes = true;
        i += 2;
        if (i > l->end)
            return l->end;
    }
}

static size_t blanks(const char *at, size_t i, size_t end)
{
    while (i < end && (at[i] == ' ' || at[i] == '\n' || at[i] == '\r' || at[i] == '\t'))
        i++;
    return i;
}

static struct frame *frame(struct lexer *l)
{
    return l->depth && l->depth <= DEPTH ? &l->frames[l->depth - 1] : NULL;
}

/* {"dob": {"$date": "1980-02-03"}}, {"phones": [{"type": "home", "number": "..."}]}: the key that
 * says it is that of the object. */
static bool is_inner(const struct lexer *l, const struct frame *f)
{
    if (l->sense.kind != CS_PII_COUNT || !f || f->sense.kind == CS_PII_COUNT)
        return false;
    return l->role == CS_KEY_VALUE || (l->role == CS_KEY_INNER && !f->sense.weak &&
                                       !cs_pii_secret((enum cs_pii)f->sense.kind));
}

/* What the value to come stands under: its key, the name that was given before, or the key of its
 * object. */
static void under(struct lexer *l, struct cs_str key)
{
    const struct frame *f = frame(l);
    const struct cs_kept_key *k = cs_page_key(l->page, key);
    l->key = key;
    l->sense = k->sense;
    l->role = (enum cs_key_role)k->role;
    if (l->role == CS_KEY_VALUE && l->name.len && l->sense.kind == CS_PII_COUNT) {
        l->key = l->name;
        l->sense = cs_page_sense(l->page, l->name);
    } else if (is_inner(l, f)) {
        l->key = f->key;
        l->sense = f->sense;
    }
}

/* A name of a column. */
static void column(struct lexer *l, struct cs_str name)
{
    if (l->columns.count == COLUMNS || name.len > 40)
        return;
    struct cs_sense sense = cs_page_sense(l->page, name);
    l->columns.keys[l->columns.count] = name;
    l->columns.senses[l->columns.count++] = sense;
    l->columns.some = l->columns.some || sense.kind != CS_PII_COUNT;
}

/* A value that may say what others are. */
static void said(struct lexer *l, struct cs_str value)
{
    struct frame *f = frame(l);
    if (!f || value.len >= 64)
        return;
    if (f->object && l->role == CS_KEY_NAMES) {
        l->name = value;
        if (l->depth > 1 && l->frames[l->depth - 2].list == HEAD)
            column(l, value);
    } else if (f->list == HEAD) {
        column(l, value);
    }
}

/* False: it is a part of a program, or a cell of a table, and no value. */
static bool string(struct lexer *l)
{
    bool escapes;
    size_t from = l->i + 1, to = string_end(l, from, &escapes);
    size_t next = blanks(l->at, to < l->end ? to + 1 : to, l->end);
    if (l->depth == 0 && l->key.len == 0 && next < l->end && l->at[next] != ':')
        return false;
    const struct frame *f = frame(l);
    if ((!f || f->object) && next < l->end && l->at[next] == ':') {
        struct cs_str key = cs_strn(l->at + from, to - from);
        l->key = (struct cs_str){0};
        l->sense = CS_NO_SENSE;
        if (!cs_page_key(l->page, key)->plain)
            scan_string(l->page, from, to, escapes, NULL, true);
        under(l, key);
        l->i = next + 1;
    } else {
        if (to > from)
            scan_string(l->page, from, to, escapes, l, false);
        said(l, cs_strn(l->at + from, to - from));
        l->i = to < l->end ? to + 1 : to;
    }
    l->done = l->i;
    return true;
}

static bool word(const struct lexer *l, const char *is)
{
    size_t n = strlen(is);
    return l->end - l->i >= n && memcmp(l->at + l->i, is, n) == 0;
}

/* A number, or what begins like one; false: it is none. */
static bool number(struct lexer *l)
{
    size_t i = l->i;
    if (l->at[i] == '-')
        i++;
    size_t digits = i;
    if (i == l->end || !cs_is_digit(l->at[i]))
        return false;
    while (i < l->end &&
           (cs_is_digit(l->at[i]) || l->at[i] == '.' || l->at[i] == 'e' || l->at[i] == 'E' ||
            ((l->at[i] == '+' || l->at[i] == '-') && (l->at[i - 1] | 32) == 'e')))
        i++;
    if (i < l->end && !memchr(",]} \n\r\t", l->at[i], 7))
        return false;
    if (l->sense.kind != CS_PII_COUNT || (i - digits >= 9 && i - digits <= 19))
        look_at(l->page, l->i, i, l, true, false);
    l->i = l->done = i;
    return true;
}

static void forget(struct lexer *l)
{
    l->key = (struct cs_str){0};
    l->sense = CS_NO_SENSE;
    l->role = CS_KEY_PLAIN;
}

/* The value to come in a list: under the key of the list, or of its column. */
static void element(struct lexer *l, const struct frame *f)
{
    l->key = f->key;
    l->sense = f->sense;
    l->role = CS_KEY_PLAIN;
    if (f->list == ROW && f->column < l->columns.count) {
        l->key = l->columns.keys[f->column];
        l->sense = l->columns.senses[f->column];
    }
}

static void open(struct lexer *l, bool object)
{
    const struct frame *outer = frame(l);
    struct frame f = {l->key, l->sense, object, PLAIN, 0};
    bool nested = outer && !outer->object;
    if (!object &&
        (l->role == CS_KEY_COLUMNS || (nested && outer->column == 0 && !l->columns.some))) {
        f.list = HEAD;
        l->columns.count = 0;
        l->columns.some = false;
    } else if (!object && nested && l->columns.some) {
        f.list = ROW;
    }
    if (l->depth < DEPTH)
        l->frames[l->depth] = f;
    l->depth++;
    l->name = (struct cs_str){0};
    if (object)
        forget(l);
    else
        element(l, &f);
    l->i++;
}

static void next(struct lexer *l)
{
    struct frame *f = frame(l);
    if (f && !f->object) {
        f->column += f->column < COLUMNS;
        element(l, f);
    } else {
        forget(l);
    }
    l->i++;
}

static bool lex(struct lexer *l)
{
    switch (l->at[l->i]) {
    case ' ':
    case '\n':
    case '\r':
    case '\t':
    case ':':
        l->i++;
        return true;
    case '"':
        return string(l);
    case '{':
    case '[':
        open(l, l->at[l->i] == '{');
        return true;
    case '}':
    case ']':
        if (l->depth)
            l->depth--;
        l->name = (struct cs_str){0};
        forget(l);
        l->i++;
        return true;
    case ',':
        next(l);
        return true;
    case 't':
    case 'n':
        if (!word(l, "true") && !word(l, "null"))
            return false;
        l->i += 4;
        return true;
    case 'f':
        if (!word(l, "false"))
            return false;
        l->i += 5;
        return true;
    default:
        return number(l);
    }
}

static void scan_json(struct cs_page *page, size_t from, size_t to)
{
    struct lexer l;
    l.page = page;
    l.at = page->layers[page->top].at;
    l.blocks = page->layers[page->top].blocks;
    l.i = l.done = from;
    l.end = to;
    l.depth = 0;
    l.name = (struct cs_str){0};
    l.columns.count = 0;
    l.columns.some = false;
    forget(&l);
    while (l.i < to)
        if (!lex(&l)) {
            scan_text(page, l.done, to, NULL, false);
            return;
        }
}

static void scan(const struct cs_detector *detector, enum cs_privacy_level level, enum cs_form form,
                 bool asked, struct cs_str text, struct cs_spans *spans)
{
    struct cs_page page = {.detector = detector,
                           .level = level,
                           .kinds = asked ? 1u << CS_PII_CUSTOM : cs_page_kinds(detector, level),
                           .customs = cs_detector_customs(detector, level, asked),
                           .asked = asked,
                           .json = form != CS_FORM_TEXT,
                           .spans = spans};
    page.layers[0].at = text.at;
    page.layers[0].len = text.len;
    cs_layer_bits(&page.layers[0]);
    size_t first = blanks(text.at, 0, text.len);
    if (form == CS_FORM_GUESS)
        page.json = first < text.len && memchr("{[\"", text.at[first], 3);
    if (page.json)
        scan_json(&page, 0, text.len);
    else
        scan_text(&page, 0, text.len, NULL, false);
    cs_name_memory_free(page.names);
    cs_matcher_free(page.matcher);
    for (unsigned i = 0; i < CS_LAYERS; i++) {
        free(page.layers[i].blocks);
        free(page.layers[i].steps);
        cs_buf_done(&page.layers[i].bytes);
    }
    free(page.hits.at);
    free(page.spare.at);
}

/* What is new, without what meets something that was found before; both are in order. */
static void merge(struct cs_spans *spans, size_t from, const struct cs_spans *more)
{
    size_t count = spans->count - from, i = 0, total = from;
    struct cs_span *old = cs_realloc(NULL, count + 1, sizeof *old);
    if (count)
        memcpy(old, spans->at + from, count * sizeof *old);
    if (spans->cap < spans->count + more->count) {
        spans->cap = spans->count + more->count;
        spans->at = cs_realloc(spans->at, spans->cap, sizeof *spans->at);
    }
    for (size_t j = 0; j < more->count; j++) {
        const struct cs_span *s = &more->at[j];
        while (i < count && old[i].end <= s->start)
            spans->at[total++] = old[i++];
        if (i == count || old[i].start >= s->end)
            spans->at[total++] = *s;
    }
    while (i < count)
        spans->at[total++] = old[i++];
    spans->count = total;
    free(old);
}

void cs_scan(const struct cs_detector *detector, enum cs_privacy_level level, enum cs_form form,
             struct cs_str text, struct cs_spans *spans)
{
    size_t before = spans->count;
    if (level == CS_PRIVACY_OFF || text.len == 0)
        return;
    scan(detector, level, form, false, text, spans);
    if (!cs_detector_customs(detector, level, true))
        return;
    struct cs_spans more = {0};
    scan(detector, level, form, true, text, &more);
    if (more.count)
        merge(spans, before, &more);
    cs_spans_done(&more);
}
