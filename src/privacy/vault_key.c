/*
 * The key of the vaults: from the environment, from what a command printed, or from a file of the
 * data directory.
 */
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/hash.h"
#include "privacy/vault.h"

#define PATH_BYTES 4096
#define FILE_BYTES 256

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* 64 hex digits, or 43 characters of base64url. */
static bool parse(struct cs_str text, struct cs_vault_key *key)
{
    while (text.len && is_blank(text.at[text.len - 1]))
        text.len--;
    while (text.len && is_blank(text.at[0]))
        text = cs_strn(text.at + 1, text.len - 1);
    if (text.len == 64) {
        char lower[64];
        for (size_t i = 0; i < 64; i++)
            lower[i] =
                (char)(text.at[i] >= 'A' && text.at[i] <= 'F' ? text.at[i] | 0x20 : text.at[i]);
        bool fine = cs_hex_read(cs_strn(lower, 64), key->bytes, sizeof key->bytes);
        explicit_bzero(lower, sizeof lower);
        return fine;
    }
    if (text.len == 44 && text.at[43] == '=')
        text.len--;
    if (text.len != 43)
        return false;
    char plain[44];
    for (size_t i = 0; i < 43; i++)
        plain[i] = (char)(text.at[i] == '-' ? '+' : text.at[i] == '_' ? '/' : text.at[i]);
    plain[43] = '=';
    CS_AUTO(cs_buf_wipe) struct cs_buf bytes = {0};
    bool fine = cs_base64_read(cs_strn(plain, 44), &bytes) == 0 && bytes.len == sizeof key->bytes;
    if (fine)
        memcpy(key->bytes, bytes.at, sizeof key->bytes);
    explicit_bzero(plain, sizeof plain);
    return fine;
}

static int read_key(const char *path, struct cs_vault_key *key, struct cs_err *err)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf text = {0};
    if (cs_file_read_private(path, FILE_BYTES, "open the vaults of sessions", &text, err) < 0)
        return -1;
    if (!parse(cs_buf_str(&text), key))
        return cs_fail(
            err, CS_SYSTEM,
            "%s: this is no key (64 hex digits); put the right one back, or move it away "
            "and a new one is made: sessions that were kept then lose their tokens",
            path);
    return 0;
}

static int make_key(const char *path, struct cs_err *err)
{
    unsigned char random[32];
    char hex[2 * sizeof random + 1];
    if (RAND_bytes(random, sizeof random) != 1)
        return cs_fail(err, CS_SYSTEM, "there is no randomness for a key");
    cs_hex(random, sizeof random, hex);
    hex[sizeof hex - 1] = '\n';
    int result = cs_file_make_private(path, cs_strn(hex, sizeof hex), err);
    explicit_bzero(random, sizeof random);
    explicit_bzero(hex, sizeof hex);
    return result;
}

int cs_vault_key_load(const char *data_dir, const char *printed, struct cs_vault_key *key,
                      struct cs_err *err)
{
    const char *given = getenv("CAISSON_PRIVACY_KEY");
    if (given && *given)
        return parse(cs_str(given), key)
                   ? 0
                   : cs_fail(err, CS_INVALID,
                             "CAISSON_PRIVACY_KEY is no key: it has 64 hex digits, or 43 "
                             "characters of base64url (openssl rand -hex 32 makes one)");
    if (printed)
        return parse(cs_str(printed), key)
                   ? 0
                   : cs_fail(err, CS_INVALID,
                             "the command for the privacy key printed none: a key has 64 hex "
                             "digits, or 43 characters of base64url");
    char path[PATH_BYTES];
    struct cs_err said = {0};
    if (snprintf(path, sizeof path, "%s/privacy.key", data_dir) >= (int)sizeof path)
        return cs_fail(err, CS_INVALID, "the path '%s/privacy.key' is too long", data_dir);
    int got = read_key(path, key, &said);
    if (got < 0 && said.code == CS_MISSING)
        got = make_key(path, &said) < 0 ? -1 : read_key(path, key, &said);
    if (got < 0 && err)
        *err = said;
    return got;
}

bool cs_vault_key_mac(const struct cs_vault_key *key, struct cs_str bytes, unsigned char mac[32])
{
    unsigned size = 32;
    return HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, (const unsigned char *)bytes.at,
                bytes.len, mac, &size) != NULL;
}
