/* What an execution or an artifact is called. */
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/time.h"
#include "run/inside.h"

void cs_make_id(const char *prefix, char *id)
{
    unsigned char bytes[16] = {0};
    size_t n = strlen(prefix);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        abort(); /* the kernel's generator cannot fail once it is seeded */
    uint64_t now = (uint64_t)cs_time_ms();
    for (size_t i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(now >> (8 * (5 - i)));
    memcpy(id, prefix, n);
    cs_hex(bytes, sizeof bytes, id + n);
}
