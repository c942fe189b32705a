/* Personal values, by the keys that they stand under. */
#include "privacy/find.h"

void cs_keyed_personal(struct cs_view *view, struct cs_sense sense, size_t start, size_t end)
{
    (void)view;
    (void)sense;
    (void)start;
    (void)end;
}
