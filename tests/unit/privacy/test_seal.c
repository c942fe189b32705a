/* Vaults on the disk: opened by whose they are, in their order, and by nobody else. */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/vault.h"

#define PARTS 3

struct fixture {
    struct cs_vault *vault;
    struct cs_vault_key key;
    struct cs_buf parts[PARTS];
    struct cs_err err;
    char dir[64];
};

static const char owner[] = "default/s1";

static struct cs_entry *put(struct cs_vault *vault, enum cs_pii kind, const char *name,
                            const char *raw)
{
    bool fresh;
    struct cs_value v = {.kind = kind,
                         .name = cs_str(name),
                         .raw = cs_str(raw),
                         .server = CS_STR("crm"),
                         .is_number = kind == CS_PII_PHONE,
                         .program = kind == CS_PII_SSN};
    struct cs_entry *e = cs_vault_put(vault, &v, &fresh, NULL);
    assert_non_null(e);
    return e;
}

static int setup_style(void **state, enum cs_token_style style)
{
    struct fixture *f = calloc(1, sizeof *f);
    memset(f->key.bytes, 7, sizeof f->key.bytes);
    strcpy(f->dir, "/tmp/caisson-seal-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->vault = cs_vault_new(style);
    const char *const mails[PARTS] = {"ann@example.org", "bob@example.org", "cy@example.org"};
    for (int i = 0; i < PARTS; i++) {
        put(f->vault, CS_PII_EMAIL, "EMAIL", mails[i]);
        if (i == 1) {
            put(f->vault, CS_PII_PHONE, "PHONE", "4155550100");
            put(f->vault, CS_PII_SSN, "SSN", "219-09-9999");
            put(f->vault, CS_PII_CUSTOM, "PROJECT", "Bluebird");
        }
        assert_int_equal(cs_vault_seal(f->vault, &f->key, cs_str(owner), &f->parts[i], &f->err), 1);
    }
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return setup_style(state, CS_TOKEN_BRACKET);
}

static int setup_hash(void **state)
{
    return setup_style(state, CS_TOKEN_HASH);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_vault_free(f->vault);
    for (int i = 0; i < PARTS; i++)
        cs_buf_done(&f->parts[i]);
    cs_dir_remove(AT_FDCWD, f->dir);
    free(f);
    return 0;
}

static int open_part(struct fixture *f, struct cs_vault *vault, int i)
{
    return cs_vault_open(vault, &f->key, cs_str(owner), cs_buf_str(&f->parts[i]), &f->err);
}

static struct cs_vault *open_all(struct fixture *f)
{
    struct cs_vault *vault = cs_vault_new(CS_TOKEN_BRACKET);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(open_part(f, vault, i), 0);
    return vault;
}

static void what_was_sealed_is_there_again(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(cs_vault_seal(f->vault, &f->key, cs_str(owner), &f->parts[0], &f->err), 0);
    struct cs_vault *vault = open_all(f);
    assert_int_equal(vault->count, f->vault->count);
    for (size_t i = 0; i < vault->count; i++) {
        const struct cs_entry *a = &f->vault->entries[i], *b = &vault->entries[i];
        char x[CS_TOKEN_MAX], y[CS_TOKEN_MAX];
        cs_vault_text(f->vault, a, x);
        cs_vault_text(vault, b, y);
        assert_string_equal(x, y);
        assert_true(cs_str_eq(a->raw, b->raw));
        assert_true(a->kind == b->kind && a->program == b->program && a->is_number == b->is_number);
        assert_str_is(vault->servers[b->server], "crm");
    }
    /* The same value is the same entry, and a new one gets a number that nobody had. */
    size_t before = vault->count;
    put(vault, CS_PII_EMAIL, "EMAIL", "BOB@example.org");
    assert_int_equal(vault->count, before);
    struct cs_entry *e = put(vault, CS_PII_EMAIL, "EMAIL", "dee@example.org");
    if (vault->style == CS_TOKEN_BRACKET)
        assert_int_equal(e->id, 4);
    /* And goes on from there. */
    struct cs_buf more = {0};
    assert_int_equal(cs_vault_seal(vault, &f->key, cs_str(owner), &more, &f->err), 1);
    cs_vault_free(vault);
    vault = open_all(f);
    assert_int_equal(cs_vault_open(vault, &f->key, cs_str(owner), cs_buf_str(&more), &f->err), 0);
    assert_int_equal(vault->count, before + 1);
    cs_vault_free(vault);
    cs_buf_done(&more);
}

static void refused(struct fixture *f, struct cs_vault *vault, int got)
{
    assert_int_equal(got, -1);
    assert_int_equal(f->err.code, CS_DENIED);
    assert_contains(f->err.msg, "default/");
    cs_vault_free(vault);
}

static void parts_cannot_be_left_out_or_moved(void **state)
{
    struct fixture *f = *state;
    struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
    refused(f, v, open_part(f, v, 1));
    v = cs_vault_new(CS_TOKEN_BRACKET);
    assert_int_equal(open_part(f, v, 0), 0);
    refused(f, v, open_part(f, v, 2));
    v = cs_vault_new(CS_TOKEN_BRACKET);
    assert_int_equal(open_part(f, v, 0), 0);
    refused(f, v, open_part(f, v, 0));
    /* With another number on it. */
    v = cs_vault_new(CS_TOKEN_BRACKET);
    assert_int_equal(open_part(f, v, 0), 0);
    f->parts[2].at[4] = 1;
    refused(f, v, open_part(f, v, 2));
}

static void another_future_does_not_fit(void **state)
{
    struct fixture *f = *state;
    /* From the first part on two vaults go on: a backup was put back. */
    struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
    struct cs_buf other = {0};
    assert_int_equal(open_part(f, v, 0), 0);
    put(v, CS_PII_EMAIL, "EMAIL", "eve@example.org");
    assert_int_equal(cs_vault_seal(v, &f->key, cs_str(owner), &other, &f->err), 1);
    cs_vault_free(v);
    v = cs_vault_new(CS_TOKEN_BRACKET);
    assert_int_equal(open_part(f, v, 0), 0);
    assert_int_equal(cs_vault_open(v, &f->key, cs_str(owner), cs_buf_str(&other), &f->err), 0);
    refused(f, v, open_part(f, v, 2));
    cs_buf_done(&other);
}

static void nobody_else_opens_it(void **state)
{
    struct fixture *f = *state;
    struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
    refused(f, v,
            cs_vault_open(v, &f->key, CS_STR("default/s2"), cs_buf_str(&f->parts[0]), &f->err));
    struct cs_vault_key other = f->key;
    other.bytes[31] ^= 1;
    v = cs_vault_new(CS_TOKEN_BRACKET);
    refused(f, v, cs_vault_open(v, &other, cs_str(owner), cs_buf_str(&f->parts[0]), &f->err));
}

static void every_byte_counts(void **state)
{
    struct fixture *f = *state;
    struct cs_buf *part = &f->parts[0];
    for (size_t i = 0; i < part->len; i++) {
        struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
        part->at[i] ^= 0x40;
        refused(f, v, open_part(f, v, 0));
        part->at[i] ^= 0x40;
        v = cs_vault_new(CS_TOKEN_BRACKET);
        refused(f, v, cs_vault_open(v, &f->key, cs_str(owner), cs_strn(part->at, i), &f->err));
    }
    assert_null(memmem(part->at, part->len, "ann@", 4));
}

static void the_key_is_made_once_and_read_by_its_owner_only(void **state)
{
    struct fixture *f = *state;
    struct cs_vault_key one = {{0}}, two = {{0}};
    char path[128];
    struct stat st;
    unsetenv("CAISSON_PRIVACY_KEY");
    assert_int_equal(cs_vault_key_load(f->dir, NULL, &one, &f->err), 0);
    assert_int_equal(cs_vault_key_load(f->dir, NULL, &two, &f->err), 0);
    assert_memory_equal(one.bytes, two.bytes, sizeof one.bytes);
    snprintf(path, sizeof path, "%s/privacy.key", f->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(cs_vault_key_load(f->dir, NULL, &two, &f->err), -1);
    assert_contains(f->err.msg, "chmod 600");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(cs_vault_key_load(f->dir, NULL, &two, &f->err), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cs_file_replace(path, CS_STR("nonsense"), 0600, &f->err), 0);
    assert_int_equal(cs_vault_key_load(f->dir, NULL, &two, &f->err), -1);
    assert_contains(f->err.msg, "no key");
}

static void a_key_can_be_given(void **state)
{
    struct fixture *f = *state;
    static const char hex[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
    static const char text[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    struct cs_vault_key one = {{0}}, two = {{0}};
    assert_int_equal(cs_vault_key_load(f->dir, hex, &one, &f->err), 0);
    assert_int_equal(one.bytes[31], 31);
    assert_int_equal(
        cs_vault_key_load(f->dir, " AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n", &two, &f->err),
        0);
    assert_memory_equal(one.bytes, two.bytes, sizeof one.bytes);
    assert_int_equal(cs_vault_key_load(f->dir, "hello", &two, &f->err), -1);
    assert_contains(f->err.msg, "command");
    assert_null(strstr(f->err.msg, "hello"));
    setenv("CAISSON_PRIVACY_KEY", text, 1);
    memset(&two, 0, sizeof two);
    assert_int_equal(cs_vault_key_load(f->dir, "hello", &two, &f->err), 0);
    assert_memory_equal(one.bytes, two.bytes, sizeof one.bytes);
    setenv("CAISSON_PRIVACY_KEY", "short", 1);
    assert_int_equal(cs_vault_key_load(f->dir, hex, &two, &f->err), -1);
    assert_null(strstr(f->err.msg, "short"));
    unsetenv("CAISSON_PRIVACY_KEY");
    assert_int_equal(access(f->dir, F_OK), 0);
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(what_was_sealed_is_there_again),
        CS_TEST_WITH(what_was_sealed_is_there_again, setup_hash, teardown),
        WITH(parts_cannot_be_left_out_or_moved),
        WITH(another_future_does_not_fit),
        WITH(nobody_else_opens_it),
        WITH(every_byte_counts),
        WITH(the_key_is_made_once_and_read_by_its_owner_only),
        WITH(a_key_can_be_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
