/* Secrets, by the keys that they stand under. */
#include "privacy/find.h"

void cs_keyed_secret(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
                     size_t end)
{
    (void)view;
    (void)sense;
    (void)key;
    (void)start;
    (void)end;
}
