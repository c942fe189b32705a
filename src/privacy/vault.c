/* Tokens and their values. */
#include "base/mem.h"
#include "privacy/privacy.h"

struct cs_vault {
    enum cs_token_style style;
};

struct cs_vault *cs_vault_new(enum cs_token_style style)
{
    struct cs_vault *v = CS_NEW(struct cs_vault);
    v->style = style;
    return v;
}

void cs_vault_free(struct cs_vault *vault)
{
    free(vault);
}

size_t cs_vault_count(const struct cs_vault *vault)
{
    (void)vault;
    return 0;
}

void cs_vault_record(struct cs_vault *vault, struct cs_buf *tokens)
{
    (void)vault;
    (void)tokens;
}

void cs_vault_play(struct cs_vault *vault, struct cs_str tokens)
{
    (void)vault;
    (void)tokens;
}
