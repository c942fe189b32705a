/* Names of people. */
#include "base/mem.h"
#include "privacy/find.h"

struct cs_name_memory {
    int nothing;
};

void cs_name_memory_free(struct cs_name_memory *memory)
{
    free(memory);
}

void cs_find_names(struct cs_view *view)
{
    (void)view;
}

void cs_keyed_name(struct cs_view *view, struct cs_sense sense, size_t start, size_t end)
{
    (void)view;
    (void)sense;
    (void)start;
    (void)end;
}
