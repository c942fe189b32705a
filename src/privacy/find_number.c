/* What begins with digits: SSN, cards, phones, IPv4, dates of birth. */
#include "privacy/find.h"

size_t cs_find_number(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
