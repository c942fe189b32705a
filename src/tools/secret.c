#include "tools/secret.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/random.h>

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

void cs_secret_free(char *z)
{
    if (z)
        explicit_bzero(z, strlen(z));
    free(z);
}
