/*
 * A tool's answer, masked, and what comes of it as arguments: JSON stays JSON, and what looks like
 * a token fills in nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "privacy/vault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_json(struct cs_str text)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.allow_duplicate = true};
    return cs_json_parse(text, &limits, &doc, NULL) == 0;
}

static void put(struct cs_vault *vault, enum cs_pii kind, const char *raw)
{
    bool fresh;
    struct cs_value v = {.kind = kind, .name = cs_str(cs_pii_name(kind)), .raw = cs_str(raw)};
    if (!cs_vault_put(vault, &v, &fresh, NULL))
        abort();
}

/* Letters that stand in no escape, and not in true, false, null or a number: within a string. */
static bool may_be_span(struct cs_str text, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++)
        if ((text.at[i] | 0x20) < 'a' || (text.at[i] | 0x20) > 'z' ||
            memchr("truefalsnE", text.at[i], 10))
            return false;
    size_t back = start < 6 ? start : 6;
    return !memchr(text.at + start - back, '\\', back);
}

static void make_spans(struct cs_str text, const uint8_t *where, size_t count,
                       struct cs_spans *spans)
{
    size_t at = 0;
    spans->at = cs_calloc(count / 2 + 1, sizeof *spans->at);
    for (size_t i = 0; i + 1 < count; i += 2) {
        size_t start = at + where[i], end = start + 1 + where[i + 1] % 32;
        if (end > text.len)
            break;
        at = end;
        if (may_be_span(text, start, end))
            spans->at[spans->count++] = (struct cs_span){.start = start,
                                                         .end = end,
                                                         .kind = CS_PII_EMAIL,
                                                         .core_start = start,
                                                         .core_end = end};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 100000)
        return 0;
    /* The first byte says how many of the last ones say where spans are. */
    size_t tail = data[0] < size ? data[0] : 0;
    struct cs_str text = cs_strn((const char *)data + 1, size - 1 - tail);
    bool json = text.len && memchr("{[\"", text.at[0], 3) && is_json(text);
    bool clean = !memchr(text.at, '\\', text.len) && !memchr(text.at, 1, text.len);
    struct cs_vault *vault = cs_vault_new((enum cs_token_style)(data[0] % 3));
    put(vault, CS_PII_API_KEY, "\x01secret-value-1");
    put(vault, CS_PII_PERSON, "Ann\x01 Ray");
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    make_spans(text, data + 1 + text.len, tail, &spans);
    struct cs_mask how = {.vault = vault, .form = CS_FORM_GUESS, .literals = true};
    CS_AUTO_BUF struct cs_buf out = {0};
    CS_AUTO_BUF struct cs_buf back = {0};
    int got = cs_mask_spans(&how, text, &spans, &out, NULL, NULL);
    struct cs_str masked = got == 1 ? cs_buf_str(&out) : text;
    if (got < 0 || (json && !is_json(masked)))
        abort();
    struct cs_unmask give = {.vault = vault, .literals_only_known = true};
    if (cs_unmask(&give, masked, &back, NULL, NULL) == 1) {
        if (json && !is_json(cs_buf_str(&back)))
            abort();
        if (clean && (memchr(back.at, 1, back.len) || memmem(back.at, back.len, "\\u0001", 6)))
            abort();
    }
    cs_vault_free(vault);
    return 0;
}
