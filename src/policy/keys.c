#include "policy/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/time.h"

#define PREFIX     "csk_"
#define PREFIX_LEN 4
#define ID_LEN     16
#define SECRET_LEN 43 /* of base64url: 256 bits */
#define TEXT_LEN   (PREFIX_LEN + ID_LEN + 1 + SECRET_LEN)
/* The time of the last use is written down this often at most: a change for each request would cost
 * more than it tells. */
#define USED_EVERY_MS 60000

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
static const char *const roles[] = {"execute", "approve", "admin"};

struct cs_caller cs_caller_local(void)
{
    struct cs_caller caller = {.principal = "local", .tenant = CS_TENANT_DEFAULT};
    caller.role = CS_KEY_ADMIN;
    return caller;
}

const char *cs_key_role_name(enum cs_key_role role)
{
    return roles[role];
}

int cs_key_role_parse(struct cs_str name, enum cs_key_role *role, struct cs_err *err)
{
    for (size_t i = 0; i < CS_COUNT(roles); i++) {
        if (!cs_str_is(name, roles[i]))
            continue;
        *role = (enum cs_key_role)i;
        return 0;
    }
    return cs_fail(err, CS_INVALID, "there is no role '%.*s'; there are execute, approve and admin",
                   (int)(name.len < 40 ? name.len : 40), name.len ? name.at : "");
}

bool cs_key_name_ok(struct cs_str name)
{
    if (name.len < 1 || name.len > 64)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!c || !strchr(alphabet, c)) {
            if (c != '.' && c != '_' && c != '-')
                return false;
        }
    }
    return true;
}

/* --- making one --- */

static int random_bytes(void *to, size_t n, struct cs_err *err)
{
    if (getrandom(to, n, 0) == (ssize_t)n)
        return 0;
    return cs_fail_errno(err, "the system gives no random bytes");
}

/* Each character is equally likely: bytes beyond the last whole round of the alphabet are left out.
 */
static int put_id(char *to, struct cs_err *err)
{
    const unsigned letters = sizeof alphabet - 1, usable = 256 - 256 % letters;
    for (size_t n = 0; n < ID_LEN;) {
        unsigned char bytes[32];
        if (random_bytes(bytes, sizeof bytes, err) < 0)
            return -1;
        for (size_t i = 0; i < sizeof bytes && n < ID_LEN; i++)
            if (bytes[i] < usable)
                to[n++] = alphabet[bytes[i] % letters];
    }
    return 0;
}

static int put_secret(char *to, struct cs_err *err)
{
    unsigned char bytes[32];
    char base64[48]; /* 44 and a NUL */
    if (random_bytes(bytes, sizeof bytes, err) < 0)
        return -1;
    EVP_EncodeBlock((unsigned char *)base64, bytes, sizeof bytes);
    for (size_t i = 0; i < SECRET_LEN; i++)
        to[i] = (char)(base64[i] == '+' ? '-' : base64[i] == '/' ? '_' : base64[i]);
    explicit_bzero(bytes, sizeof bytes);
    explicit_bzero(base64, sizeof base64);
    return 0;
}

static void hash_secret(const char *secret, unsigned char hash[32])
{
    SHA256((const unsigned char *)secret, SECRET_LEN, hash);
}

int cs_key_make(struct cs_str name, struct cs_str tenant, enum cs_key_role role,
                int64_t lifetime_ms, char text[CS_KEY_TEXT], struct cs_key_row *row,
                struct cs_err *err)
{
    static const char what[] = "1 to 64 letters, digits, '.', '_' or '-'";
    if (!cs_key_name_ok(name))
        return cs_fail(err, CS_INVALID, "the name of a key is %s", what);
    if (!cs_key_name_ok(tenant))
        return cs_fail(err, CS_INVALID, "the name of a tenant is %s", what);
    char *id = text + PREFIX_LEN, *secret = id + ID_LEN + 1;
    memcpy(text, PREFIX, PREFIX_LEN);
    id[ID_LEN] = '_';
    secret[SECRET_LEN] = '\0';
    if (put_id(id, err) < 0 || put_secret(secret, err) < 0)
        return -1;
    int64_t now = cs_time_ms();
    *row = (struct cs_key_row){.id = cs_strn(id, ID_LEN),
                               .name = name,
                               .tenant = tenant,
                               .role = cs_str(cs_key_role_name(role)),
                               .created = now,
                               .expires = lifetime_ms > 0 ? now + lifetime_ms : 0};
    hash_secret(secret, row->hash);
    return 0;
}

