/*
 * The key of the ledger: two files of the data directory, and what is done with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger/inside.h"

#define PATH_BYTES 4096
#define PEM_BYTES  4096

struct cs_ledger {
    EVP_PKEY *key;
    unsigned char public[32];
    struct cs_chain chain;
};

static void bio_free(BIO **bio)
{
    BIO_free(*bio);
}

static void pkey_free(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void md_free(EVP_MD_CTX **md)
{
    EVP_MD_CTX_free(*md);
}

static int crypto_failed(struct cs_err *err, const char *what)
{
    unsigned long code = ERR_get_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return cs_fail(err, CS_SYSTEM, "%s: %s", what, why ? why : "libcrypto failed");
}

/* --- signatures --- */

int cs_ledger_sign(const struct cs_ledger *l, struct cs_str message, unsigned char signature[64],
                   struct cs_err *err)
{
    size_t size = 64;
    CS_AUTO(md_free) EVP_MD_CTX *md = EVP_MD_CTX_new();
    if (!md || EVP_DigestSignInit(md, NULL, NULL, NULL, l->key) != 1 ||
        EVP_DigestSign(md, signature, &size, (const unsigned char *)message.at, message.len) != 1 ||
        size != 64)
        return crypto_failed(err, "signing with the key of the ledger");
    return 0;
}

bool cs_signature_fits(const unsigned char key[32], struct cs_str message,
                       const unsigned char signature[64])
{
    CS_AUTO(pkey_free)
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    CS_AUTO(md_free) EVP_MD_CTX *md = EVP_MD_CTX_new();
    bool fits =
        pkey && md && EVP_DigestVerifyInit(md, NULL, NULL, NULL, pkey) == 1 &&
        EVP_DigestVerify(md, signature, 64, (const unsigned char *)message.at, message.len) == 1;
    ERR_clear_error();
    return fits;
}

int cs_checkpoint_sign(const struct cs_ledger *l, struct cs_checkpoint_row *row, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf message = {0};
    memcpy(row->key, l->public, 32);
    cs_checkpoint_message(&message, row);
    return cs_ledger_sign(l, cs_buf_str(&message), row->signature, err);
}

static int sign_row(void *ctx, struct cs_checkpoint_row *row, struct cs_err *err)
{
    return cs_checkpoint_sign(ctx, row, err);
}

void cs_ledger_fingerprint(const unsigned char key[32], char text[CS_FINGERPRINT])
{
    unsigned char hash[32];
    char hex[33];
    cs_sha256(cs_strn((const char *)key, 32), hash);
    cs_hex(hash, 16, hex);
    for (int i = 0; i < 8; i++)
        snprintf(text + 5 * i, CS_FINGERPRINT - 5 * (size_t)i, "%.4s%s", hex + 4 * i,
                 i < 7 ? "-" : "");
}

/* --- files --- */

static int path_of(const char *dir, const char *name, char path[PATH_BYTES], struct cs_err *err)
{
    if (snprintf(path, PATH_BYTES, "%s/%s", dir, name) >= PATH_BYTES)
        return cs_fail(err, CS_INVALID, "the path '%s/%s' is too long", dir, name);
    return 0;
}

static int raw_public(EVP_PKEY *key, unsigned char raw[32])
{
    size_t size = 32;
    return EVP_PKEY_id(key) == EVP_PKEY_ED25519 &&
                   EVP_PKEY_get_raw_public_key(key, raw, &size) == 1 && size == 32
               ? 0
               : -1;
}

static int read_private(const char *path, EVP_PKEY **key, struct cs_err *err)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf pem = {0};
    if (cs_file_read_private(path, PEM_BYTES, "sign with it", &pem, err) < 0)
        return -1;
    CS_AUTO(bio_free) BIO *bio = BIO_new_mem_buf(pem.at, (int)pem.len);
    CS_AUTO(pkey_free)
    EVP_PKEY *got = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    unsigned char raw[32];
    ERR_clear_error();
    if (!got || raw_public(got, raw) < 0)
        return cs_fail(err, CS_SYSTEM,
                       "%s: this is no Ed25519 key in PEM form; put the right one back, or move it "
                       "away and a new one is made",
                       path);
    *key = CS_TAKE(got);
    return 0;
}

