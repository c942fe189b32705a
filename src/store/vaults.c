/* Sealed entries of vaults. */
#include "store/inside.h"

void cs_store_vault_add(struct cs_store *s, struct cs_str owner, struct cs_str sealed,
                        cs_stored *done, void *ctx)
{
    (void)s;
    (void)owner;
    (void)sealed;
    (void)done;
    (void)ctx;
}

void cs_store_vault_get(struct cs_store *s, struct cs_str owner,
                        void (*done)(void *ctx, const struct cs_err *err,
                                     const struct cs_str *sealed, size_t count),
                        void *ctx)
{
    (void)s;
    (void)owner;
    (void)done;
    (void)ctx;
}

void cs_store_vault_wipe(struct cs_store *s, struct cs_str owner, cs_stored *done, void *ctx)
{
    (void)s;
    (void)owner;
    (void)done;
    (void)ctx;
}
