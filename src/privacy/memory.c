/*
 * Where values are: in pages of their own, which are left out of core files and, as far as the
 * system lets us, are not swapped out; wiped before they are given back.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "privacy/vault.h"

#define FIRST_BLOCK ((size_t)16 << 10)
#define BLOCK       ((size_t)1 << 20)

struct cs_locked_block {
    struct cs_locked_block *next;
    size_t size, used;
    char bytes[];
};

static struct cs_locked_block *block_new(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, size, MADV_DONTDUMP);
    mlock(p, size); /* as much as the limit has room for */
    struct cs_locked_block *b = p;
    b->size = size;
    b->used = sizeof *b;
    return b;
}

char *cs_locked_alloc(struct cs_locked *locked, size_t n)
{
    struct cs_locked_block *b = locked->blocks;
    if (!b || b->size - b->used < n) {
        size_t size = b ? BLOCK : FIRST_BLOCK;
        while (size - sizeof *b < n)
            size *= 2;
        b = block_new(size);
        if (!b) /* the end, as with every small allocation */
            return cs_calloc(SIZE_MAX / 2, 1);
        b->next = locked->blocks;
        locked->blocks = b;
    }
    char *at = (char *)b + b->used;
    b->used += n;
    locked->bytes += n;
    return at;
}

void cs_locked_done(struct cs_locked *locked)
{
    for (struct cs_locked_block *b = locked->blocks, *next; b; b = next) {
        next = b->next;
        size_t size = b->size;
        explicit_bzero(b, b->used);
        munmap(b, size);
    }
    *locked = (struct cs_locked){0};
}

/* --- SipHash-2-4: a keyed hash that is quick for short values --- */

static uint64_t rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static uint64_t word(const char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static void rounds(uint64_t v[4], int n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

uint64_t cs_siphash(const unsigned char key[16], struct cs_str bytes)
{
    uint64_t k0 = word((const char *)key), k1 = word((const char *)key + 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    size_t whole = bytes.len & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t m = word(bytes.at + i);
        v[3] ^= m;
        rounds(v, 2);
        v[0] ^= m;
    }
    char last[8] = {0};
    if (bytes.len > whole)
        memcpy(last, bytes.at + whole, bytes.len - whole);
    last[7] = (char)bytes.len;
    v[3] ^= word(last);
    rounds(v, 2);
    v[0] ^= word(last);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