/* The public key is written after the private one: if it is alone, somebody took the other away. */
static int make_private(const char *path, const char *public, struct cs_err *err)
{
    if (access(public, F_OK) == 0 && access(path, F_OK) < 0)
        return cs_fail(err, CS_SYSTEM,
                       "%s is gone, and %s is there: put the key back, or move the public one away "
                       "and keep it (it verifies what was signed so far): then a new key is made",
                       path, public);
    CS_AUTO(pkey_free) EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CS_AUTO(bio_free) BIO *bio = BIO_new(BIO_s_secmem());
    char *pem;
    if (!key || !bio || PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) != 1)
        return crypto_failed(err, "a key for the ledger");
    long size = BIO_get_mem_data(bio, &pem);
    return cs_file_make_private(path, cs_strn(pem, (size_t)size), err);
}

int cs_ledger_read_key(const char *path, unsigned char key[32], struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf pem = {0};
    if (cs_file_read(path, PEM_BYTES, &pem, err) < 0)
        return -1;
    CS_AUTO(bio_free) BIO *bio = BIO_new_mem_buf(pem.len ? pem.at : "", (int)pem.len);
    CS_AUTO(pkey_free) EVP_PKEY *got = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;
    ERR_clear_error();
    unsigned char raw[32];
    if (!got || raw_public(got, raw) < 0)
        return cs_fail(err, CS_INVALID, "%s: this is no public Ed25519 key in PEM form", path);
    memcpy(key, raw, 32);
    return 0;
}

/* The public key beside it: made if it is missing, and never another one's. */
static int settle_public(const struct cs_ledger *l, const char *path, struct cs_err *err)
{
    unsigned char there[32];
    struct cs_err said = {0};
    if (cs_ledger_read_key(path, there, &said) == 0) {
        if (memcmp(there, l->public, 32) == 0)
            return 0;
        return cs_fail(err, CS_SYSTEM,
                       "%s: it does not belong to ledger.key beside it; put the right key back, or "
                       "remove this file if the key was changed on purpose",
                       path);
    }
    if (said.code != CS_MISSING) {
        *err = said;
        return -1;
    }
    CS_AUTO(bio_free) BIO *bio = BIO_new(BIO_s_mem());
    char *pem;
    if (!bio || PEM_write_bio_PUBKEY(bio, l->key) != 1)
        return crypto_failed(err, "the public key of the ledger");
    long size = BIO_get_mem_data(bio, &pem);
    return cs_file_replace(path, cs_strn(pem, (size_t)size), 0644, err);
}

int cs_ledger_open(const char *dir, struct cs_ledger **ledger, struct cs_err *err)
{
    char private[PATH_BYTES], public[PATH_BYTES];
    struct cs_err said = {0};
    if (path_of(dir, "ledger.key", private, err) < 0 || path_of(dir, "ledger.pub", public, err) < 0)
        return -1;
    struct cs_ledger *l = CS_NEW(struct cs_ledger);
    int got = read_private(private, &l->key, &said);
    if (got < 0 && said.code == CS_MISSING)
        got = make_private(private, public, &said) < 0 ? -1 : read_private(private, &l->key, &said);
    if (got == 0 && raw_public(l->key, l->public) < 0)
        got = crypto_failed(&said, private);
    if (got < 0 || settle_public(l, public, &said) < 0) {
        if (err)
            *err = said;
        cs_ledger_close(l);
        return -1;
    }
    l->chain = (struct cs_chain){CS_CHECKPOINT_EVERY, cs_chain_link, sign_row, l};
    *ledger = l;
    return 0;
}

void cs_ledger_close(struct cs_ledger *l)
{
    if (!l)
        return;
    EVP_PKEY_free(l->key);
    free(l);
}

const struct cs_chain *cs_ledger_chain(const struct cs_ledger *l)
{
    return &l->chain;
}

void cs_ledger_public(const struct cs_ledger *l, unsigned char key[32])
{
    memcpy(key, l->public, 32);
}
