#include "store/fixture.h"

#include <dirent.h>

#include "store/inside.h"

static int add(struct fixture *f, const char *id, const char *tenant, const char *execution,
               struct cs_str content)
{
    struct cs_artifact_row row = {.id = cs_str(id),
                                  .tenant = cs_str(tenant),
                                  .execution = cs_str(execution),
                                  .session = CS_STR("ses_1"),
                                  .name = CS_STR("result.json"),
                                  .media_type = CS_STR("application/json"),
                                  .created = 1000};
    return F(f, cs_store_artifact_add, f_artifacts, &row, content);
}

static int get(struct fixture *f, const char *id, const char *tenant, uint64_t offset, size_t max)
{
    return F(f, cs_store_artifact_get, f_artifacts, cs_str(tenant), cs_str(id), offset, max);
}

/* What had come in when it was made comes with it. */
static void labels_stay_with_it(void **state)
{
    struct fixture *f = *state;
    const struct cs_artifact_row row = {.id = CS_STR("art_1"),
                                        .tenant = CS_STR("default"),
                                        .execution = CS_STR("exec_1"),
                                        .name = CS_STR("n"),
                                        .came = CS_STR("[{\"labels\":3}]")};
    assert_int_equal(F(f, cs_store_artifact_add, f_artifacts, &row, CS_STR("x")), CS_OK);
    assert_int_equal(get(f, "art_1", "default", 0, 1), CS_OK);
    assert_str_is(f->artifacts[0].came, "[{\"labels\":3}]");
}

static int list(struct fixture *f, const char *session, const char *execution, size_t limit)
{
    return F(f, cs_store_artifacts, f_artifacts, CS_STR("default"), cs_str(session),
             cs_str(execution), limit);
}

/* How many files there are below blobs/, and the path of the last one. */
static int blobs(struct fixture *f, char path[512])
{
    char top[128];
    snprintf(top, sizeof top, "%s/blobs", f->dir);
    int count = 0;
    DIR *dir = opendir(top);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char below[400];
        snprintf(below, sizeof below, "%s/%s", top, e->d_name);
        DIR *inner = e->d_name[0] == '.' ? NULL : opendir(below);
        for (struct dirent *b; inner && (b = readdir(inner));) {
            if (b->d_name[0] == '.')
                continue;
            count++;
            snprintf(path, 512, "%.200s/%.200s", below, b->d_name);
        }
        if (inner)
            closedir(inner);
    }
    if (dir)
        closedir(dir);
    return count;
}

static void the_content_comes_back_whole_or_in_parts(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add(f, "art_1", "default", "exec_1", CS_STR("0123456789")), CS_OK);
    assert_int_equal(get(f, "art_1", "default", 0, 100), CS_OK);
    assert_str_is(f->content, "0123456789");
    assert_str_is(f->artifacts[0].name, "result.json");
    assert_str_is(f->artifacts[0].media_type, "application/json");
    assert_str_is(f->artifacts[0].execution, "exec_1");
    assert_int_equal(f->artifacts[0].size, 10);
    assert_int_equal(f->artifacts[0].hash[0], 0x84);
    assert_int_equal(f->artifacts[0].hash[31], 0x82);
    get(f, "art_1", "default", 3, 4);
    assert_str_is(f->content, "3456");
    get(f, "art_1", "default", 8, 100);
    assert_str_is(f->content, "89");
    assert_int_equal(get(f, "art_1", "default", 10, 100), CS_OK);
    assert_int_equal(f->content.len, 0);
    assert_int_equal(get(f, "art_1", "default", UINT64_MAX, SIZE_MAX), CS_OK);
    assert_int_equal(f->content.len, 0);
    assert_int_equal(f->count, 1);
}

static void every_byte_is_content(void **state)
{
    struct fixture *f = *state;
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    add(f, "art_1", "default", "exec_1", cs_strn(bytes, sizeof bytes));
    get(f, "art_1", "default", 0, 1000);
    assert_int_equal(f->content.len, 256);
    assert_memory_equal(f->content.at, bytes, 256);
    assert_int_equal(add(f, "art_2", "default", "exec_1", CS_STR("")), CS_OK);
    assert_int_equal(get(f, "art_2", "default", 0, 1000), CS_OK);
    assert_int_equal(f->content.len, 0);
}

