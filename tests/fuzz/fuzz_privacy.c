/*
 * Any text, at every level, in every form: spans are disjoint, in order and inside of it. What was
 * masked is masked: a second pass finds nothing but what tokens did not cover, JSON stays JSON, and
 * the values come back.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "privacy/privacy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static struct cs_detector *detector(void)
{
    static struct cs_detector *one;
    static const struct cs_str words[] = {CS_STR("Bluebird"), CS_STR("two words")};
    const struct cs_custom customs[] = {
        {.name = CS_STR("STAFF"), .pattern = CS_STR("E-[0-9]{3,6}\\b")},
        {.name = CS_STR("PROJECT"), .words = words, .word_count = 2},
    };
    struct cs_err err;
    if (!one)
        must(cs_detector_new(customs, 2, &one, &err) == 0);
    return one;
}

static void check(struct cs_str text, const struct cs_spans *spans)
{
    size_t at = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct cs_span *s = &spans->at[i];
        must(s->start >= at && s->start < s->end && s->end <= text.len);
        must(s->core_start >= s->start && s->core_start <= s->core_end && s->core_end <= s->end);
        must(s->kind < CS_PII_COUNT && s->escapes <= 2);
        at = s->end;
    }
}

static bool is_json(struct cs_str text)
{
    struct cs_json doc;
    struct cs_err err;
    if (cs_json_parse(text, NULL, &doc, &err) < 0)
        return false;
    cs_json_done(&doc);
    return true;
}

static enum cs_may yes(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    (void)ctx;
    (void)kind;
    (void)name;
    (void)from;
    return CS_MAY;
}

/* What was JSON stays JSON, and comes back. */
static void mask(struct cs_str text, enum cs_privacy_level level, enum cs_form form)
{
    CS_AUTO_BUF struct cs_buf out = {0}, back = {0};
    struct cs_vault *vault = cs_vault_new(CS_TOKEN_BRACKET);
    struct cs_masked masked = {0};
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    const struct cs_mask how = {
        .detector = detector(), .vault = vault, .level = level, .form = form, .literals = true};
    int n = cs_mask(&how, text, &out, &masked, &err);
    if (n > 0 && form == CS_FORM_JSON && is_json(text)) {
        const struct cs_unmask undo = {.vault = vault, .may = yes};
        must(is_json(cs_buf_str(&out)));
        must(cs_unmask(&undo, cs_buf_str(&out), &back, &unmasked, &err) == 1);
        must(is_json(cs_buf_str(&back)));
    }
    cs_vault_free(vault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = {(const char *)data, size};
    for (enum cs_privacy_level level = CS_PRIVACY_OFF; level <= CS_PRIVACY_HIGH; level++)
        for (enum cs_form form = CS_FORM_GUESS; form <= CS_FORM_JSON; form++) {
            struct cs_spans spans = {0};
            cs_scan(detector(), level, form, text, &spans);
            check(text, &spans);
            must(level != CS_PRIVACY_OFF || spans.count == 0);
            cs_spans_done(&spans);
            if (level == CS_PRIVACY_MEDIUM && form != CS_FORM_GUESS)
                mask(text, level, form);
        }
    return 0;
}
