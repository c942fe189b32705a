#include "store/store.h"

void cs_store_execution_drop(struct cs_store *s, struct cs_str tenant, struct cs_str id,
                             cs_stored *done, void *ctx)
{
    struct cs_execution_row row = {.id = id, .tenant = tenant, .status = CS_STR("cancelled")};
    cs_store_execution_end(s, &row, done, ctx);
}
