/*
 * The key of the vaults: from the environment, from what a command printed, or from a file of the
 * data directory.
 *
 * Two processes may start at once in a new directory: the key is written under another name and
 * linked into its place, so that one of them wins and nobody reads half of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/stat.h>

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

/* Nobody but the owner may read it. */
static int read_key(const char *path, struct cs_vault_key *key, struct cs_err *err)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf text = {0};
    struct stat st;
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? cs_fail(err, CS_MISSING, "there is no key '%s'", path)
                               : cs_fail_errno(err, "%s", path);
    if (fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return cs_fail(err, CS_SYSTEM, "%s: it is no file", path);
    if (st.st_mode & 077)
        return cs_fail(err, CS_SYSTEM,
                       "%s: others can read this key, and with it the vaults of sessions (mode "
                       "%04o): chmod 600 it; if they may have done so, end the sessions, move it "
                       "away and a new one is made",
                       path, (unsigned)st.st_mode & 07777);
    cs_buf_room(&text, FILE_BYTES + 1);
    if (cs_file_read_fd(fd, FILE_BYTES, &text, err) < 0)
        return cs_wrap(err, "%s", path);
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
    char other[PATH_BYTES + 32], hex[66], name[17];
    unsigned char random[32 + 8];
    if (RAND_bytes(random, sizeof random) != 1)
        return cs_fail(err, CS_SYSTEM, "there is no randomness for a key");
    cs_hex(random, 32, hex);
    cs_hex(random + 32, 8, name);
    hex[64] = '\n';
    explicit_bzero(random, sizeof random);
    snprintf(other, sizeof other, "%s.%s", path, name);
    CS_AUTO_FD int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = 0;
    if (fd < 0)
        return cs_fail_errno(err, "%s", other);
    if (cs_file_write_fd(fd, cs_strn(hex, 65)) < 0 || fsync(fd) < 0)
        result = cs_fail_errno(err, "%s", other);
    else if (link(other, path) < 0 && errno != EEXIST) /* somebody else was first: fine */
        result = cs_fail_errno(err, "%s", path);
    explicit_bzero(hex, sizeof hex);
    unlink(other);
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
