/*
 * Vaults that outlive a process.
 *
 * What is new in a vault is sealed as one batch, AES-256-GCM:
 *
 *     "CSV1", number, salt of the vault, nonce | sealed entries | tag
 *
 *  1. Each vault has a key of its own: HMAC-SHA256 of its salt, which is random, by the key of the
 *     house. So random nonces of 96 bits are safe: a vault has far less than 2^32 batches, and they
 *     are counted.
 *  2. What is authenticated besides: the number of the batch, the tag of the one before, and whose
 *     vault it is. A batch cannot be left out, moved, brought back from another time, or be given
 *     to another owner. (That the last ones are missing cannot be seen here.)
 *  3. The numbers that tokens have are in it, so that none is given twice.
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/mem.h"
#include "privacy/vault.h"

#define MAGIC "CSV1"
#define HEAD  24 /* magic, number, salt */
#define NONCE 12
#define TAG   16

enum { PROGRAM = 1, NUMBER = 2, EXACT = 4 };

/* --- bytes --- */

static void put_u32(struct cs_buf *b, uint32_t x)
{
    cs_buf_put(b, (unsigned char[]){x & 255, x >> 8 & 255, x >> 16 & 255, x >> 24}, 4);
}

static void put_u64(struct cs_buf *b, uint64_t x)
{
    put_u32(b, (uint32_t)x);
    put_u32(b, (uint32_t)(x >> 32));
}

static void put_str(struct cs_buf *b, struct cs_str s)
{
    put_u32(b, (uint32_t)s.len);
    cs_buf_putstr(b, s);
}

struct reader {
    struct cs_str rest;
    bool bad;
};

static struct cs_str take(struct reader *r, size_t n)
{
    if (r->bad || n > r->rest.len) {
        r->bad = true;
        return (struct cs_str){0};
    }
    struct cs_str s = cs_strn(r->rest.at, n);
    r->rest = cs_strn(r->rest.at + n, r->rest.len - n);
    return s;
}

