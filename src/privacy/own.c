/* What the program itself wrote into the arguments of a call. */
#include "base/mem.h"
#include "privacy/vault.h"

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

struct cs_revealed *cs_revealed_new(void)
{
    return CS_NEW(struct cs_revealed);
}

void cs_revealed_free(struct cs_revealed *r)
{
    if (!r)
        return;
    cs_known_done(&r->known);
    cs_safe_done(&r->safe);
    free(r->entries);
    free(r);
}

void cs_revealed_add(struct cs_revealed *revealed, const struct cs_vault *vault,
                     const struct cs_entry *entry)
{
    (void)revealed;
    (void)vault;
    (void)entry;
}
