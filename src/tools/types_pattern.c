#include "tools/types_pattern.h"

#include <stdint.h>
#include <string.h>

#define TEXT_MAX    200u
#define NESTING_MAX 20u

struct walker {
    const char *at, *end;
    struct cs_buf *out;
    size_t loops; /* how often to go where there is no upper bound */
    unsigned depth;
    bool failed;
};

struct set {
    bool has[128];
};

static void add_range(struct set *set, unsigned char first, unsigned char last)
{
    for (unsigned c = first; c <= last && c < 128; c++)
        set->has[c] = true;
}

/* \d, \w, \s. False for others. */
static bool add_class(struct set *set, char letter)
{
    switch (letter) {
    case 'd':
        add_range(set, '0', '9');
        return true;
    case 'w':
        add_range(set, '0', '9');
        add_range(set, 'a', 'z');
        add_range(set, 'A', 'Z');
        add_range(set, '_', '_');
        return true;
    case 's':
        add_range(set, ' ', ' ');
        return true;
    default:
        return false;
    }
}

/* A letter if there is one, then a digit, then whatever can be seen. */
static char pick(const struct set *set, bool not )
{
    static const char order[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "-_.:/ ,;=+@#!%&()*<>?[]^{|}~'\"\\$`";
    for (const char *c = order; *c; c++) {
        if (set->has[(unsigned char)*c] != not )
            return *c;
    }
    return 0;
}

static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* One member of a class; 0 if it was a class itself, as \d is. */
static char class_member(struct walker *w, struct set *set)
{
    char c = *w->at++;
    if ((unsigned char)c >= 0x80)
        w->failed = true;
    if (c != '\\' || w->at == w->end)
        return c;
    c = *w->at++;
    if (add_class(set, c))
        return 0;
    if (is_letter(c) && c != 'n' && c != 't' && c != 'r')
        w->failed = true;
    return escaped(c);
}

static void walk_class(struct walker *w)
{
    struct set set = {0};
    bool not = w->at < w->end && *w->at == '^';
    if (not )
        w->at++;
    while (w->at < w->end && *w->at != ']' && !w->failed) {
        char first = class_member(w, &set), last = first;
        if (first && w->end - w->at > 1 && w->at[0] == '-' && w->at[1] != ']') {
            w->at++;
            last = class_member(w, &set);
        }
        if (first && last)
            add_range(&set, (unsigned char)first, (unsigned char)last);
    }
    char c = pick(&set, not );
    if (w->at == w->end || !c)
        w->failed = true;
    else
        w->at++;
    cs_buf_putc(w->out, c);
}

static void walk_choice(struct walker *w);

static void walk_group(struct walker *w)
{
    if (w->at < w->end && *w->at == '?') {
        if (w->end - w->at < 2 || w->at[1] != ':') {
            w->failed = true;
            return;
        }
        w->at += 2;
    }
    walk_choice(w);
    if (w->at == w->end)
        w->failed = true;
    else
        w->at++;
}

static void walk_escape(struct walker *w)
{
    struct set set = {0};
    if (w->at == w->end) {
        w->failed = true;
        return;
    }
    char c = *w->at++;
    if (add_class(&set, c))
        cs_buf_putc(w->out, c == 'd' ? '1' : pick(&set, false));
    else if (is_letter(c) && c != 'n' && c != 't' && c != 'r')
        w->failed = true;
    else
        cs_buf_putc(w->out, escaped(c));
}

static void walk_atom(struct walker *w)
{
    char c = *w->at++;
    switch (c) {
    case '^':
    case '$':
        return;
    case '(':
        walk_group(w);
        return;
    case '[':
        walk_class(w);
        return;
    case '\\':
        walk_escape(w);
        return;
    case '*':
    case '+':
    case '?':
    case '{':
        w->failed = true;
        return;
    default:
        cs_buf_putc(w->out, c == '.' ? 'a' : c);
    }
    /* A character is repeated as a whole. */
    while (w->at < w->end && ((unsigned char)*w->at & 0xC0) == 0x80)
        cs_buf_putc(w->out, *w->at++);
}

static size_t number(struct walker *w)
{
    size_t n = 0;
    while (w->at < w->end && *w->at >= '0' && *w->at <= '9' && n < 100000)
        n = n * 10 + (size_t)(*w->at++ - '0');
    return n;
}

/* How often the atom before it is wanted. */
static size_t times(struct walker *w)
{
    if (w->at == w->end)
        return 1;
    size_t least = 1, most = 1;
    if (*w->at == '*' || *w->at == '+') {
        least = *w->at == '+';
        most = SIZE_MAX;
    } else if (*w->at == '?') {
        least = 0;
        most = 0; /* the shorter way */
    } else if (*w->at != '{') {
        return 1;
    }
    if (*w->at++ == '{') {
        most = least = number(w);
        if (w->at < w->end && *w->at == ',') {
            w->at++;
            most = w->at < w->end && *w->at != '}' ? number(w) : SIZE_MAX;
        }
        if (w->at == w->end || *w->at++ != '}')
            w->failed = true;
    }
    if (w->at < w->end && (*w->at == '?' || *w->at == '+'))
        w->at++;
    return least > w->loops ? least : most < w->loops ? most : w->loops;
}

static void walk_sequence(struct walker *w)
{
    while (w->at < w->end && *w->at != '|' && *w->at != ')' && !w->failed) {
        size_t start = w->out->len;
        walk_atom(w);
        size_t n = w->failed ? 0 : times(w), len = w->out->len - start;
        if (n == 0)
            w->out->len = start;
        for (size_t i = 1; i < n && len && !w->failed; i++) {
            cs_buf_room(w->out, len);
            cs_buf_put(w->out, w->out->at + start, len);
            w->failed = w->out->len > TEXT_MAX;
        }
    }
}

/* Writes the first alternative; the others are only read. */
static void walk_choice(struct walker *w)
{
    if (++w->depth > NESTING_MAX)
        w->failed = true;
    walk_sequence(w);
    size_t len = w->out->len;
    while (w->at < w->end && *w->at == '|' && !w->failed) {
        w->at++;
        walk_sequence(w);
        w->out->len = len;
    }
    w->depth--;
}

bool cs_pattern_sample(struct cs_str pattern, size_t least, struct cs_buf *out)
{
    size_t start = out->len;
    for (size_t loops = 1; loops <= TEXT_MAX; loops = loops == 1 && least > 1 ? least : SIZE_MAX) {
        struct cs_buf text = {0};
        struct walker w = {pattern.at, pattern.at + pattern.len, &text, loops, 0, false};
        walk_choice(&w);
        bool good = !w.failed && w.at == w.end && text.len >= least && text.len <= TEXT_MAX;
        if (good)
            cs_buf_putstr(out, cs_buf_str(&text));
        cs_buf_done(&text);
        if (good || w.failed)
            break;
    }
    return out->len > start;
}
