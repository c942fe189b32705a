/* Arguments with tokens to arguments with values. */
#include "privacy/privacy.h"

bool cs_token_like(struct cs_str text)
{
    (void)text;
    return false;
}

enum cs_token_form cs_token_form(struct cs_str text)
{
    (void)text;
    return CS_TOKEN_NONE;
}

int cs_unmask(const struct cs_unmask *how, struct cs_str json, struct cs_buf *out,
              struct cs_unmasked *unmasked, struct cs_err *err)
{
    (void)how;
    (void)json;
    (void)out;
    (void)unmasked;
    (void)err;
    return 0;
}
