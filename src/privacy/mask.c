/* Text with values to text with tokens. */
#include "privacy/privacy.h"

void cs_masked_add(struct cs_masked *sum, const struct cs_masked *more)
{
    for (unsigned i = 0; i < CS_PII_COUNT; i++)
        sum->found[i] += more->found[i];
    sum->total += more->total;
    sum->fresh += more->fresh;
    sum->bytes += more->bytes;
    sum->us += more->us;
}

struct cs_revealed *cs_revealed_new(void)
{
    return NULL;
}

void cs_revealed_free(struct cs_revealed *revealed)
{
    (void)revealed;
}

struct cs_own *cs_own_of(const struct cs_detector *detector, struct cs_str arguments)
{
    (void)detector;
    (void)arguments;
    return NULL;
}

void cs_own_free(struct cs_own *own)
{
    (void)own;
}

int cs_mask(const struct cs_mask *how, struct cs_str text, struct cs_buf *out,
            struct cs_masked *masked, struct cs_err *err)
{
    (void)how;
    (void)text;
    (void)out;
    (void)masked;
    (void)err;
    return 0;
}

int cs_mask_spans(const struct cs_mask *how, struct cs_str text, const struct cs_spans *spans,
                  struct cs_buf *out, struct cs_masked *masked, struct cs_err *err)
{
    (void)spans;
    return cs_mask(how, text, out, masked, err);
}
