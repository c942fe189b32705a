#include "search/fold.h"

#include "base/own.h"

struct run {
    uint32_t first, last;
    uint32_t step;
    int32_t difference;
};

struct many {
    uint32_t from, to[CS_FOLD_MAX];
};

struct range {
    uint32_t first, last;
};

#include "search/unicode.inc"

#define HANGUL_FIRST 0xAC00u
#define HANGUL_LAST  0xD7A3u

static bool among(uint32_t c, const struct range *ranges, size_t n)
{
    while (n > 0) {
        size_t half = n / 2;
        if (c > ranges[half].last) {
            ranges += half + 1;
            n -= half + 1;
        } else if (c < ranges[half].first) {
            n = half;
        } else {
            return true;
        }
    }
    return false;
}

static unsigned fold_hangul(uint32_t c, uint32_t to[CS_FOLD_MAX])
{
    uint32_t index = c - HANGUL_FIRST;
    to[0] = 0x1100 + index / (21 * 28);
    to[1] = 0x1161 + index / 28 % 21;
    to[2] = 0x11A7 + index % 28;
    return index % 28 ? 3 : 2;
}

static unsigned fold_wide(uint32_t c, uint32_t to[CS_FOLD_MAX])
{
    size_t low = 0, high = CS_COUNT(runs);
    while (low < high) {
        size_t half = (low + high) / 2;
        if (c > runs[half].last) {
            low = half + 1;
        } else if (c < runs[half].first) {
            high = half;
        } else {
            if ((c - runs[half].first) % runs[half].step == 0)
                to[0] = (uint32_t)((int32_t)c + runs[half].difference);
            return 1;
        }
    }
    for (size_t i = 0; i < CS_COUNT(many); i++) {
        if (many[i].from == c) {
            memcpy(to, many[i].to, sizeof many[i].to);
            return to[2] ? 3 : 2;
        }
    }
    return 1;
}

unsigned cs_fold_char(uint32_t c, uint32_t to[CS_FOLD_MAX])
{
    to[0] = c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (c < 0x80)
        return 1;
    if (c >= HANGUL_FIRST && c <= HANGUL_LAST)
        return fold_hangul(c, to);
    if (among(c, marks, CS_COUNT(marks)))
        return 0;
    return fold_wide(c, to);
}

bool cs_fold_is_space(uint32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool cs_fold_is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
               (c >= 123 && c <= 126);
    return among(c, punctuation, CS_COUNT(punctuation));
}

bool cs_fold_is_control(uint32_t c)
{
    if (c < 0x80)
        return (c < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127;
    return c == 0xFFFD || among(c, controls, CS_COUNT(controls));
}

bool cs_fold_is_ideograph(uint32_t c)
{
    static const struct range blocks[] = {
        {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
        {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F},
    };
    return among(c, blocks, CS_COUNT(blocks));
}
