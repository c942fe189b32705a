#include "base/cover.h"

#ifdef CS_COVERAGE
#include <gcov.h>
#include <stdbool.h>

static bool off;

void cs_cover_save(void)
{
    if (off)
        return;
    __gcov_dump();
    __gcov_reset();
}

void cs_cover_off(void)
{
    off = true;
}
#else
/* ISO C wants at least one declaration in a file. */
extern int cs_cover_nothing;
#endif
