/* Secrets that only their randomness gives away. */
#include "privacy/find.h"

size_t cs_find_opaque(struct cs_view *view, size_t start, size_t end)
{
    (void)view;
    (void)start;
    return end;
}
