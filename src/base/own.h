/*
 * Ownership as a property of the variable: what a scope opened, the scope closes, unless it is
 * handed on with CS_TAKE.
 *
 *     CS_AUTO_FD int fd = open(...);
 *     CS_AUTO(cs_skill_freep) struct cs_skill *s = cs_skill_new();
 *     *out = CS_TAKE(s);
 */
#ifndef CS_BASE_OWN_H
#define CS_BASE_OWN_H

#include <stdlib.h>
#include <unistd.h>

#define CS_AUTO(fn)  __attribute__((cleanup(fn)))
#define CS_AUTO_FD   CS_AUTO(cs_closep)
#define CS_AUTO_FREE CS_AUTO(cs_freep)

/* Defines `name##p`, the cleanup form of `void name(type *)`. */
#define CS_DEFINE_CLEANUP(type, name)    \
    static inline void name##p(type **p) \
    {                                    \
        name(*p);                        \
    }

#define CS_TAKE(p)                     \
    __extension__({                    \
        __typeof__(p) cs_taken_ = (p); \
        (p) = NULL;                    \
        cs_taken_;                     \
    })

#define CS_TAKE_FD(fd)        \
    __extension__({           \
        int cs_taken_ = (fd); \
        (fd) = -1;            \
        cs_taken_;            \
    })

#define CS_COUNT(a) (sizeof(a) / sizeof *(a))

/* Closes *fd if it is one, and marks it closed. */
static inline void cs_closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static inline void cs_freep(void *p)
{
    free(*(void **)p);
}

#endif
