/*
 * Names of people: a text is read word by word through a small window, a judge (the model) says of
 * each word that could be one whether it begins a name or goes on with it, and what was a name once
 * is remembered for the rest of the message.
 */
#include "privacy/names.h"
#include "base/mem.h"

#define WINDOW 256
#define MEMORY 1024
#define PLAIN  200 /* what a plain first and last name adds */

/* Forgets when it is full: words with the same lower bits share a place. */
struct cs_name_memory {
    uint32_t seen[MEMORY];
    uint32_t mailed[MEMORY / 4];
};

struct cs_name_memory *cs_name_memory_new(void)
{
    return CS_NEW(struct cs_name_memory);
}

void cs_name_memory_free(struct cs_name_memory *memory)
{
    free(memory);
}

static void remember(uint32_t *set, size_t size, uint64_t hash)
{
    set[hash % size] = (uint32_t)(hash >> 16) | 1;
}

static bool remembers(const uint32_t *set, size_t size, uint64_t hash)
{
    return set[hash % size] == ((uint32_t)(hash >> 16) | 1);
}

/* maria.garcia@ and mgarcia@ make Maria and Garcia likelier. */
static void remember_mail(struct cs_name_memory *m, struct cs_str mail)
{
    const char *at = memchr(mail.at, '@', mail.len);
    size_t len = at ? (size_t)(at - mail.at) : 0;
    for (size_t i = 0, end; i < len; i = end + 1) {
        for (end = i; end < len && cs_is_letter(mail.at[end]); end++)
            ;
        if (end - i >= 3)
            remember(m->mailed, MEMORY / 4, cs_name_word_hash(cs_strn(mail.at + i, end - i)));
        if (end - i >= 5)
            remember(m->mailed, MEMORY / 4,
                     cs_name_word_hash(cs_strn(mail.at + i + 1, end - i - 1)));
    }
}

/* A name that has begun. */
struct name {
    size_t start, end;
    bool open, whole; /* whole: has more than initials */
    uint64_t words[8];
    size_t count;
};

struct reading {
    struct cs_name_memory *memory;
    const struct cs_name_eye *eye;
    struct cs_name_word words[WINDOW];
    struct name name;
};

static void close_name(struct reading *r)
{
    struct name *n = &r->name;
    if (n->open && n->whole) {
        for (size_t i = 0; i < n->count; i++)
            remember(r->memory->seen, MEMORY, n->words[i]);
        r->eye->found(r->eye->ctx, n->start, n->end);
    }
    *n = (struct name){0};
}

/* Jean-Luc is one word to a reader, and J. Smith one name. */
static bool glued(const struct cs_name_word *before, const struct cs_name_word *w)
{
    return (w->gap == CS_GAP_HYPHEN && w->shape == CS_SHAPE_CAP && before->shape == CS_SHAPE_CAP) ||
           (w->gap == CS_GAP_INITIAL && before->shape == CS_SHAPE_INITIAL);
}

static void add_to_name(struct reading *r, const struct cs_around *a)
{
    struct name *n = &r->name;
    const struct cs_name_word *w = a->w[2], *before = a->w[1];
    if (w->tag != CS_TAG_I || !n->open) {
        close_name(r);
        *n = (struct name){.open = true, .start = w->start, .end = w->end};
        if (glued(before, w))
            n->start = glued(a->w[0], before) ? a->w[0]->start : before->start;
    }
    /* Particles do not end a name. */
    if (w->shape != CS_SHAPE_LOWER || n->end == w->end || n->whole == false)
        n->end = w->end;
    if (w->letters > 1)
        n->whole = true;
    if (w->letters > 2 && n->count < sizeof n->words / sizeof *n->words)
        n->words[n->count++] = w->hash;
}

static void judge_word(struct reading *r, struct cs_around *a, bool high)
{
    struct cs_name_word *w = a->w[2];
    w->tag = CS_TAG_O;
    if (w->shape < CS_SHAPE_NUMBER) {
        w->seen = remembers(r->memory->seen, MEMORY, w->hash);
        w->mailed = remembers(r->memory->mailed, MEMORY / 4, w->hash);
        if (cs_name_candidate(a, high))
            w->tag = (uint8_t)r->eye->judge(r->eye->ctx, a);
        if (a->w[1]->tag != CS_TAG_O && glued(a->w[1], w))
            w->tag = CS_TAG_I;
    }
    if (w->tag == CS_TAG_O)
        close_name(r);
    else
        add_to_name(r, a);
}

