#include "base/mem.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
    if (p)
        return p;
    static const char msg[] = "caisson: out of memory\n";
    fwrite(msg, 1, sizeof msg - 1, stderr);
    abort();
}

void *cs_calloc(size_t n, size_t size)
{
    return or_die(calloc(n ? n : 1, size ? size : 1));
}

void *cs_realloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return or_die(NULL);
    return or_die(realloc(p, bytes ? bytes : 1));
}

char *cs_strndup(const char *s, size_t len)
{
    char *copy = cs_calloc(len + 1, 1);
    if (len)
        memcpy(copy, s, len);
    return copy;
}

char *cs_strdup(const char *s)
{
    return cs_strndup(s, strlen(s));
}

void cs_mem_keep(void)
{
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
}
