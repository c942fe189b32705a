#include "worker/slim.h"

#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own.h"

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) /* whose reports read them all */

/* By the beginning of their file names. */
static const char *const unused[] = {
    "libblkid.",   "libcap.",       "libffi.", "libgcrypt.", "libgio-",   "libgmodule-",
    "libgobject-", "libgpg-error.", "liblz4.", "liblzma.",   "libmount.", "libpcre2-",
    "libselinux.", "libsystemd.",   "libuv.",  "libzstd.",
};

struct found {
    struct range {
        uintptr_t from, to;
    } ranges[CS_COUNT(unused)];
    size_t count;
};

static bool is_unused(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (size_t i = 0; i < CS_COUNT(unused); i++) {
        if (strncmp(name, unused[i], strlen(unused[i])) == 0)
            return true;
    }
    return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    struct found *f = ctx;
    if (!info->dlpi_name || !is_unused(info->dlpi_name) || f->count == CS_COUNT(f->ranges))
        return 0;
    struct range r = {UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
        r.from = from < r.from ? from : r.from;
        r.to = to > r.to ? to : r.to;
    }
    if (r.to)
        f->ranges[f->count++] = r;
    return 0;
}

void cs_slim(void)
{
    void *frame;
    backtrace(&frame, 1); /* loads the unwinder, which the engine uses when it compiles */
    struct found f = {.count = 0};
    dl_iterate_phdr(look, &f);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (size_t i = 0; i < f.count; i++) {
        uintptr_t from = f.ranges[i].from & ~page, to = (f.ranges[i].to + page) & ~page;
        /* Safe because nothing that runs from here on calls into it: the process has one thread,
         * which ends with _exit and forks without the C library's handlers. */
        munmap((void *)from, to - from);
    }
}

#else

void cs_slim(void)
{
}

#endif
