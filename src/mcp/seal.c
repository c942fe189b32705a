/* What is given to a client and must come back unchanged; ids that nobody can guess. */
#include "base/mem.h"
#include "mcp/proto.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <strings.h>
#include <sys/random.h>

#define DIGEST 32
#define SEALED (16 + 4 + 8) /* handle, round, until */

void cs_random_bytes(void *to, size_t n)
{
    /* Up to 256 bytes it cannot fail, nor give less. */
    if (getrandom(to, n, 0) != (ssize_t)n)
        abort();
}

/* Base64 for addresses, without padding: a state and an id are safe anywhere. */
static size_t encode(const unsigned char *bytes, size_t n, char *to)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t len = 0;
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 6; have -= 6)
            to[len++] = letters[bits >> (have - 6) & 63];
    }
    if (have > 0)
        to[len++] = letters[bits << (6 - have) & 63];
    to[len] = '\0';
    return len;
}

void cs_random_id(char id[44])
{
    unsigned char bytes[32];
    cs_random_bytes(bytes, sizeof bytes);
    encode(bytes, sizeof bytes, id);
}

/* --- what it is bound to --- */

static void hash(EVP_MD_CTX *ctx, const void *bytes, size_t n)
{
    uint64_t len = n;
    EVP_DigestUpdate(ctx, &len, sizeof len);
    EVP_DigestUpdate(ctx, bytes, n);
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST);
}

static void digest_value(struct cs_json_val v, unsigned char out[DIGEST], struct cs_arena *arena);

/* Members in any order: a client may build the object anew. */
static void digest_object(struct cs_json_val v, bool top, EVP_MD_CTX *ctx, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    size_t n = 0;
    unsigned char(*all)[DIGEST] = cs_arena_alloc(arena, cs_json_count(v) * DIGEST + 1);
    while (cs_json_next(v, &it, &key, &item)) {
        unsigned char of_item[DIGEST];
        struct cs_str name = cs_json_str(key, arena);
        if (top && (cs_str_is(name, "_meta") || cs_str_is(name, "inputResponses") ||
                    cs_str_is(name, "requestState")))
            continue;
        EVP_MD_CTX *one = EVP_MD_CTX_new();
        digest_value(item, of_item, arena);
        EVP_DigestInit_ex(one, EVP_sha256(), NULL);
        hash(one, name.at, name.len);
        hash(one, of_item, sizeof of_item);
        EVP_DigestFinal_ex(one, all[n++], NULL);
        EVP_MD_CTX_free(one);
    }
    if (n > 1)
        qsort(all, n, DIGEST, by_bytes);
    hash(ctx, all, n * DIGEST);
}

static void digest_into(struct cs_json_val v, bool top, unsigned char out[DIGEST],
                        struct cs_arena *arena)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned char type = (unsigned char)cs_json_type(v), inner[DIGEST];
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
    hash(ctx, &type, 1);
    if (type == CS_JSON_OBJECT) {
        digest_object(v, top, ctx, arena);
    } else if (type == CS_JSON_ARRAY) {
        while (cs_json_next(v, &it, NULL, &item)) {
            digest_value(item, inner, arena);
            hash(ctx, inner, sizeof inner);
        }
    } else {
        struct cs_str s = type == CS_JSON_STRING ? cs_json_str(v, arena) : cs_json_raw(v);
        hash(ctx, s.at, s.len);
    }
    EVP_DigestFinal_ex(ctx, out, NULL);
    EVP_MD_CTX_free(ctx);
}

static void digest_value(struct cs_json_val v, unsigned char out[DIGEST], struct cs_arena *arena)
{
    digest_into(v, false, out, arena);
}