void cs_names_read(struct cs_str text, struct cs_str key, bool is_value, bool high,
                   struct cs_name_memory *memory, const struct cs_name_eye *eye)
{
    struct reading r;
    struct cs_name_word none = {.shape = CS_SHAPE_NONE, .gap = CS_GAP_START, .looked = true};
    struct cs_name_words source;
    struct cs_around a = {.is_value = is_value};
    size_t count = 0, from = 0;
    bool more = true, first = true;
    r.memory = memory;
    r.eye = eye;
    r.name = (struct name){0};
    cs_name_words_begin(&source, text, key);
    while (more) {
        size_t until;
        while (count < WINDOW && (more = cs_name_words_next(&source, &r.words[count]))) {
            struct cs_name_word *w = &r.words[count++];
            if (w->shape == CS_SHAPE_MAIL)
                remember_mail(memory, cs_strn(text.at + w->start, w->end - w->start));
            if (eye->read)
                eye->read(eye->ctx, w);
        }
        if (first)
            a.words = !is_value || count > 6 ? 7 : (uint8_t)count;
        first = false;
        until = more ? count - 2 : count;
        for (size_t i = from; i < until; i++) {
            for (size_t k = 0; k < 5; k++)
                a.w[k] = i + k >= 2 && i + k - 2 < count ? &r.words[i + k - 2] : &none;
            judge_word(&r, &a, high);
        }
        if (more) {
            memmove(r.words, r.words + count - 4, 4 * sizeof *r.words);
            from = 2;
            count = 4;
        }
    }
    close_name(&r);
}

static struct cs_name_memory *memory_of(struct cs_view *view)
{
    struct cs_name_memory **memory = cs_page_names(view->page);
    if (!*memory)
        *memory = cs_name_memory_new();
    return *memory;
}

struct looking {
    struct cs_view *view;
    int lean;
};

/* A first name that is no word, and a last name after it, and nothing more: two signs that the
 * words around can hardly take back. */
static bool plain_name(struct cs_name_word *first, struct cs_name_word *last,
                       const struct cs_name_word *after)
{
    unsigned f = cs_name_word_classes(first), l = cs_name_word_classes(last);
    return first->shape == last->shape && first->shape <= CS_SHAPE_UPPER &&
           first->shape != CS_SHAPE_LOWER && last->gap == CS_GAP_SPACE && CS_GAZ_FIRST(f) >= 2 &&
           CS_GAZ_WORD(f) < CS_GAZ_FIRST(f) && CS_GAZ_LAST(l) >= 2 && CS_GAZ_WORD(l) < 3 &&
           !CS_GAZ_STOP(f) && !CS_GAZ_STOP(l) &&
           !(after->gap == CS_GAP_SPACE && after->shape != CS_SHAPE_LOWER);
}

/* Towns and tools that are called like people: more must speak for one of those, most in a list. */
static int lean_at(const struct looking *l, struct cs_around *a)
{
    struct cs_name_word *w = a->w[2], *next = a->w[3];
    unsigned c = cs_name_word_classes(w);
    if (plain_name(w, next, a->w[4]) || (a->w[1]->tag == CS_TAG_B && plain_name(a->w[1], w, next)))
        return l->lean + PLAIN;
    if (a->w[1]->tag != CS_TAG_O || !(CS_GAZ_PLACE(c) || CS_GAZ_STOP(c)))
        return l->lean;
    if (CS_GAZ_PLACE(c) && next->gap == CS_GAP_COMMA && CS_GAZ_PLACE(cs_name_word_classes(next)))
        return l->lean - 120;
    if (next->shape == CS_SHAPE_CAP)
        return l->lean;
    return l->lean - (CS_GAZ_STOP(c) ? 60 : 25);
}

static enum cs_name_tag judge(void *ctx, struct cs_around *a)
{
    struct looking *l = ctx;
    enum cs_name_tag tag = cs_name_decide(a, lean_at(l, a));
    if (tag != CS_TAG_O && cs_hit_at(l->view, a->w[2]->start, a->w[2]->end))
        tag = CS_TAG_O;
    return tag;
}

static void found(void *ctx, size_t start, size_t end)
{
    struct looking *l = ctx;
    if (!cs_name_doubtful(l->view, start, end))
        cs_hit(l->view, CS_PII_PERSON, start, end);
}

/* Values that are no words: ids, links, times, paths. */
static bool worth_reading(const struct cs_view *view)
{
    bool letters = false;
    if (!view->is_value || view->len > 256)
        return view->len > 1;
    for (size_t i = 0; i < view->len; i++) {
        unsigned char c = (unsigned char)view->at[i];
        if (c == ' ' || c == '\n' || c == '\t')
            return true;
        if (cs_is_digit((char)c) || c == '/' || c == '_' || c == ':' || c == '=')
            return memchr(view->at + i, ' ', view->len - i) != NULL;
        letters |= cs_is_letter((char)c) || c >= 0x80;
    }
    return letters && view->len > 1;
}

void cs_find_names(struct cs_view *view)
{
    struct looking l = {.view = view};
    struct cs_name_eye eye = {.judge = judge, .found = found, .ctx = &l};
    if (view->level < CS_PRIVACY_MEDIUM || !worth_reading(view))
        return;
    l.lean = cs_name_lean(view->level);
    cs_names_read(cs_strn(view->at, view->len), view->key, view->is_value,
                  view->level == CS_PRIVACY_HIGH, memory_of(view), &eye);
}

void cs_name_keep(struct cs_view *view, const struct cs_name_word *words, size_t count)
{
    struct cs_name_memory *m = memory_of(view);
    for (size_t i = 0; i < count; i++)
        if (words[i].letters > 2)
            remember(m->seen, MEMORY, words[i].hash);
}
