#include "base/hash.h"

/* SHA256() looks the digest up by its name each time: of 400 bytes, that is two thirds of it. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/mem.h"

static const char digits[] = "0123456789abcdef";

void cs_sha256(struct cs_str bytes, unsigned char hash[CS_SHA256])
{
    SHA256_CTX sha;
    SHA256_Init(&sha);
    SHA256_Update(&sha, bytes.len ? bytes.at : "", bytes.len);
    SHA256_Final(hash, &sha);
}

struct cs_sha256_sum {
    SHA256_CTX sha;
};

struct cs_sha256_sum *cs_sha256_new(void)
{
    struct cs_sha256_sum *sum = CS_NEW(struct cs_sha256_sum);
    SHA256_Init(&sum->sha);
    return sum;
}

void cs_sha256_add(struct cs_sha256_sum *sum, struct cs_str bytes)
{
    SHA256_Update(&sum->sha, bytes.len ? bytes.at : "", bytes.len);
}

void cs_sha256_with(const struct cs_sha256_sum *sum, struct cs_str bytes,
                    unsigned char hash[CS_SHA256])
{
    struct cs_sha256_sum all = *sum;
    cs_sha256_add(&all, bytes);
    SHA256_Final(hash, &all.sha);
}

void cs_hex(const unsigned char *bytes, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
    to[2 * n] = '\0';
}

void cs_hex_put(struct cs_buf *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cs_buf_putc(out, digits[bytes[i] >> 4]);
        cs_buf_putc(out, digits[bytes[i] & 15]);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool cs_hex_read(struct cs_str text, unsigned char *bytes, size_t n)
{
    if (text.len != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        int high = digit(text.at[2 * i]), low = digit(text.at[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
