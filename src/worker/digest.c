#include "worker/digest.h"

#include <string.h>

#include "base/own.h"

/*
 * All four families share one frame: blocks of 64 or 128 bytes, a padding of 0x80, zeros and the
 * length in bits, and words that are rotated and added.
 */

static uint32_t rotl32(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static uint32_t rotr32(uint32_t v, unsigned n)
{
    return v >> n | v << (32 - n);
}

static uint64_t rotr64(uint64_t v, unsigned n)
{
    return v >> n | v << (64 - n);
}

static uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little32(const unsigned char *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint64_t big64(const unsigned char *p)
{
    return (uint64_t)big32(p) << 32 | big32(p + 4);
}

union state {
    uint32_t w32[8];
    uint64_t w64[8];
};

static void md5_block(union state *s, const unsigned char *p)
{
    /* floor(2^32 * |sin(i + 1)|) */
    static const uint32_t k[64] = {
        0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
        0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
        0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
        0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
        0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
        0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
        0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
        0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
        0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
        0xeb86d391};
    static const unsigned char turn[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = s->w32[0], b = s->w32[1], c = s->w32[2], d = s->w32[3];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f;
        unsigned g;
        if (i < 16) {
            f = (b & c) | (~b & d);
            g = i;
        } else if (i < 32) {
            f = (d & b) | (~d & c);
            g = (5 * i + 1) % 16;
        } else if (i < 48) {
            f = b ^ c ^ d;
            g = (3 * i + 5) % 16;
        } else {
            f = c ^ (b | ~d);
            g = 7 * i % 16;
        }
        uint32_t t = d;
        d = c;
        c = b;
        b += rotl32(a + f + k[i] + little32(p + 4 * g), turn[i / 16][i % 4]);
        a = t;
    }
    s->w32[0] += a;
    s->w32[1] += b;
    s->w32[2] += c;
    s->w32[3] += d;
}

static void sha1_block(union state *s, const unsigned char *p)
{
    uint32_t w[80];
    for (int i = 0; i < 16; i++)
        w[i] = big32(p + 4 * i);
    for (int i = 16; i < 80; i++)
        w[i] = rotl32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = s->w32[0], b = s->w32[1], c = s->w32[2], d = s->w32[3], e = s->w32[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999;
        } else if (i < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (i < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t t = rotl32(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = rotl32(b, 30);
        b = a;
        a = t;
    }
    uint32_t add[5] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        s->w32[i] += add[i];
}

/* The fractional parts of the cube roots of the first 80 primes; SHA-256 takes the upper halves. */
static const uint64_t roots[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

static void sha256_block(union state *s, const unsigned char *p)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = big32(p + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotr32(x, 7) ^ rotr32(x, 18) ^ x >> 3) + w[i - 7] +
               (rotr32(y, 17) ^ rotr32(y, 19) ^ y >> 10);
    }
    memcpy(v, s->w32, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (rotr32(e, 6) ^ rotr32(e, 11) ^ rotr32(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + (uint32_t)(roots[i] >> 32) + w[i];
        uint32_t t2 = (rotr32(a, 2) ^ rotr32(a, 13) ^ rotr32(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        s->w32[i] += v[i];
}

static void sha512_block(union state *s, const unsigned char *p)
{
    uint64_t w[80], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = big64(p + 8 * i);
    for (int i = 16; i < 80; i++) {
        uint64_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotr64(x, 1) ^ rotr64(x, 8) ^ x >> 7) + w[i - 7] +
               (rotr64(y, 19) ^ rotr64(y, 61) ^ y >> 6);
    }
    memcpy(v, s->w64, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint64_t a = v[0], e = v[4];
        uint64_t t1 = v[7] + (rotr64(e, 14) ^ rotr64(e, 18) ^ rotr64(e, 41)) +
                      ((e & v[5]) ^ (~e & v[6])) + roots[i] + w[i];
        uint64_t t2 = (rotr64(a, 28) ^ rotr64(a, 34) ^ rotr64(a, 39)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        s->w64[i] += v[i];
}

static const struct algorithm {
    const char *name;
    size_t block, word, bytes;
    bool little;
    union state start;
    void (*step)(union state *s, const unsigned char *block);
} algorithms[] = {
    {"md5", 64, 4, 16, true, {.w32 = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}}, md5_block},
    {"sha-1",
     64,
     4,
     20,
     false,
     {.w32 = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
     sha1_block},
    {"sha-256",
     64,
     4,
     32,
     false,
     {.w32 = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
              0x5be0cd19}},
     sha256_block},
    {"sha-384",
     128,
     8,
     48,
     false,
     {.w64 = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
              0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}},
     sha512_block},
    {"sha-512",
     128,
     8,
     64,
     false,
     {.w64 = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
              0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}},
     sha512_block},
};

static void finish(const struct algorithm *a, union state *s, struct cs_str rest, size_t total)
{
    unsigned char tail[256] = {0};
    if (rest.len)
        memcpy(tail, rest.at, rest.len);
    tail[rest.len] = 0x80;
    size_t len = rest.len + 1 + 2 * a->word <= a->block ? a->block : 2 * a->block;
    for (size_t i = 0; i < 8; i++)
        tail[a->little ? len - 8 + i : len - 1 - i] = (unsigned char)((uint64_t)total * 8 >> 8 * i);
    for (size_t i = 0; i < len; i += a->block)
        a->step(s, tail + i);
}

size_t cs_hash(struct cs_str name, struct cs_str data, unsigned char out[CS_DIGEST_MAX])
{
    const struct algorithm *a = NULL;
    for (size_t i = 0; i < CS_COUNT(algorithms); i++) {
        if (cs_str_is(name, algorithms[i].name))
            a = &algorithms[i];
    }
    if (!a)
        return 0;
    union state s = a->start;
    size_t whole = data.len - data.len % a->block;
    for (size_t i = 0; i < whole; i += a->block)
        a->step(&s, (const unsigned char *)data.at + i);
    finish(a, &s, cs_strn(data.at + whole, data.len - whole), data.len);
    for (size_t i = 0; i < a->bytes; i++) {
        size_t at = i % a->word;
        size_t shift = 8 * (a->little ? at : a->word - 1 - at);
        uint64_t word = a->word == 4 ? s.w32[i / 4] : s.w64[i / 8];
        out[i] = (unsigned char)(word >> shift);
    }
    return a->bytes;
}

static void quarter(uint32_t x[16], int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] = rotl32(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl32(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl32(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl32(x[b] ^ x[c], 7);
}

static void refill(struct cs_random *r)
{
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(start + 4, r->key, sizeof r->key);
    start[12] = (uint32_t)r->counter;
    start[13] = (uint32_t)(r->counter >> 32);
    r->counter++;
    uint32_t x[16];
    memcpy(x, start, sizeof x);
    for (int i = 0; i < 10; i++) {
        quarter(x, 0, 4, 8, 12);
        quarter(x, 1, 5, 9, 13);
        quarter(x, 2, 6, 10, 14);
        quarter(x, 3, 7, 11, 15);
        quarter(x, 0, 5, 10, 15);
        quarter(x, 1, 6, 11, 12);
        quarter(x, 2, 7, 8, 13);
        quarter(x, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++) {
        uint32_t v = x[i] + start[i];
        for (int k = 0; k < 4; k++)
            r->block[4 * i + k] = (unsigned char)(v >> 8 * k);
    }
    r->used = 0;
}

void cs_random_seed(struct cs_random *r, const uint64_t seed[2])
{
    *r = (struct cs_random){.used = sizeof r->block};
    for (int i = 0; i < 4; i++)
        r->key[i] = r->key[i + 4] = (uint32_t)(seed[i / 2] >> 32 * (i % 2));
}

void cs_random_fill(struct cs_random *r, void *to, size_t n)
{
    unsigned char *at = to;
    while (n > 0) {
        if (r->used == sizeof r->block)
            refill(r);
        size_t take = sizeof r->block - r->used;
        if (take > n)
            take = n;
        memcpy(at, r->block + r->used, take);
        r->used += take;
        at += take;
        n -= take;
    }
}
