/*
 * A list whose links lie in its members. A list is a link too, that of nobody: both of its ends.
 */
#ifndef CS_BASE_LINK_H
#define CS_BASE_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct cs_link {
    struct cs_link *prev, *next;
};

/* The member that a link lies in. */
#define CS_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void cs_link_init(struct cs_link *l)
{
    l->prev = l->next = l;
}

static inline bool cs_link_alone(const struct cs_link *l)
{
    return l->next == l;
}

static inline void cs_link_before(struct cs_link *place, struct cs_link *l)
{
    l->prev = place->prev;
    l->next = place;
    place->prev->next = l;
    place->prev = l;
}

static inline void cs_link_off(struct cs_link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    cs_link_init(l);
}

#endif
