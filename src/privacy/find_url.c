/* Passwords in URLs, and connection strings. */
#include "privacy/find.h"

size_t cs_find_url(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
