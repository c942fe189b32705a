/*
 * Inside of privacy/: a text as bits, 64 bytes at a time, so that what is dull is stepped over.
 */
#ifndef CS_PRIVACY_BLOCKS_H
#define CS_PRIVACY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CS_B_LETTER = 1, /* also all that is not ASCII */
    CS_B_DIGIT = 2,
    CS_B_OPAQUE = 4, /* of base64, hex, and what joins such runs */
    CS_B_SIGN = 8,   /* @ % : = > */
    CS_B_FRONT = 16, /* + ( */
    CS_B_DASH = 32,
    CS_B_QUOTE = 64, /* " and \ */
    CS_B_ODD = 128,  /* \, and what may begin a character that only looks different */
};

#define CS_B_WORD (CS_B_LETTER | CS_B_DIGIT)

extern const unsigned char cs_block_class[256];

struct cs_block {
    uint64_t word;   /* letters and digits */
    uint64_t opaque; /* CS_B_OPAQUE */
    uint64_t event;  /* signs, and the first digit of a run */
    uint64_t runs;   /* where CS_RUN or more opaque bytes begin */
    uint64_t quote, odd;
};

#define CS_RUN 16

/* `blocks`: room for cs_block_count of them. */
void cs_blocks_read(const char *at, size_t len, struct cs_block *blocks);

/* One more than it takes: bits are looked up right behind the end. */
static inline size_t cs_block_count(size_t len)
{
    return len / 64 + 2;
}

/* The first place from `i` on, before `end`, with this bit; `end`: none. */
#define CS_BLOCK_NEXT(blocks, field, flip, i, end)                                              \
    __extension__({                                                                             \
        size_t cs_i_ = (i), cs_end_ = (end);                                                    \
        if (cs_i_ < cs_end_) {                                                                  \
            size_t cs_b_ = cs_i_ / 64;                                                          \
            uint64_t cs_m_ = ((blocks)[cs_b_].field ^ (flip)) & (~(uint64_t)0 << (cs_i_ & 63)); \
            while (cs_m_ == 0 && (cs_b_ + 1) * 64 < cs_end_)                                    \
                cs_m_ = (blocks)[++cs_b_].field ^ (flip);                                       \
            cs_i_ = cs_m_ ? cs_b_ * 64 + (size_t)__builtin_ctzll(cs_m_) : cs_end_;              \
        }                                                                                       \
        cs_i_ < cs_end_ ? cs_i_ : cs_end_;                                                      \
    })

#define CS_SET   ((uint64_t)0)
#define CS_CLEAR (~(uint64_t)0)

#endif
