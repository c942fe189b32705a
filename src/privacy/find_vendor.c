/* Keys of vendors, by their prefixes; and JWT. */
#include "privacy/find.h"

size_t cs_find_vendor(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
