/*
 * Texts that are hard for a pattern.
 *
 * The pattern is read roughly, as a person would: what a piece of it looks like, with a liking for
 * one kind of character, with or without what may be left out. For each repetition: what stands
 * before it, the repeated piece many times, a byte that fits nothing, and the rest. Patterns whose
 * cost explodes do so on one of these. What is not understood is left out.
 */
#include "base/buf.h"
#include "base/regex.h"

#define REPEATS 48 /* repetitions that are tried */
#define DEPTH   32

struct reader {
    struct cs_str p;
    size_t i;
    char likes;      /* if a class has it, it is taken */
    unsigned pick;   /* of alternatives */
    bool optional;   /* what may be left out is there */
    unsigned target; /* the repetition that is blown up */
    unsigned seen;   /* repetitions so far */
    size_t bytes;
    bool pumped;
    unsigned depth;
    struct cs_buf after; /* what would stand behind it */
};

static char next(const struct reader *r)
{
    return r->i < r->p.len ? r->p.at[r->i] : '\0';
}

static bool class_has(char name, char c)
{
    bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'z';
    switch (name) {
    case 'd':
        return digit;
    case 'D':
        return !digit;
    case 'w':
        return digit || letter || c == '_';
    case 'W':
        return !(digit || letter || c == '_');
    case 's':
    case 'h':
        return c == ' ';
    case 'S':
    case 'H':
    case 'N':
        return c != ' ';
    default:
        return false;
    }
}

static const char likes[] = "a1 A-";

#define WAYS (12 * (sizeof likes - 1))

static const char tries[] = "a1 A-._@/:,x#Z9+(";

/* One of `tries` that the escape stands for; 0: it is no class. */
static char of_escape(const struct reader *r, char name)
{
    if (!strchr("dDwWsShHN", name))
        return 0;
    if (class_has(name, r->likes))
        return r->likes;
    for (const char *t = tries; *t; t++)
        if (class_has(name, *t))
            return *t;
    return 'a';
}

/* One element of a class: a character, a range, \d, [:alpha:] (taken for small letters). */
static void read_element(struct reader *r, bool in[128])
{
    char c = r->p.at[r->i++];
    unsigned from = (unsigned char)c & 127, to = from;
    if (c == '[' && next(r) == ':') {
        while (r->i < r->p.len && next(r) != ']')
            r->i++;
        r->i++;
        from = 'a';
        to = 'z';
    } else if (c == '\\' && r->i < r->p.len) {
        c = r->p.at[r->i++];
        from = to = (unsigned char)c & 127;
        for (unsigned k = 0; k < 128; k++)
            in[k] = in[k] || class_has(c, (char)k);
        if (of_escape(r, c))
            return;
    }
    if (next(r) == '-' && r->i + 1 < r->p.len && r->p.at[r->i + 1] != ']') {
        to = (unsigned char)r->p.at[r->i + 1] & 127;
        r->i += 2;
    }
    for (unsigned k = from; k <= to; k++)
        in[k] = true;
}

/* After '[': which characters are in it, of all bytes of ASCII? */
static void read_class(struct reader *r, bool in[128])
{
    bool negative = next(r) == '^';
    r->i += negative;
    memset(in, 0, 128);
    for (bool first = true; r->i < r->p.len && (first || next(r) != ']'); first = false)
        read_element(r, in);
    r->i++; /* ] */
    for (unsigned k = 0; negative && k < 128; k++)
        in[k] = !in[k];
}

static char of_class(const struct reader *r, const bool in[128])
{
    if (in[(unsigned char)r->likes])
        return r->likes;
    for (const char *t = tries; *t; t++)
        if (in[(unsigned char)*t])
            return *t;
    for (unsigned k = 33; k < 127; k++)
        if (in[k])
            return (char)k;
    return 'a';
}

static void alternatives(struct reader *r, struct cs_buf *out);

/* Goes behind one of these. */
static void skip_past(struct reader *r, const char *signs)
{
    while (r->i < r->p.len && !strchr(signs, r->p.at[r->i]))
        r->i++;
    r->i++;
}

/* After '(': what it begins with. True: it stands for text; false: it looks at it. */
static bool group_head(struct reader *r)
{
    if (next(r) != '?')
        return true;
    r->i++;
    char c = next(r), after = r->i + 1 < r->p.len ? r->p.at[r->i + 1] : '\0';
    if (c == '=' || c == '!' || c == '#') {
        r->i++;
        return false;
    }
    if (c == '<' && (after == '=' || after == '!')) {
        r->i += 2;
        return false;
    }
    if (c == 'P' || c == '<') {
        skip_past(r, ">");
    } else if (c == '\'') {
        r->i++;
        skip_past(r, "'");
    } else { /* (?:...) (?>...) (?i:...) (?i) */
        while (r->i < r->p.len && !strchr(":>|)", next(r)))
            r->i++;
        r->i += next(r) != ')';
    }
    return true;
}

