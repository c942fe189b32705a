/*
 * Allocation. The only files that call malloc are base/mem.c and base/arena.c.
 *
 * Small allocations abort when memory is gone: there is nothing sensible left to do. A size that
 * comes from outside is first checked against a named limit by the caller, which fails with
 * CS_LIMIT; these functions do not know about limits.
 */
#ifndef CS_BASE_MEM_H
#define CS_BASE_MEM_H

#include <stddef.h>

/* Never NULL. Zeroed. */
void *cs_calloc(size_t n, size_t size);

/* Never NULL. `p` may be NULL. Overflow of n * size aborts. */
void *cs_realloc(void *p, size_t n, size_t size);

/* Never NULL; the result ends in NUL. */
char *cs_strndup(const char *s, size_t len);
char *cs_strdup(const char *s);

/* For a process that handles one large message after the other: freed blocks stay with it, up to
 * 32 MB, instead of being unmapped and faulted in again each time. 4 % of an execution that gets
 * two megabytes from a tool. */
void cs_mem_keep(void);

#define CS_NEW(type) ((type *)cs_calloc(1, sizeof(type)))

#endif
