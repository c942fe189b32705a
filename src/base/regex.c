/* A pattern of the user's own: compiled, tried, run. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include <pcre2.h>

#include "base/mem.h"
#include "base/own.h"

#define WINDOW    4096 /* bytes in which matches begin, at a time */
#define LONGEST   1024 /* of a match */
#define BEHIND    64   /* bytes before, to look behind */
#define STEPS     100000
#define HEAP_KB   2048
#define TRY_BYTES 1024 /* of the texts that it is tried with */
#define TRY_STEPS 40   /* for each byte of them */

struct cs_regex {
    pcre2_code *code;
    uint32_t shortest;
};

struct cs_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

void cs_regex_free(struct cs_regex *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    free(p);
}

CS_DEFINE_CLEANUP(struct cs_regex, cs_regex_free)

struct cs_matcher *cs_matcher_new(void)
{
    struct cs_matcher *m = CS_NEW(struct cs_matcher);
    m->data = pcre2_match_data_create(1, NULL);
    m->context = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(32 * 1024, 512 * 1024, NULL);
    if (m->context) {
        pcre2_set_match_limit(m->context, STEPS);
        pcre2_set_depth_limit(m->context, STEPS);
        pcre2_set_heap_limit(m->context, HEAP_KB);
        pcre2_jit_stack_assign(m->context, NULL, m->stack);
    }
    return m;
}

void cs_matcher_free(struct cs_matcher *m)
{
    if (!m)
        return;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    pcre2_jit_stack_free(m->stack);
    free(m);
}

/* --- how hard is it? --- */

struct trial {
    const struct cs_regex *pattern;
    struct cs_matcher *matcher;
};

/* Without the JIT, whose steps are not comparable; at its beginning only, since every place in such
 * a text is like the other. */
static bool bearable(void *ctx, struct cs_str text)
{
    const struct trial *t = ctx;
    pcre2_set_match_limit(t->matcher->context, (uint32_t)(TRY_STEPS * text.len));
    int n = pcre2_match(t->pattern->code, (PCRE2_SPTR)text.at, text.len, 0,
                        PCRE2_ANCHORED | PCRE2_NO_JIT, t->matcher->data, t->matcher->context);
    return n != PCRE2_ERROR_MATCHLIMIT && n != PCRE2_ERROR_DEPTHLIMIT &&
           n != PCRE2_ERROR_HEAPLIMIT && n != PCRE2_ERROR_RECURSELOOP;
}

CS_DEFINE_CLEANUP(struct cs_matcher, cs_matcher_free)

static int try_it(const struct cs_regex *p, struct cs_str text, struct cs_err *err)
{
    CS_AUTO(cs_matcher_freep) struct cs_matcher *m = cs_matcher_new();
    if (!m->data || !m->context)
        return cs_fail(err, CS_SYSTEM, "no memory to try it");
    struct trial t = {p, m};
    if (cs_regex_pump(text, TRY_BYTES, bearable, &t))
        return 0;
    return cs_fail(err, CS_INVALID,
                   "its cost grows faster than the text: two repetitions, one inside or right "
                   "after the other, match the same characters; bound them ({1,20}), or make the "
                   "first possessive (a++)");
}

int cs_regex_ours(struct cs_str text, struct cs_regex **pattern, struct cs_err *err)
{
    int error;
    PCRE2_SIZE at;
    uint32_t empty = 1;
    if (text.len > CS_REGEX_MAX)
        return cs_fail(err, CS_LIMIT, "is longer than %d bytes", CS_REGEX_MAX);
    CS_AUTO(cs_regex_freep) struct cs_regex *p = CS_NEW(struct cs_regex);
    p->code =
        pcre2_compile((PCRE2_SPTR)text.at, text.len,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                      &error, &at, NULL);
    if (!p->code) {
        char why[160];
        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        return cs_fail(err, CS_INVALID, "is no regular expression: %s, at byte %zu", why, at);
    }
    if (pcre2_pattern_info(p->code, PCRE2_INFO_MATCHEMPTY, &empty) < 0 || empty)
        return cs_fail(err, CS_INVALID,
                       "may match the empty string, and so everywhere; ask for one character at "
                       "least (+ instead of *)");
    pcre2_pattern_info(p->code, PCRE2_INFO_MINLENGTH, &p->shortest);
    *pattern = CS_TAKE(p);
    return 0;
}

void cs_regex_hasten(struct cs_regex *p)
{
    pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE); /* without it, it is slow, and right */
}

int cs_regex_new(struct cs_str text, struct cs_regex **pattern, struct cs_err *err)
{
    CS_AUTO(cs_regex_freep) struct cs_regex *p = NULL;
    if (cs_regex_ours(text, &p, err) < 0 || try_it(p, text, err) < 0)
        return -1;
    cs_regex_hasten(p);
    *pattern = CS_TAKE(p);
    return 0;
}

/* --- run --- */

/* One window: matches begin in [from, from + WINDOW). */
static int match(const struct cs_regex *p, struct cs_matcher *m, struct cs_str text, size_t from,
                 size_t at)
{
    size_t behind = from > BEHIND ? from - BEHIND : 0;
    size_t end = text.len - from > WINDOW + LONGEST ? from + WINDOW + LONGEST : text.len;
    uint32_t options = end < text.len ? PCRE2_NOTEOL : 0;
    if (behind > 0)
        options |= PCRE2_NOTBOL;
    int n = pcre2_match(p->code, (PCRE2_SPTR)text.at + behind, end - behind, at - behind, options,
                        m->data, m->context);
    if (n < 0)
        return n;
    PCRE2_SIZE *found = pcre2_get_ovector_pointer(m->data);
    found[0] += behind;
    found[1] += behind;
    return n;
}

int cs_regex_next(const struct cs_regex *p, struct cs_matcher *m, struct cs_str text, size_t *at,
                  size_t *end)
{
    while (*at < text.len && text.len - *at >= p->shortest) {
        size_t from = *at - *at % WINDOW, stop = from + WINDOW;
        int n = match(p, m, text, from, *at);
        PCRE2_SIZE *found = pcre2_get_ovector_pointer(m->data);
        if (n >= 0 && found[1] > found[0] && found[0] < stop) {
            *at = found[0];
            *end = found[1];
            return 1;
        }
        if (n < 0 && n != PCRE2_ERROR_NOMATCH) {
            /* It could not be looked at. */
            *end = stop < text.len ? stop : text.len;
            if (*end - *at > LONGEST)
                *end = *at + LONGEST;
            return 1;
        }
        *at = stop;
    }
    return 0;
}