/* --- checking one --- */

struct checking {
    struct cs_store *store;
    void (*done)(void *ctx, const struct cs_err *err, const struct cs_caller *caller);
    void *ctx;
    unsigned char hash[32];
    bool well_formed;
};

static bool well_formed(struct cs_str text)
{
    if (text.len != TEXT_LEN || !cs_str_starts(text, PREFIX) || text.at[PREFIX_LEN + ID_LEN] != '_')
        return false;
    for (size_t i = PREFIX_LEN; i < TEXT_LEN; i++) {
        bool in_id = i < PREFIX_LEN + ID_LEN;
        char c = text.at[i];
        if (!c || (!strchr(alphabet, c) && (in_id || (c != '-' && c != '_'))))
            return false;
    }
    return true;
}

static int caller_of(const struct cs_key_row *row, struct cs_caller *caller, struct cs_err *err)
{
    if (!cs_key_name_ok(row->name) || !cs_key_name_ok(row->tenant) || row->id.len != ID_LEN)
        return cs_fail(err, CS_SYSTEM, "a key in the store is damaged");
    if (cs_key_role_parse(row->role, &caller->role, err) < 0) {
        err->code = CS_SYSTEM;
        return -1;
    }
    snprintf(caller->principal, sizeof caller->principal, "%.*s", CS_STR_ARG(row->name));
    snprintf(caller->tenant, sizeof caller->tenant, "%.*s", CS_STR_ARG(row->tenant));
    caller->reveal = row->reveal;
    snprintf(caller->key_id, sizeof caller->key_id, "%.*s", CS_STR_ARG(row->id));
    return 0;
}

/* All ways to be no key take the same steps: one row is looked for and one hash compared. */
static void on_row(void *ctx, const struct cs_err *found, const struct cs_key_row *rows,
                   size_t count)
{
    struct checking *c = ctx;
    static const unsigned char nothing[32];
    const struct cs_key_row *row = found->code == CS_OK && count ? &rows[0] : NULL;
    struct cs_caller caller = {0};
    struct cs_err err = {0};
    int64_t now = cs_time_ms();
    bool equal = CRYPTO_memcmp(row ? row->hash : nothing, c->hash, sizeof c->hash) == 0;
    bool valid =
        row && equal && c->well_formed && !row->revoked && (!row->expires || row->expires > now);
    if (found->code != CS_OK && found->code != CS_MISSING)
        err = *found;
    else if (!valid)
        cs_fail(&err, CS_DENIED, "this key is not valid");
    else if (caller_of(row, &caller, &err) == 0 && now - row->used >= USED_EVERY_MS)
        cs_store_key_used(c->store, row->id, now);
    c->done(c->ctx, &err, err.code ? NULL : &caller);
    explicit_bzero(c, sizeof *c);
    free(c);
}

void cs_key_check(struct cs_store *store, struct cs_str text,
                  void (*done)(void *ctx, const struct cs_err *err, const struct cs_caller *caller),
                  void *ctx)
{
    struct checking *c = CS_NEW(struct checking);
    *c = (struct checking){.store = store, .done = done, .ctx = ctx};
    c->well_formed = well_formed(text);
    /* What has not the form of a key is looked for too, by an id that no key has. */
    struct cs_str id = CS_STR("----------------");
    if (c->well_formed) {
        id = cs_strn(text.at + PREFIX_LEN, ID_LEN);
        hash_secret(text.at + PREFIX_LEN + ID_LEN + 1, c->hash);
    }
    cs_store_key_get(store, id, on_row, c);
}
