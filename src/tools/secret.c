#include "tools/secret.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/random.h>

void cs_base64(struct cs_str bytes, struct cs_buf *out)
{
    if (bytes.len == 0)
        return;
    /* EVP_EncodeBlock writes a NUL as well. */
    char *to = cs_buf_room(out, (bytes.len + 2) / 3 * 4 + 1);
    int n = EVP_EncodeBlock((unsigned char *)to, (const unsigned char *)bytes.at, (int)bytes.len);
    cs_buf_added(out, (size_t)n);
}

int cs_base64_read(struct cs_str text, struct cs_buf *out)
{
    size_t padding = 0;
    if (text.len % 4 || text.len > INT_MAX)
        return -1;
    if (!text.len)
        return 0;
    while (padding < 2 && text.at[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < text.len - padding; i++) {
        char c = text.at[i];
        if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '+' ||
              c == '/'))
            return -1;
    }
    char *to = cs_buf_room(out, text.len / 4 * 3);
    int n = EVP_DecodeBlock((unsigned char *)to, (const unsigned char *)text.at, (int)text.len);
    if (n < 0)
        return -1;
    cs_buf_added(out, (size_t)n - padding);
    return 0;
}

void cs_base64url(struct cs_str bytes, struct cs_buf *out)
{
    size_t start = out->len;
    cs_base64(bytes, out);
    while (out->len > start && out->at[out->len - 1] == '=')
        out->len--;
    for (size_t i = start; i < out->len; i++)
        out->at[i] = out->at[i] == '+' ? '-' : out->at[i] == '/' ? '_' : out->at[i];
}

int cs_random_text(struct cs_buf *out, struct cs_err *err)
{
    char bytes[32];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return cs_fail_errno(err, "random bytes");
    cs_base64url(cs_strn(bytes, sizeof bytes), out);
    explicit_bzero(bytes, sizeof bytes);
    return 0;
}

void cs_pkce_challenge(struct cs_str verifier, struct cs_buf *out)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)verifier.at, verifier.len, hash);
    cs_base64url(cs_strn((char *)hash, sizeof hash), out);
}

bool cs_secret_eq(struct cs_str a, struct cs_str b)
{
    return a.len == b.len && CRYPTO_memcmp(a.at, b.at, a.len) == 0;
}

void cs_secret_done(struct cs_buf *b)
{
    if (b->at)
        explicit_bzero(b->at, b->cap);
    cs_buf_done(b);
}

void cs_secret_free(char *z)
{
    if (z)
        explicit_bzero(z, strlen(z));
    free(z);
}
