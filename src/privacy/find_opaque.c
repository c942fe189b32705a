/*
 * Secrets that only their randomness gives away. Without a key that is nearly nothing: checksums,
 * ids and pictures are just as random. So some shapes that no prefix tells, and at HIGH the rest.
 */
#include "privacy/secret.h"

#include <openssl/evp.h>

#include "base/own.h"

#define RANDOM_MIN 24
#define RANDOM_MAX 255

/* Shapes with their mark in the middle or at the end. */
static const struct {
    size_t min, max, at; /* lengths, and where the mark stands */
    const char *mark;
} marks[] = {
    {36, 37, 32, "-us"},        /* Mailchimp: 32 hex digits, and the data centre */
    {80, 110, 14, ".atlasv1."}, /* Terraform Cloud */
    {84, 84, 52, "JQQJ99"},     /* Azure */
    {84, 84, 76, "AZDO"},       /* Azure DevOps */
    {88, 88, 76, "+ASt"},       /* Azure storage */
    {88, 88, 76, "ACDb"},       /* Azure Cosmos */
    {56, 56, 44, "AzFu"},       /* Azure functions */
    {40, 40, 36, "_mmk"},       /* MaxMind */
    {50, 50, 10, "msh"},        /* RapidAPI */
};

static bool marked(const struct cs_view *view, size_t start, size_t end)
{
    struct cs_str s = {view->at + start, end - start};
    for (size_t i = 0; i < CS_COUNT(marks); i++) {
        size_t n = strlen(marks[i].mark);
        if (s.len >= marks[i].min && s.len <= marks[i].max &&
            memcmp(s.at + marks[i].at, marks[i].mark, n) == 0)
            return !cs_is_stub(s) && cs_mix_of(s).bits > 3.0F;
    }
    /* Mailgun signs its webhooks with 32-8-8 hex digits. */
    const unsigned hex = CS_C_DIGIT | CS_C_HEX_LOWER;
    if (s.len == 50 && s.at[32] == '-' && s.at[41] == '-')
        return cs_class_end(view, start, end, hex) == start + 32 &&
               cs_class_end(view, start + 33, end, hex) == start + 41 &&
               cs_class_end(view, start + 42, end, hex) == end;
    /* TrueNAS: the number of the key, and 64 letters and digits. */
    size_t dash = cs_class_end(view, start, end, CS_C_DIGIT);
    if (dash > start && dash - start <= 3 && end - dash == 65 && view->at[dash] == '-')
        return cs_class_end(view, dash + 1, end, CS_C_ALNUM) == end && cs_mix_of(s).cases > 16;
    return false;
}

/* Azure: three letters, a digit, "Q~", and what is looked at here. */
static bool of_azure(const struct cs_view *view, size_t start, size_t end)
{
    struct cs_str s = {view->at + start, end - start};
    return start >= 6 && s.len <= 40 && view->at[start - 1] == '~' && view->at[start - 2] == 'Q' &&
           cs_is_digit(view->at[start - 3]) &&
           cs_class_end(view, start - 6, start, CS_C_URL64 | CS_C_DOT) == start - 1 &&
           !cs_is_stub(s) && cs_mix_of(s).bits > 3.0F;
}

/* A text under base64, as in the data of a Kubernetes secret, that speaks of secrets. */
static bool hides_secret(const struct cs_view *view, size_t start, size_t end)
{
    size_t n = end - start;
    if (n % 4 != 0 || cs_class_end(view, start, end, CS_C_BASE64) != end)
        return false;
    unsigned char plain[RANDOM_MAX];
    int got = EVP_DecodeBlock(plain, (const unsigned char *)view->at + start, (int)n);
    struct cs_str text = {(const char *)plain, got > 2 ? (size_t)got - 2 : 0};
    for (size_t i = 0; i < text.len; i++)
        if (plain[i] > 0x7e || (plain[i] < 0x20 && !memchr("\n\r\t", plain[i], 3)))
            return false;
    return (memchr(text.at, ':', text.len) || memchr(text.at, '=', text.len)) &&
           (cs_str_has(text, "password") || cs_str_has(text, "secret") ||
            cs_str_has(text, "token") || cs_str_has(text, "private key"));
}

/* Hashes and ids: what programs give out by the thousand. */
static bool is_id(struct cs_str s, const struct cs_mix *mix)
{
    if (mix->hex || cs_is_uuid(s) || mix->digit + mix->other == s.len)
        return true;
    return cs_str_starts(s, "sha") || cs_str_has(s, "sha256") || cs_str_has(s, "sha512") ||
           cs_str_starts(s, "AAAAB3NzaC1") || cs_str_starts(s, "AAAAC3NzaC1") ||
           cs_str_starts(s, "iVBORw0KGgo") || cs_str_starts(s, "pk_") || cs_str_starts(s, "MIIB");
}

size_t cs_find_opaque(struct cs_view *view, size_t start, size_t end)
{
    /* NAME=value */
    for (size_t i = end; i > start + 1; i--)
        if (view->at[i - 2] == '=' && view->at[i - 1] != '=') {
            start = i - 1;
            break;
        }
    if (end - start > RANDOM_MAX || end - start < RANDOM_MIN)
        return end;
    if (marked(view, start, end)) {
        cs_hit(view, CS_PII_API_KEY, start, end);
        return end;
    }
    if (of_azure(view, start, end)) {
        cs_hit(view, CS_PII_API_KEY, start - 6, end);
        return end;
    }
    if (hides_secret(view, start, end)) {
        cs_hit(view, CS_PII_SECRET, start, end);
        return end;
    }
    if (view->level < CS_PRIVACY_HIGH)
        return end;
    struct cs_str s = {view->at + start, end - start};
    struct cs_mix mix = cs_mix_of(s);
    if (is_id(s, &mix) || !cs_is_random(s) || cs_is_sample(s) || cs_is_code(s, true))
        return end;
    /* Of all three sorts, and changing between them as no word or path does. */
    if (mix.lower == 0 || mix.upper == 0 || mix.digit < 2 || mix.bits < 3.7F ||
        mix.cases * 5 < s.len || mix.other * 6 > s.len)
        return end;
    cs_hit(view, CS_PII_SECRET, start, end);
    return end;
}
