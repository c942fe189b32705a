#define PCRE2_CODE_UNIT_WIDTH 8
#include "schema/pattern.h"

#include <pcre2.h>

#define HEAP_KIB    32768
#define MATCH_LIMIT 10000000
#define WEIGHT_SIZE 1024

int cs_pattern_new(struct cs_str ecma, bool strict, struct cs_pattern *pattern, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    if (ecma.len > CS_PATTERN_BYTES)
        return cs_fail(err, CS_LIMIT, "the pattern has %zu bytes, at most %u", ecma.len,
                       CS_PATTERN_BYTES);
    if (cs_pattern_translate(ecma, strict, &text, err) < 0)
        return -1;
    int error = 0;
    PCRE2_SIZE offset = 0, size = 0;
    /* JSON text is valid UTF-8, so nothing is checked twice. \d, \w and \b are ASCII in ECMA-262,
     * hence no PCRE2_UCP. */
    uint32_t options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
                       PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |
                       PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)cs_buf_cstr(&text), text.len, options, &error, &offset, NULL);
    if (!code) {
        PCRE2_UCHAR message[160];
        pcre2_get_error_message(error, message, sizeof message);
        return cs_fail(err, CS_INVALID, "the pattern cannot be used: %s", (char *)message);
    }
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    *pattern = (struct cs_pattern){code, size, 2 + (uint32_t)(size / WEIGHT_SIZE)};
    return 0;
}

void cs_pattern_free(struct cs_pattern *pattern)
{
    pcre2_code_free(pattern->code);
    *pattern = (struct cs_pattern){0};
}

/* Before each item: pays for the item, and for the characters that the one before went over. */
static int pay(pcre2_callout_block *block, void *data)
{
    struct cs_matcher *m = data;
    size_t at = block->current_position;
    size_t moved = at > m->last ? at - m->last : m->last - at;
    m->last = at;
    *m->steps -= (int64_t)m->weight * (int64_t)(1 + moved / 16);
    return *m->steps < 0 ? PCRE2_ERROR_CALLOUT : 0;
}

int cs_matcher_run(struct cs_matcher *m, const struct cs_pattern *p, struct cs_str text)
{
    if (!m->data) {
        m->data = pcre2_match_data_create(1, NULL);
        m->context = pcre2_match_context_create(NULL);
        pcre2_set_callout(m->context, pay, m);
        pcre2_set_heap_limit(m->context, HEAP_KIB);
        pcre2_set_match_limit(m->context, MATCH_LIMIT);
    }
    m->last = 0;
    m->weight = p->weight;
    int found = pcre2_match(p->code, (PCRE2_SPTR)(text.at ? text.at : ""), text.len, 0,
                            PCRE2_NO_UTF_CHECK, m->data, m->context);
    if (found >= 0)
        return 1;
    if (found == PCRE2_ERROR_NOMATCH)
        return 0;
    /* Whatever ran out, the check cannot go on. */
    if (*m->steps >= 0)
        *m->steps = -1;
    return -1;
}

void cs_matcher_done(struct cs_matcher *m)
{
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->context);
    m->data = m->context = NULL;
}