static void equal_contents_are_one_file_of_ours_alone(void **state)
{
    struct fixture *f = *state;
    char path[512] = "";
    struct stat st;
    add(f, "art_1", "default", "exec_1", CS_STR("same"));
    add(f, "art_2", "theirs", "exec_2", CS_STR("same"));
    assert_int_equal(blobs(f, path), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    add(f, "art_3", "default", "exec_1", CS_STR("other"));
    assert_int_equal(blobs(f, path), 2);
    assert_code(add(f, "art_3", "default", "exec_1", CS_STR("more")), CS_CONFLICT, "art_3");
}

static void another_tenants_artifact_is_none(void **state)
{
    struct fixture *f = *state;
    add(f, "art_1", "theirs", "exec_1", CS_STR("secret"));
    assert_code(get(f, "art_1", "default", 0, 100), CS_MISSING, "no artifact 'art_1'");
    assert_int_equal(f->content.len, 0);
    list(f, "", "", 10);
    assert_int_equal(f->count, 0);
    list(f, "", "exec_1", 10);
    assert_int_equal(f->count, 0);
    list(f, "ses_1", "", 10);
    assert_int_equal(f->count, 0);
}

static void lists_are_of_a_session_an_execution_or_all(void **state)
{
    struct fixture *f = *state;
    add(f, "art_1", "default", "exec_1", CS_STR("a"));
    add(f, "art_2", "default", "exec_2", CS_STR("b"));
    add(f, "art_3", "default", "exec_2", CS_STR("c"));
    list(f, "", "", 10);
    assert_int_equal(f->count, 3);
    assert_str_is(f->artifacts[0].id, "art_3");
    list(f, "", "", 2);
    assert_int_equal(f->count, 2);
    list(f, "ses_1", "", 10);
    assert_int_equal(f->count, 3);
    list(f, "ses_2", "", 10);
    assert_int_equal(f->count, 0);
    list(f, "", "exec_2", 10);
    assert_int_equal(f->count, 2);
    assert_str_is(f->artifacts[0].id, "art_3");
}

static void they_are_forgotten_with_their_execution(void **state)
{
    struct fixture *f = *state;
    char path[512] = "";
    for (int i = 1; i <= 2; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        done.finished = i * 1000;
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
        cs_store_execution_settle(f->store, &done, NULL, NULL, NULL);
    }
    add(f, "art_1", "default", "exec_1", CS_STR("shared"));
    add(f, "art_2", "default", "exec_1", CS_STR("alone"));
    add(f, "art_3", "default", "exec_2", CS_STR("shared"));
    /* They are young: their rows go, and the contents stay for those who may have put them again.
     */
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 1500), CS_OK);
    assert_int_equal(blobs(f, path), 2);
    f_age(f);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 1500), CS_OK);
    assert_int_equal(get(f, "art_1", "default", 0, 10), CS_MISSING);
    assert_int_equal(get(f, "art_3", "default", 0, 10), CS_OK);
    assert_str_is(f->content, "shared");
    assert_int_equal(blobs(f, path), 1);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 5000), CS_OK);
    assert_int_equal(blobs(f, path), 0);
}

static void a_content_that_is_damaged_is_told_and_can_be_put_again(void **state)
{
    struct fixture *f = *state;
    char path[512] = "";
    add(f, "art_1", "default", "exec_1", CS_STR("0123456789"));
    assert_int_equal(blobs(f, path), 1);
    assert_int_equal(truncate(path, 3), 0);
    assert_code(get(f, "art_1", "default", 0, 100), CS_SYSTEM, "damaged");
    assert_int_equal(f->count, 0);
    assert_int_equal(unlink(path), 0);
    assert_code(get(f, "art_1", "default", 0, 100), CS_SYSTEM, "gone");
    add(f, "art_2", "default", "exec_1", CS_STR("0123456789"));
    assert_int_equal(get(f, "art_1", "default", 0, 100), CS_OK);
    /* That is no reason to call the whole store ill. */
    struct cs_err err = {0};
    cs_store_health(f->store, &err);
    assert_int_equal(err.code, CS_OK);
}

static void make_old(struct fixture *f)
{
    char top[200];
    snprintf(top, sizeof top, "%s/blobs", f->dir);
    for (int i = 0; i < 256; i++) {
        char below[256];
        snprintf(below, sizeof below, "%s/%02x", top, i);
        DIR *dir = opendir(below);
        struct timespec old[2] = {{1, 0}, {1, 0}};
        for (struct dirent *e; dir && (e = readdir(dir));)
            utimensat(dirfd(dir), e->d_name, old, 0);
        if (dir)
            closedir(dir);
    }
}

static void sweep(struct fixture *f)
{
    struct cs_db db;
    struct cs_err err = {0};
    assert_int_equal(cs_db_open(f->dir, &db, &err), 0);
    assert_int_equal(cs_db_begin(&db, &err), 0);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(cs_db_blobs_sweep(&db, i, 5000, &err), 0);
    assert_int_equal(cs_db_commit(&db, &err), 0);
    cs_db_close(&db);
}

static void on_blob(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                    struct cs_str content)
{
    (void)hash, (void)content;
    f_said(ctx, err, 0);
}

static void what_nobody_refers_to_is_swept(void **state)
{
    struct fixture *f = *state;
    char path[512] = "", half[560];
    struct cs_err err = {0};
    add(f, "art_1", "default", "exec_1", CS_STR("somebody's"));
    assert_int_equal(blobs(f, path), 1);
    snprintf(half, sizeof half, "%s.Xy12Zz", path);
    assert_int_equal(cs_file_replace_soon(half, CS_STR("half"), 0600, &err), 0);
    assert_int_equal(F(f, cs_store_blob_put, on_blob, CS_STR("nobody's")), CS_OK);
    assert_int_equal(blobs(f, path), 3);
    sweep(f); /* they are young */
    assert_int_equal(blobs(f, path), 3);
    make_old(f);
    sweep(f);
    assert_int_equal(blobs(f, path), 1);
    assert_int_equal(get(f, "art_1", "default", 0, 100), CS_OK);
    assert_str_is(f->content, "somebody's");
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(the_content_comes_back_whole_or_in_parts),
        WITH(labels_stay_with_it),
        WITH(every_byte_is_content),
        WITH(equal_contents_are_one_file_of_ours_alone),
        WITH(another_tenants_artifact_is_none),
        WITH(lists_are_of_a_session_an_execution_or_all),
        WITH(they_are_forgotten_with_their_execution),
        WITH(what_nobody_refers_to_is_swept),
        WITH(a_content_that_is_damaged_is_told_and_can_be_put_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
