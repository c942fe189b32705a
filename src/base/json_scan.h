/*
 * Runs of uninteresting bytes, sixteen at a time where the machine can. For base/json*.c, and
 * whoever reads lines that we have written.
 *
 * Nothing is read beyond `end`: the text may be the last thing on its page.
 */
#ifndef CS_BASE_JSON_SCAN_H
#define CS_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__ARM_NEON)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Printable ASCII but the quote and the backslash: what a string holds as it is. */
static inline bool cs_json_is_plain(char c)
{
    return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

static inline bool cs_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#if defined(__ARM_NEON)

/* Four bits for each byte of a comparison's outcome: NEON has no movemask. */
static inline uint64_t cs_json_bits(uint8x16_t hits)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hits), 4)), 0);
}

static inline size_t cs_json_first(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits) / 4;
}

#define CS_JSON_STEP 16

/* Bits for the bytes of p[0..15] that are not plain. */
static inline uint64_t cs_json_not_plain(const char *p)
{
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t low = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
    uint8x16_t special = vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\')));
    return cs_json_bits(vorrq_u8(low, special));
}

static inline uint64_t cs_json_not_space(const char *p)
{
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t a = vorrq_u8(vceqq_u8(v, vdupq_n_u8(' ')), vceqq_u8(v, vdupq_n_u8('\n')));
    uint8x16_t b = vorrq_u8(vceqq_u8(v, vdupq_n_u8('\r')), vceqq_u8(v, vdupq_n_u8('\t')));
    return ~cs_json_bits(vorrq_u8(a, b));
}

#elif defined(__SSE2__)

static inline size_t cs_json_first(uint64_t bits)
{
    return (size_t)__builtin_ctzll(bits);
}

#define CS_JSON_STEP 16

static inline uint64_t cs_json_not_plain(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(low, special));
}

static inline uint64_t cs_json_not_space(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i a =
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
    __m128i b = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\r')),
                             _mm_cmpeq_epi8(v, _mm_set1_epi8('\t')));
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(a, b)) ^ 0xFFFF;
}

#endif

/* The first byte that is not plain, or `end`. */
static inline const char *cs_json_skip_plain(const char *p, const char *end)
{
#ifdef CS_JSON_STEP
    for (; end - p >= CS_JSON_STEP; p += CS_JSON_STEP) {
        uint64_t bits = cs_json_not_plain(p);
        if (bits)
            return p + cs_json_first(bits);
    }
#endif
    while (p < end && cs_json_is_plain(*p))
        p++;
    return p;
}

/* The first byte that is no white space, or `end`. */
static inline const char *cs_json_skip_space(const char *p, const char *end)
{
    /* Between tokens there is mostly nothing, or one space. */
    if (p == end || !cs_json_is_space(*p))
        return p;
    p++;
    if (p == end || !cs_json_is_space(*p))
        return p;
#ifdef CS_JSON_STEP
    for (; end - p >= CS_JSON_STEP; p += CS_JSON_STEP) {
        uint64_t bits = cs_json_not_space(p);
        if (bits)
            return p + cs_json_first(bits);
    }
#endif
    while (p < end && cs_json_is_space(*p))
        p++;
    return p;
}

#endif
