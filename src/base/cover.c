#include "base/cover.h"

#ifdef CS_COVERAGE
#include <gcov.h>
#include <stdbool.h>
#include <sys/stat.h>

static bool off;

void cs_cover_save(void)
{
    if (off)
        return;
    umask(0); /* processes of several ids add to the same files */
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