static uint32_t take_u32(struct reader *r)
{
    struct cs_str s = take(r, 4);
    const unsigned char *p = (const unsigned char *)s.at;
    return s.len ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

static uint64_t take_u64(struct reader *r)
{
    uint64_t low = take_u32(r);
    return low | (uint64_t)take_u32(r) << 32;
}

static uint8_t take_u8(struct reader *r)
{
    struct cs_str s = take(r, 1);
    return s.len ? (uint8_t)s.at[0] : 0;
}

static struct cs_str take_str(struct reader *r)
{
    return take(r, take_u32(r));
}

/* --- what is in a batch --- */

static size_t plain_size(const struct cs_vault *v)
{
    size_t n = 64 + v->name_count * (CS_TOKEN_NAME + 16);
    for (size_t i = 0; i < v->server_count; i++)
        n += v->servers[i].len + 4;
    for (size_t i = v->sealed; i < v->count; i++)
        n += v->entries[i].raw.len + 32;
    return n;
}

static void put_plain(const struct cs_vault *v, struct cs_buf *b)
{
    cs_buf_room(b, plain_size(v)); /* all at once: growing would leave copies behind */
    cs_buf_putc(b, (char)v->style);
    cs_buf_put(b, v->key, sizeof v->key);
    put_u32(b, (uint32_t)v->name_count);
    for (size_t i = 0; i < v->name_count; i++) {
        cs_buf_putc(b, (char)v->names[i].kind);
        put_u32(b, v->names[i].last);
        put_str(b, cs_str(v->names[i].text));
    }
    put_u32(b, (uint32_t)v->server_count);
    for (size_t i = 0; i < v->server_count; i++)
        put_str(b, v->servers[i]);
    put_u32(b, (uint32_t)(v->count - v->sealed));
    for (size_t i = v->sealed; i < v->count; i++) {
        const struct cs_entry *e = &v->entries[i];
        put_u64(b, e->id);
        cs_buf_putc(b, (char)(e->program * PROGRAM | e->is_number * NUMBER | e->exact * EXACT));
        put_u32(b, e->name);
        put_u32(b, e->server);
        put_str(b, e->raw);
    }
}

struct named {
    enum cs_pii kind;
    struct cs_str text;
};

static int take_names(struct cs_vault *v, struct reader *r, struct named *names, size_t *count)
{
    *count = take_u32(r);
    if (r->bad || *count > CS_VAULT_NAMES)
        return -1;
    for (size_t i = 0; i < *count; i++) {
        uint8_t custom = take_u8(r);
        uint32_t last = take_u32(r);
        names[i].text = take_str(r);
        (void)custom; /* kinds are known by their names: their order may change */
        if (r->bad || names[i].text.len > CS_TOKEN_NAME || last > CS_TOKEN_NUMBER)
            return -1;
        names[i].kind = CS_PII_CUSTOM;
        for (unsigned k = 0; k < CS_PII_COUNT; k++)
            if (cs_str_is(names[i].text, cs_pii_name((enum cs_pii)k)))
                names[i].kind = (enum cs_pii)k;
        int index = cs_vault_name(v, names[i].kind, names[i].text);
        if (index < 0)
            return -1;
        if (last > v->names[index].last)
            v->names[index].last = last;
    }
    return 0;
}

static int take_entries(struct cs_vault *v, struct reader *r, const struct named *names,
                        size_t name_count, const struct cs_str *servers, size_t server_count,
                        struct cs_err *err)
{
    uint32_t count = take_u32(r);
    for (uint32_t i = 0; i < count && !r->bad; i++) {
        uint64_t id = take_u64(r);
        uint8_t flags = take_u8(r);
        uint32_t name = take_u32(r), server = take_u32(r);
        struct cs_str raw = take_str(r);
        if (r->bad || name >= name_count || server >= server_count || raw.len == 0)
            return cs_fail(err, CS_DENIED, "its content makes no sense");
        struct cs_value value = {.kind = names[name].kind,
                                 .name = names[name].text,
                                 .raw = raw,
                                 .server = servers[server],
                                 .program = flags & PROGRAM,
                                 .is_number = flags & NUMBER,
                                 .exact = flags & EXACT};
        if (cs_vault_put_as(v, &value, id, err) < 0)
            return -1;
    }
    return r->bad ? cs_fail(err, CS_DENIED, "its content makes no sense") : 0;
}

static int take_plain(struct cs_vault *v, struct cs_str plain, struct cs_err *err)
{
    struct reader r = {.rest = plain};
    CS_AUTO_FREE struct named *names = cs_calloc(CS_VAULT_NAMES, sizeof *names);
    CS_AUTO_FREE struct cs_str *servers = cs_calloc(CS_VAULT_SERVERS, sizeof *servers);
    size_t name_count = 0;
    uint8_t style = take_u8(&r);
    struct cs_str key = take(&r, sizeof v->key);
    if (!r.bad && v->batches == 0 && style <= CS_TOKEN_HASH) {
        v->style = (enum cs_token_style)style;
        memcpy(v->key, key.at, sizeof v->key);
    }
    if (r.bad || style != v->style || memcmp(key.at, v->key, sizeof v->key) != 0 ||
        take_names(v, &r, names, &name_count) < 0)
        return cs_fail(err, CS_DENIED, "its content makes no sense");
    uint32_t server_count = take_u32(&r);
    for (uint32_t i = 0; !r.bad && i < server_count; i++) {
        if (i >= CS_VAULT_SERVERS)
            return cs_fail(err, CS_DENIED, "its content makes no sense");
        servers[i] = take_str(&r);
    }
    return take_entries(v, &r, names, name_count, servers, server_count, err);
}

/* --- the cipher --- */

static void cipher_free(EVP_CIPHER_CTX **c)
{
    EVP_CIPHER_CTX_free(*c);
}

static int vault_key(const struct cs_vault_key *key, const unsigned char salt[16],
                     unsigned char own[32])
{
    unsigned char text[32] = "caisson vault 1";
    unsigned size = 32;
    memcpy(text + 16, salt, 16);
    return HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, text, sizeof text, own, &size) ? 0
                                                                                            : -1;
}

/* With the key, the nonce, and everything that goes along. */
static EVP_CIPHER_CTX *begin(const struct cs_vault *v, const struct cs_vault_key *key, bool seal,
                             struct cs_str head, struct cs_str owner, const unsigned char *nonce)
{
    CS_AUTO(cipher_free) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    unsigned char own[32];
    int n;
    bool fine = c && vault_key(key, (const unsigned char *)head.at + 8, own) == 0 &&
                EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, own, nonce, seal) == 1 &&
                EVP_CipherUpdate(c, NULL, &n, (const unsigned char *)head.at, (int)head.len) == 1 &&
                EVP_CipherUpdate(c, NULL, &n, v->tag, sizeof v->tag) == 1 &&
                EVP_CipherUpdate(c, NULL, &n, (const unsigned char *)owner.at, (int)owner.len) == 1;
    explicit_bzero(own, sizeof own);
    return fine ? CS_TAKE(c) : NULL;
}