void cs_seal_digest(const struct cs_caller *caller, struct cs_str method, struct cs_json_val params,
                    unsigned char digest[32])
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    unsigned char of_params[DIGEST];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    digest_into(params, true, of_params, &arena);
    EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
    hash(ctx, caller->principal, strlen(caller->principal));
    hash(ctx, caller->tenant, strlen(caller->tenant));
    hash(ctx, caller->key_id, strlen(caller->key_id));
    hash(ctx, method.at, method.len);
    hash(ctx, of_params, sizeof of_params);
    EVP_DigestFinal_ex(ctx, digest, NULL);
    EVP_MD_CTX_free(ctx);
}

/* --- the seal --- */

static void mac(const unsigned char key[32], const unsigned char body[SEALED],
                const unsigned char digest[32], unsigned char out[DIGEST])
{
    unsigned char all[SEALED + DIGEST];
    memcpy(all, body, SEALED);
    memcpy(all + SEALED, digest, DIGEST);
    HMAC(EVP_sha256(), key, 32, all, sizeof all, out, NULL);
}

void cs_seal(const unsigned char key[32], const struct cs_seal *seal,
             const unsigned char digest[32], char text[CS_SEAL_TEXT])
{
    unsigned char body[SEALED + DIGEST];
    memcpy(body, seal->handle, 16);
    for (int i = 0; i < 4; i++)
        body[16 + i] = (unsigned char)(seal->round >> 8 * i);
    for (int i = 0; i < 8; i++)
        body[20 + i] = (unsigned char)(seal->until >> 8 * i);
    mac(key, body, digest, body + SEALED);
    text[0] = '1';
    text[1] = '.';
    encode(body, sizeof body, text + 2);
}

bool cs_unseal(const unsigned char key[32], struct cs_str text, const unsigned char digest[32],
               struct cs_seal *seal)
{
    unsigned char body[SEALED + DIGEST] = {0}, right[DIGEST];
    char again[CS_SEAL_TEXT];
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = 0, want = 2 + (sizeof body * 8 + 5) / 6;
    uint32_t bits = 0;
    unsigned have = 0;
    if (text.len != want || !cs_str_starts(text, "1."))
        return false;
    for (size_t i = 2; i < text.len; i++) {
        const char *at = text.at[i] ? strchr(letters, text.at[i]) : NULL;
        if (!at)
            return false;
        bits = bits << 6 | (uint32_t)(at - letters);
        have += 6;
        if (have >= 8 && n < sizeof body) {
            have -= 8;
            body[n++] = (unsigned char)(bits >> have);
        }
    }
    encode(body, sizeof body, again);
    mac(key, body, digest, right);
    /* One text for each state: the bits that are left over count too. */
    if (CRYPTO_memcmp(right, body + SEALED, DIGEST) != 0 ||
        memcmp(again, text.at + 2, want - 2) != 0)
        return false;
    memcpy(seal->handle, body, 16);
    seal->round = 0;
    seal->until = 0;
    for (int i = 0; i < 4; i++)
        seal->round |= (uint32_t)body[16 + i] << 8 * i;
    for (int i = 0; i < 8; i++)
        seal->until |= (uint64_t)body[20 + i] << 8 * i;
    return true;
}

/* --- values of headers --- */

bool cs_header_decode(struct cs_str value, struct cs_arena *arena, struct cs_str *out)
{
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] < ' ' || value.at[i] > '~')
            return false;
    *out = value;
    if (value.len < 11 || strncasecmp(value.at, "=?base64?", 9) != 0 || !cs_str_ends(value, "?="))
        return true;
    struct cs_str code = cs_strn(value.at + 9, value.len - 11);
    size_t padding = 0;
    if (code.len % 4 != 0)
        return false;
    while (padding < 2 && padding < code.len && code.at[code.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i + padding < code.len; i++)
        if (!isalnum((unsigned char)code.at[i]) && code.at[i] != '+' && code.at[i] != '/')
            return false;
    unsigned char *to = cs_arena_alloc(arena, code.len / 4 * 3 + 4);
    int n = EVP_DecodeBlock(to, (const unsigned char *)code.at, (int)code.len);
    if (n < 0 || (size_t)n < padding)
        return false;
    *out = cs_strn((char *)to, (size_t)n - padding);
    return true;
}
