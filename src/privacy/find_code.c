/* Codes of letters and digits: IBAN, passports, licences. */
#include "privacy/find.h"

size_t cs_find_code(struct cs_view *view, size_t at)
{
    (void)view;
    return at + 1;
}
