#include "worker/hugetext.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE (2ul * 1024 * 1024)

struct range {
    uintptr_t from, to;
};

/* The r-x mapping that contains `symbol`. */
static struct range find_text(uintptr_t symbol)
{
    struct range found = {0};
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return found;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char prot[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, prot) == 3 && from <= symbol && symbol < to &&
            strncmp(prot, "r-x", 3) == 0)
            found = (struct range){from, to};
    }
    fclose(maps);
    return found;
}

static int huge_pages_are_on(void)
{
    char text[128] = "";
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (!f)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    return strstr(text, "[madvise]") || strstr(text, "[always]");
}

void cs_hugetext(const void *symbol)
{
    struct range text = find_text((uintptr_t)symbol);
    uintptr_t from = (text.from + HUGE - 1) & ~(HUGE - 1), to = text.to & ~(HUGE - 1);
    if (to <= from || !huge_pages_are_on())
        return;
    size_t len = to - from;
    char *area = mmap(NULL, len + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return;
    char *copy = (char *)(((uintptr_t)area + HUGE - 1) & ~(HUGE - 1));
    /*
     * Safe because the zygote has one thread, which runs code of this executable and the C library
     * while the engine's text is exchanged, and because the copy is complete and executable before
     * the kernel puts it in place in one call.
     */
    madvise(copy, len, MADV_HUGEPAGE);
    memcpy(copy, (const void *)from, len);
    if (mprotect(copy, len, PROT_READ | PROT_EXEC) < 0 ||
        mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)from) == MAP_FAILED) {
        munmap(area, len + HUGE);
        return;
    }
    __builtin___clear_cache((char *)from, (char *)to);
    if (copy > area)
        munmap(area, (size_t)(copy - area));
    char *tail = copy + len;
    if (tail < area + len + HUGE)
        munmap(tail, (size_t)(area + len + HUGE - tail));
}
