/* The key of the ledger and its files. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "exports.h"

static void path_to(const struct ledger_fixture *f, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", f->dir, name);
}

static void the_key_is_made_once(void **state)
{
    (void)state;
    struct ledger_fixture f;
    struct cs_ledger *again = NULL;
    struct cs_err err = {0};
    unsigned char key[32];
    char path[128];
    struct stat st;
    fixture_open(&f);
    assert_int_equal(cs_ledger_open(f.dir, &again, &err), 0);
    cs_ledger_public(again, key);
    assert_memory_equal(key, f.key, 32);
    cs_ledger_close(again);
    path_to(&f, "ledger.key", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    path_to(&f, "ledger.pub", path);
    assert_int_equal(cs_ledger_read_key(path, key, &err), 0);
    assert_memory_equal(key, f.key, 32);
    fixture_close(&f);
}

static void *open_one(void *arg)
{
    struct ledger_fixture *f = arg;
    struct cs_ledger *ledger = NULL;
    struct cs_err err = {0};
    unsigned char *key = calloc(1, 32);
    if (cs_ledger_open(f->dir, &ledger, &err) == 0)
        cs_ledger_public(ledger, key);
    cs_ledger_close(ledger);
    return key;
}

static void who_starts_together_has_one_key(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct ledger_fixture f = {0};
        pthread_t threads[4];
        unsigned char *keys[4];
        snprintf(f.dir, sizeof f.dir, "/tmp/cs-ledger-XXXXXX");
        assert_non_null(mkdtemp(f.dir));
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, open_one, &f), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], (void **)&keys[i]);
        static const unsigned char zero[32];
        assert_memory_not_equal(keys[0], zero, 32);
        for (int i = 0; i < 4; i++)
            assert_memory_equal(keys[i], keys[0], 32);
        for (int i = 0; i < 4; i++)
            free(keys[i]);
        cs_dir_remove(-1, f.dir);
    }
}

static void assert_refused(const struct ledger_fixture *f, const char *why)
{
    struct cs_ledger *ledger = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_ledger_open(f->dir, &ledger, &err), -1);
    assert_null(ledger);
    assert_contains(err.msg, why);
}

static void a_key_that_is_not_right_is_refused(void **state)
{
    (void)state;
    struct ledger_fixture f, other;
    char path[128], public[128], foreign[128];
    fixture_open(&f);
    fixture_open(&other);
    path_to(&f, "ledger.key", path);
    path_to(&f, "ledger.pub", public);
    path_to(&other, "ledger.pub", foreign);
    chmod(path, 0640);
    assert_refused(&f, "others can read this key");
    chmod(path, 0600);
    rename(path, public);
    assert_refused(&f, "is gone");
    rename(public, path);
    rename(foreign, public);
    assert_refused(&f, "does not belong to ledger.key");
    unlink(public);
    cs_file_replace(path, CS_STR("-----BEGIN PRIVATE KEY-----\nnonsense\n"), 0600, NULL);
    assert_refused(&f, "no Ed25519 key");
    cs_file_replace(path, CS_STR(""), 0600, NULL);
    assert_refused(&f, "no Ed25519 key");
    unlink(path);
    symlink("/etc/passwd", path);
    assert_refused(&f, "ledger.key");
    unlink(path);
    mkdir(path, 0700);
    assert_refused(&f, "it is no file");
    fixture_close(&f);
    fixture_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(the_key_is_made_once),
        CS_TEST(who_starts_together_has_one_key),
        CS_TEST(a_key_that_is_not_right_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
