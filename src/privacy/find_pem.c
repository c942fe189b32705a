/* Private keys. */
#include "privacy/find.h"

size_t cs_find_pem(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