static void group(struct reader *r, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf ahead = {0};
    bool text = group_head(r), before = r->pumped;
    if (++r->depth < DEPTH)
        alternatives(r, text ? out : &ahead);
    r->depth--;
    if (!text && r->pumped != before) /* it looks at the text that comes */
        cs_buf_put(out, ahead.at, ahead.len);
    if (next(r) == ')')
        r->i++;
}

static void atom(struct reader *r, struct cs_buf *out)
{
    char c = r->p.at[r->i++];
    if (c == '(') {
        group(r, out);
    } else if (c == '[') {
        bool in[128];
        read_class(r, in);
        cs_buf_putc(out, of_class(r, in));
    } else if (c == '.') {
        cs_buf_putc(out, r->likes);
    } else if (c == '\\' && r->i < r->p.len) {
        c = r->p.at[r->i++];
        char is = of_escape(r, c);
        if (is)
            cs_buf_putc(out, is);
        else if (c == 'n' || c == 't' || c == 'r')
            cs_buf_putc(out, c == 'n' ? '\n' : c == 't' ? '\t' : '\r');
        else if ((c | 32) < 'a' || (c | 32) > 'z') /* \. and the like; \b is nothing */
            cs_buf_putc(out, c);
    } else if (c != '^' && c != '$') {
        cs_buf_putc(out, c);
    }
}

/* How often: least, and whether there is a bound. */
struct times {
    size_t least;
    bool many, any;
};

static struct times times(struct reader *r)
{
    struct times t = {1, false, true};
    char c = next(r);
    if (c == '*' || c == '+' || c == '?') {
        t.least = c == '+';
        t.many = c != '?';
        r->i++;
    } else if (c == '{' && r->i + 1 < r->p.len && strchr("0123456789,", r->p.at[r->i + 1])) {
        size_t n = 0, m = 0;
        bool comma = false;
        for (r->i++; r->i < r->p.len && next(r) != '}'; r->i++) {
            size_t d = next(r) >= '0' && next(r) <= '9' ? (size_t)(next(r) - '0') : 0;
            if (next(r) == ',')
                comma = true;
            else if (comma)
                m = m < 10000 ? m * 10 + d : m;
            else
                n = n < 10000 ? n * 10 + d : n;
        }
        r->i++;
        t.least = n;
        t.many = (comma && m == 0) || m > 8 || n > 8;
    } else {
        t.any = false;
        return t;
    }
    if (next(r) == '?' || next(r) == '+')
        r->i++;
    return t;
}

static void piece(struct reader *r, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf one = {0};
    bool before = r->pumped;
    atom(r, &one);
    struct times t = times(r);
    if (before) { /* it stands behind */
        if (r->after.len + one.len < r->bytes)
            cs_buf_put(&r->after, one.at, one.len);
        return;
    }
    size_t n = r->pumped || t.least ? 1 : r->optional;
    if (!r->pumped && t.least > 1)
        n = t.least;
    if (t.many && r->seen++ == r->target && !r->pumped) {
        n = one.len ? r->bytes / one.len : 0;
        r->pumped = true;
    }
    for (size_t i = 0; i < n && out->len < 2 * r->bytes; i++)
        cs_buf_put(out, one.at, one.len);
}

/* Of several, the one in which the repetition stands; else the one that is to be picked, or the
 * last. */
static void alternatives(struct reader *r, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf chosen = {0};
    bool decided = false;
    for (unsigned n = 0; r->i < r->p.len && next(r) != ')'; n++) {
        CS_AUTO_BUF struct cs_buf one = {0};
        bool before = r->pumped;
        if (n > 0 && next(r) == '|')
            r->i++;
        while (r->i < r->p.len && next(r) != ')' && next(r) != '|')
            piece(r, &one);
        if (decided || (n > r->pick && r->pumped == before))
            continue;
        decided = r->pumped != before;
        cs_buf_clear(&chosen);
        cs_buf_put(&chosen, one.at, one.len);
    }
    cs_buf_put(out, chosen.at, chosen.len);
}

/* `way`: one of WAYS to read the pattern. False: it has no such repetition. */
static bool pump(struct cs_str pattern, size_t bytes, unsigned way, unsigned target,
                 struct cs_buf *out)
{
    struct reader r = {.p = pattern,
                       .likes = likes[way / 12],
                       .pick = way / 4 % 3,
                       .optional = way / 2 % 2,
                       .target = target,
                       .bytes = bytes};
    cs_buf_clear(out);
    while (r.i < pattern.len) {
        alternatives(&r, out);
        r.i++; /* a bracket too many */
    }
    /* What stands behind is there, so that it is worth to begin, but does not fit. */
    cs_buf_putc(out, way % 2 ? '\n' : '\x01');
    cs_buf_put(out, r.after.at, r.after.len);
    cs_buf_done(&r.after);
    return r.pumped;
}

bool cs_regex_pump(struct cs_str pattern, size_t bytes, bool (*each)(void *ctx, struct cs_str text),
                   void *ctx)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    for (unsigned target = 0; target < REPEATS; target++)
        for (unsigned way = 0; way < WAYS; way++) {
            if (!pump(pattern, bytes, way, target, &text))
                return true; /* there are no more */
            if (!each(ctx, cs_buf_str(&text)))
                return false;
        }
    return true;
}
