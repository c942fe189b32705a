/* IPv6. */
#include "privacy/find.h"

size_t cs_find_ip6(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
