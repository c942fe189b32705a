/*
 * A text as bits. With NEON 64 bytes are sorted by two look-ups each, elsewhere eight bytes at a
 * time by a table: 2.8 GB/s against 0.7 on the answer of bench_scan, where the whole scan has 4.5
 * ns for each byte.
 */
#include "privacy/blocks.h"

#include <string.h>

#ifdef __ARM_NEON
#include <arm_neon.h>
#endif

const unsigned char cs_block_class[256] = {
    ['a' ... 'z'] = CS_B_LETTER | CS_B_OPAQUE,
    ['A' ... 'Z'] = CS_B_LETTER | CS_B_OPAQUE,
    ['0' ... '9'] = CS_B_DIGIT | CS_B_OPAQUE,
    ['+'] = CS_B_OPAQUE | CS_B_FRONT,
    ['/'] = CS_B_OPAQUE,
    ['_'] = CS_B_OPAQUE,
    ['.'] = CS_B_OPAQUE,
    ['-'] = CS_B_OPAQUE | CS_B_DASH,
    ['='] = CS_B_OPAQUE | CS_B_SIGN,
    ['@'] = CS_B_SIGN,
    ['%'] = CS_B_SIGN,
    [':'] = CS_B_SIGN,
    ['>'] = CS_B_SIGN,
    ['('] = CS_B_FRONT,
    ['"'] = CS_B_QUOTE,
    ['\\'] = CS_B_QUOTE | CS_B_ODD,
    [0x80 ... 0xC1] = CS_B_LETTER,
    [0xC2 ... 0xFF] = CS_B_LETTER | CS_B_ODD,
};

/* The bits of each class. */
struct sorted {
    uint64_t letter, digit, opaque, sign, front, dash, quote, odd;
};

#ifdef __ARM_NEON

static inline uint64_t bits(const uint8x16_t v[4], uint8_t class)
{
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t p = vld1q_u8(powers), c = vdupq_n_u8(class);
    uint8x16_t a = vpaddq_u8(vandq_u8(vtstq_u8(v[0], c), p), vandq_u8(vtstq_u8(v[1], c), p));
    uint8x16_t b = vpaddq_u8(vandq_u8(vtstq_u8(v[2], c), p), vandq_u8(vtstq_u8(v[3], c), p));
    a = vpaddq_u8(a, b);
    a = vpaddq_u8(a, a);
    return vgetq_lane_u64(vreinterpretq_u64_u8(a), 0);
}

static inline void sort(const char *at, struct sorted *s)
{
    const uint8_t *p = (const uint8_t *)at;
    uint8x16x4_t low = vld1q_u8_x4(cs_block_class), high = vld1q_u8_x4(cs_block_class + 64);
    uint8x16_t v[4];
    for (unsigned i = 0; i < 4; i++) {
        uint8x16_t b = vld1q_u8(p + i * 16);
        uint8x16_t c = vqtbl4q_u8(low, b);
        c = vqtbx4q_u8(c, high, vsubq_u8(b, vdupq_n_u8(64)));
        c = vorrq_u8(c, vandq_u8(vcgeq_u8(b, vdupq_n_u8(0x80)), vdupq_n_u8(CS_B_LETTER)));
        v[i] = vorrq_u8(c, vandq_u8(vcgeq_u8(b, vdupq_n_u8(0xC2)), vdupq_n_u8(CS_B_ODD)));
    }
    s->letter = bits(v, CS_B_LETTER);
    s->digit = bits(v, CS_B_DIGIT);
    s->opaque = bits(v, CS_B_OPAQUE);
    s->sign = bits(v, CS_B_SIGN);
    s->front = bits(v, CS_B_FRONT);
    s->dash = bits(v, CS_B_DASH);
    s->quote = bits(v, CS_B_QUOTE);
    s->odd = bits(v, CS_B_ODD);
}

#else

/* One bit of each of eight bytes, in order. */
static inline uint64_t bits(uint64_t eight, unsigned bit)
{
    return ((eight >> bit & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

static inline void sort(const char *at, struct sorted *s)
{
    *s = (struct sorted){0};
    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t eight = 0;
        for (unsigned j = 0; j < 8; j++)
            eight |= (uint64_t)cs_block_class[(unsigned char)at[i + j]] << (8 * j);
        s->letter |= bits(eight, 0) << i;
        s->digit |= bits(eight, 1) << i;
        s->opaque |= bits(eight, 2) << i;
        s->sign |= bits(eight, 3) << i;
        s->front |= bits(eight, 4) << i;
        s->dash |= bits(eight, 5) << i;
        s->quote |= bits(eight, 6) << i;
        s->odd |= bits(eight, 7) << i;
    }
}

#endif

/* Where CS_RUN bits in a row begin, of those in `low`, with `high` behind it. */
static inline uint64_t run_starts(uint64_t low, uint64_t high, uint64_t before)
{
    unsigned __int128 x = (unsigned __int128)high << 64 | low;
    x &= x >> 1;
    x &= x >> 2;
    x &= x >> 4;
    x &= x >> 8;
    return (uint64_t)x & ~(low << 1 | before);
}

void cs_blocks_read(const char *at, size_t len, struct cs_block *blocks)
{
    uint64_t digit = 0, before = 0; /* the last bit of the block before */
    size_t n = cs_block_count(len);
    for (size_t i = 0; i < n; i++) {
        struct cs_block *b = &blocks[i];
        struct sorted s;
        if ((i + 1) * 64 <= len) {
            sort(at + i * 64, &s);
        } else {
            char rest[64] = {0};
            if (i * 64 < len)
                memcpy(rest, at + i * 64, len - i * 64);
            sort(rest, &s);
        }
        b->word = s.letter | s.digit;
        b->opaque = s.opaque;
        b->quote = s.quote;
        b->odd = s.odd;
        uint64_t last = (uint64_t)1 << 63;
        b->event = s.sign | (s.front & (s.digit >> 1 | last)) | (s.dash & (s.dash >> 1 | last)) |
                   (s.digit & ~(s.digit << 1 | digit));
        digit = s.digit >> 63;
        b->runs = 0;
        if (i > 0) {
            blocks[i - 1].runs = run_starts(blocks[i - 1].opaque, b->opaque, before);
            before = blocks[i - 1].opaque >> 63;
        }
    }
}
