#include "schema/number.h"

#include <math.h>

#include "schema/names.h"

#define SMALL_DIGITS 18
/* Exponents beyond this are all the same: no text is long enough to make up for them. */
#define EXP_MAX 1000000000000

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Most numbers: an optional sign and at most 18 digits. */
static bool read_plain(struct cs_str raw, struct cs_num *n)
{
    const char *p = raw.at, *end = raw.at + raw.len;
    bool negative = *p == '-';
    p += negative;
    if (end - p > SMALL_DIGITS)
        return false;
    int64_t v = 0;
    const char *first = p;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        v = v * 10 + (*p - '0');
    }
    size_t count = v ? (size_t)(end - first) : 0;
    *n = (struct cs_num){.digits = first,
                         .scale = (int64_t)count,
                         .small = negative ? -v : v,
                         .negative = negative && v,
                         .is_small = true};
    while (count > 0 && first[count - 1] == '0')
        count--;
    n->count = count;
    return true;
}

static int64_t read_exponent(const char *p, const char *end)
{
    bool minus = p < end && *p == '-';
    int64_t v = 0;
    for (; p < end; p++)
        if (is_digit(*p) && v < EXP_MAX)
            v = v * 10 + (*p - '0');
    return minus ? -v : v;
}

/* The value of an integer of at most 18 digits. */
static int64_t small_value(const struct cs_num *n)
{
    int64_t v = 0, left = n->scale;
    const char *d = n->digits;
    for (size_t i = 0; i < n->count; d++)
        if (*d != '.') {
            v = v * 10 + (*d - '0');
            i++;
            left--;
        }
    for (; left > 0; left--)
        v *= 10;
    return n->negative ? -v : v;
}

struct cs_num cs_num_read(struct cs_str raw)
{
    struct cs_num n;
    if (read_plain(raw, &n))
        return n;
    const char *p = raw.at, *end = raw.at + raw.len;
    n = (struct cs_num){.negative = *p == '-'};
    p += n.negative;
    size_t seen = 0; /* digits since the first that is not 0 */
    bool fraction = false;
    for (; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (*p != '0' && !n.digits)
            n.digits = p;
        if (n.digits) {
            seen++;
            n.scale += !fraction;
        } else {
            n.scale -= fraction;
        }
        if (*p != '0')
            n.count = seen;
    }
    if (n.count == 0)
        return (struct cs_num){.digits = raw.at, .is_small = true};
    if (p < end)
        n.scale += read_exponent(p + 1, end);
    n.is_small = n.scale <= SMALL_DIGITS && n.scale >= (int64_t)n.count;
    n.small = n.is_small ? small_value(&n) : 0;
    return n;
}

static int compare_digits(const struct cs_num *a, const struct cs_num *b)
{
    const char *p = a->digits, *q = b->digits;
    size_t common = a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < common; i++, p++, q++) {
        p += *p == '.';
        q += *q == '.';
        if (*p != *q)
            return *p < *q ? -1 : 1;
    }
    return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

static int sign(const struct cs_num *n)
{
    return n->count == 0 ? 0 : n->negative ? -1 : 1;
}

int cs_num_compare(const struct cs_num *a, const struct cs_num *b)
{
    if (a->is_small && b->is_small)
        return a->small == b->small ? 0 : a->small < b->small ? -1 : 1;
    int s = sign(a), t = sign(b);
    if (s != t)
        return s < t ? -1 : 1;
    if (s == 0)
        return 0;
    int magnitude = a->scale != b->scale ? (a->scale < b->scale ? -1 : 1) : compare_digits(a, b);
    return s * magnitude;
}

static uint64_t times(uint64_t a, uint64_t b, uint64_t m)
{
    return (uint64_t)((unsigned __int128)a * b % m);
}

/* The digits as one number, modulo m (0: not at all, and there are at most 18). */
static uint64_t whole(const struct cs_num *n, uint64_t m)
{
    uint64_t v = 0;
    const char *d = n->digits;
    for (size_t i = 0; i < n->count; d++) {
        if (*d == '.')
            continue;
        uint64_t digit = (uint64_t)(*d - '0');
        v = m ? (uint64_t)(((unsigned __int128)v * 10 + digit) % m) : v * 10 + digit;
        i++;
    }
    return v;
}

static double approximate(const struct cs_num *n)
{
    double v = 0;
    const char *d = n->digits;
    for (size_t i = 0; i < n->count; d++)
        if (*d != '.') {
            v = v * 10 + (*d - '0');
            i++;
        }
    return v * pow(10, (double)(n->scale - (int64_t)n->count));
}

bool cs_num_is_multiple(const struct cs_num *n, const struct cs_num *unit)
{
    if (n->count == 0)
        return true;
    if (unit->count > SMALL_DIGITS)
        return fmod(approximate(n), approximate(unit)) == 0;
    /* n = A * 10^x and unit = B * 10^y, where 10 divides neither A nor B. With x < y, A would have
     * to be a multiple of 10. */
    int64_t shift = (n->scale - (int64_t)n->count) - (unit->scale - (int64_t)unit->count);
    if (shift < 0)
        return false;
    uint64_t b = whole(unit, 0), rest = whole(n, b), power = 10 % b;
    for (; shift > 0; shift >>= 1, power = times(power, power, b))
        if (shift & 1)
            rest = times(rest, power, b);
    return rest == 0;
}

uint64_t cs_num_hash(const struct cs_num *n, uint64_t seed)
{
    uint64_t h = seed ^ (uint64_t)n->scale * 2 ^ n->negative;
    if (n->count == 0)
        return cs_names_mix(seed, 0x9E3779B97F4A7C15u);
    const char *d = n->digits;
    for (size_t i = 0; i < n->count; d++)
        if (*d != '.') {
            h = h * 31 + (uint64_t)(*d - '0');
            i++;
        }
    return cs_names_mix(h, 0x9E3779B97F4A7C15u);
}
