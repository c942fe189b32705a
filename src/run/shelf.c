/* Memory with a bound: a table by key, and a list by last use. */
#include "base/mem.h"
#include "run/cache.h"

#define BUCKETS_FIRST 256
#define LARGEST_PART  4
#define BLOCK_BYTES   8192 /* an arena has at least one of these */

/* --- items --- */

void *cs_shelf_item_new(size_t size, const unsigned char key[CS_SHA256], struct cs_str tenant)
{
    struct cs_shelf_item *item = cs_calloc(1, size);
    item->refs = 1;
    item->bytes = size + BLOCK_BYTES;
    memcpy(item->key, key, sizeof item->key);
    item->tenant = cs_shelf_copy(item, tenant);
    return item;
}

void cs_shelf_item_unref(struct cs_shelf_item *item)
{
    if (!item || --item->refs)
        return;
    cs_arena_done(&item->arena);
    free(item);
}

void *cs_shelf_alloc(struct cs_shelf_item *item, size_t size)
{
    item->bytes += size + size / 4;
    return cs_arena_alloc(&item->arena, size);
}

struct cs_str cs_shelf_copy(struct cs_shelf_item *item, struct cs_str text)
{
    if (!text.len)
        return (struct cs_str){0};
    item->bytes += text.len + text.len / 4;
    return cs_arena_dup(&item->arena, text);
}

/* --- the table --- */

/* The keys are hashes already. */
static struct cs_shelf_item **bucket_of(struct cs_shelf *s, const unsigned char *key)
{
    size_t n;
    memcpy(&n, key, sizeof n);
    return &s->buckets[n & (s->bucket_count - 1)];
}

static void grow(struct cs_shelf *s)
{
    CS_AUTO_FREE struct cs_shelf_item **old = s->buckets;
    s->bucket_count = s->bucket_count ? 2 * s->bucket_count : BUCKETS_FIRST;
    s->buckets = cs_calloc(s->bucket_count, sizeof *s->buckets);
    for (struct cs_shelf_item *i = s->oldest; i; i = i->newer) {
        struct cs_shelf_item **bucket = bucket_of(s, i->key);
        i->same = *bucket;
        *bucket = i;
    }
}

static struct cs_shelf_item *look(struct cs_shelf *s, const unsigned char *key)
{
    struct cs_shelf_item *i = s->bucket_count ? *bucket_of(s, key) : NULL;
    while (i && memcmp(i->key, key, CS_SHA256) != 0)
        i = i->same;
    return i;
}

/* --- the list --- */

static void unlink_item(struct cs_shelf *s, struct cs_shelf_item *i)
{
    *(i->newer ? &i->newer->older : &s->newest) = i->older;
    *(i->older ? &i->older->newer : &s->oldest) = i->newer;
    i->newer = i->older = NULL;
}

static void link_newest(struct cs_shelf *s, struct cs_shelf_item *i)
{
    i->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = i;
    s->newest = i;
}

static void drop(struct cs_shelf *s, struct cs_shelf_item *item)
{
    struct cs_shelf_item **at = bucket_of(s, item->key);
    while (*at != item)
        at = &(*at)->same;
    *at = item->same;
    unlink_item(s, item);
    s->bytes -= item->bytes;
    s->count--;
    cs_shelf_item_unref(item);
}

static void note_gone(struct cs_shelf *s, const struct cs_shelf_item *item)
{
    if (item->is_answer && item->expires > s->gone)
        s->gone = item->expires;
}

static void make_room(struct cs_shelf *s)
{
    while (s->bytes > s->most && s->oldest) {
        note_gone(s, s->oldest);
        drop(s, s->oldest);
    }
}

/* --- what others call --- */

struct cs_shelf_item *cs_shelf_find(struct cs_shelf *s, const unsigned char key[CS_SHA256],
                                    int64_t now)
{
    struct cs_shelf_item *i = look(s, key);
    if (!i)
        return NULL;
    /* The clock may have been set back. */
    if (now < i->created || now >= i->expires) {
        drop(s, i);
        return NULL;
    }
    unlink_item(s, i);
    link_newest(s, i);
    return i;
}

void cs_shelf_put(struct cs_shelf *s, struct cs_shelf_item *item)
{
    struct cs_shelf_item *before = look(s, item->key);
    if (before)
        drop(s, before);
    /* One that is large must not cost all the others. */
    if (item->bytes > s->most / LARGEST_PART) {
        note_gone(s, item);
        return;
    }
    if (s->count >= s->bucket_count)
        grow(s);
    struct cs_shelf_item **bucket = bucket_of(s, item->key);
    item->same = *bucket;
    *bucket = item;
    item->refs++;
    s->count++;
    s->bytes += item->bytes;
    link_newest(s, item);
    make_room(s);
}

void cs_shelf_clear(struct cs_shelf *s, struct cs_str tenant)
{
    for (struct cs_shelf_item *i = s->oldest, *next; i; i = next) {
        next = i->newer;
        if (!tenant.len || cs_str_eq(i->tenant, tenant))
            drop(s, i);
    }
}

void cs_shelf_bound(struct cs_shelf *s, size_t most)
{
    s->most = most;
    make_room(s);
}

void cs_shelf_done(struct cs_shelf *s)
{
    cs_shelf_clear(s, (struct cs_str){0});
    free(s->buckets);
    *s = (struct cs_shelf){0};
}
