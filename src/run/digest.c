/* The short form for a model. */
#include "base/json.h"
#include "run/run.h"

uint64_t cs_token_estimate(struct cs_str text)
{
    return text.len / 3;
}

void cs_digest(struct cs_str envelope, uint64_t tokens, struct cs_buf *out)
{
    (void)tokens;
    cs_buf_putstr(out, envelope);
}