int cs_vault_seal(struct cs_vault *v, const struct cs_vault_key *key, struct cs_str owner,
                  struct cs_buf *sealed, struct cs_err *err)
{
    if (v->sealed == v->count)
        return 0;
    if (v->batches == UINT32_MAX)
        return cs_fail(err, CS_LIMIT, "a vault cannot be sealed any more: begin a new session");
    unsigned char nonce[NONCE];
    if ((v->batches == 0 && RAND_bytes(v->salt, sizeof v->salt) != 1) ||
        RAND_bytes(nonce, sizeof nonce) != 1)
        return cs_fail(err, CS_SYSTEM, "there is no randomness for sealing a vault");
    CS_AUTO(cs_buf_wipe) struct cs_buf plain = {0};
    put_plain(v, &plain);
    size_t began = sealed->len;
    cs_buf_puts(sealed, MAGIC);
    put_u32(sealed, v->batches);
    cs_buf_put(sealed, v->salt, sizeof v->salt);
    CS_AUTO(cipher_free)
    EVP_CIPHER_CTX *c = begin(v, key, true, cs_strn(sealed->at + began, HEAD), owner, nonce);
    cs_buf_put(sealed, nonce, sizeof nonce);
    unsigned char *to = (unsigned char *)cs_buf_room(sealed, plain.len + TAG);
    int n = 0, rest = 0;
    if (!c || EVP_EncryptUpdate(c, to, &n, (unsigned char *)plain.at, (int)plain.len) != 1 ||
        EVP_EncryptFinal_ex(c, to + n, &rest) != 1 || (size_t)(n + rest) != plain.len ||
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, TAG, to + plain.len) != 1) {
        sealed->len = began;
        return cs_fail(err, CS_SYSTEM, "a vault could not be sealed: libcrypto failed");
    }
    memcpy(v->tag, to + plain.len, TAG);
    cs_buf_added(sealed, plain.len + TAG);
    v->sealed = v->count;
    v->batches++;
    return 1;
}

static int check_head(struct cs_vault *v, struct cs_str sealed, struct cs_err *err)
{
    if (sealed.len < HEAD + NONCE + TAG || memcmp(sealed.at, MAGIC, 4) != 0 ||
        sealed.len > INT32_MAX)
        return cs_fail(err, CS_DENIED, "it is no part of a vault");
    struct reader r = {.rest = cs_strn(sealed.at + 4, 4)};
    if (take_u32(&r) != v->batches || v->sealed != v->count ||
        (v->batches && memcmp(sealed.at + 8, v->salt, sizeof v->salt) != 0))
        return cs_fail(err, CS_DENIED, "it does not follow the part before it");
    return 0;
}

static int open_part(struct cs_vault *v, const struct cs_vault_key *key, struct cs_str owner,
                     struct cs_str sealed, struct cs_err *err)
{
    if (check_head(v, sealed, err) < 0)
        return -1;
    const unsigned char *at = (const unsigned char *)sealed.at;
    size_t size = sealed.len - HEAD - NONCE - TAG;
    unsigned char tag[TAG];
    memcpy(tag, at + HEAD + NONCE + size, TAG);
    CS_AUTO(cs_buf_wipe) struct cs_buf plain = {0};
    unsigned char *to = (unsigned char *)cs_buf_room(&plain, size + TAG);
    CS_AUTO(cipher_free)
    EVP_CIPHER_CTX *c = begin(v, key, false, cs_strn(sealed.at, HEAD), owner, at + HEAD);
    int n = 0, rest = 0;
    if (!c || EVP_DecryptUpdate(c, to, &n, at + HEAD + NONCE, (int)size) != 1 ||
        EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, TAG, tag) != 1 ||
        EVP_DecryptFinal_ex(c, to + n, &rest) != 1)
        return cs_fail(err, CS_DENIED,
                       "it was changed, is of another session, or was sealed with another key");
    memcpy(v->salt, at + 8, sizeof v->salt);
    if (take_plain(v, cs_strn((char *)to, size), err) < 0)
        return -1;
    memcpy(v->tag, tag, TAG);
    v->sealed = v->count;
    v->batches++;
    return 0;
}

int cs_vault_open(struct cs_vault *v, const struct cs_vault_key *key, struct cs_str owner,
                  struct cs_str sealed, struct cs_err *err)
{
    if (open_part(v, key, owner, sealed, err) < 0)
        return cs_wrap(err, "the vault of '%.*s' cannot be opened", CS_STR_ARG(owner));
    return 0;
}
