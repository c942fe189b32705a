#include "store/fixture.h"

/* What the last lineage, usage or list of sources said. */
static struct {
    uint64_t bytes, files;
    char names[40][80]; /* of artifacts, sources or executions */
    size_t artifacts, executions, sources;
    bool cut, first_is_known;
} seen;

static void on_usage(void *ctx, const struct cs_err *err, uint64_t bytes, uint64_t files)
{
    f_said(ctx, err, 0);
    seen.bytes = bytes;
    seen.files = files;
}

static void on_sources(void *ctx, const struct cs_err *err, const struct cs_source *rows,
                       size_t count)
{
    f_said(ctx, err, count);
    for (size_t i = 0; i < count && i < CS_COUNT(seen.names); i++)
        snprintf(seen.names[i], sizeof seen.names[i], "%.*s %.*s", CS_STR_ARG(rows[i].kind),
                 CS_STR_ARG(rows[i].name));
}

static void on_lineage(void *ctx, const struct cs_err *err, const struct cs_lineage_found *found)
{
    f_said(ctx, err, found ? found->artifact_count : 0);
    if (!found)
        return;
    for (size_t i = 0; i < found->artifact_count && i < CS_COUNT(seen.names); i++)
        snprintf(seen.names[i], sizeof seen.names[i], "%.*s%s", CS_STR_ARG(found->artifacts[i].id),
                 found->artifacts[i].gone ? " gone" : "");
    seen.artifacts = found->artifact_count;
    seen.executions = found->execution_count;
    seen.sources = found->source_count;
    seen.cut = found->cut;
    seen.first_is_known = found->execution_count && found->executions[0].created > 0;
}

static int add(struct fixture *f, const char *id, const char *execution, const char *content,
               uint64_t quota)
{
    struct cs_artifact_row row = {.id = cs_str(id),
                                  .tenant = CS_STR("default"),
                                  .execution = cs_str(execution),
                                  .name = CS_STR("report.csv"),
                                  .media_type = CS_STR("text/csv"),
                                  .kind = CS_STR("file"),
                                  .quota = quota,
                                  .created = 1000};
    return F(f, cs_store_artifact_add, f_artifacts, &row, cs_str(content));
}

static int usage(struct fixture *f)
{
    return F(f, cs_store_artifact_usage, on_usage, CS_STR("default"));
}

/* An execution that has read `from` (may be NULL) and made `made`. */
static void ran(struct fixture *f, const char *id, int64_t finished, const char *from,
                const char *made)
{
    struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
    struct cs_source sources[] = {{.kind = CS_STR("input"), .name = CS_STR("inputs")},
                                  {.kind = CS_STR("call"), .name = CS_STR("github/list#1")},
                                  {.kind = CS_STR("artifact"), .name = cs_str(from ? from : "")}};
    done.finished = finished;
    cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    assert_int_equal(
        F(f, cs_store_sources_add, f_stored, CS_STR("default"), cs_str(id), sources, from ? 3 : 2),
        CS_OK);
    if (made)
        add(f, made, id, made, 0);
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &done, NULL), CS_OK);
}

static int lineage(struct fixture *f, const char *id, struct cs_lineage_want want)
{
    memset(&seen, 0, sizeof seen);
    return F(f, cs_store_lineage, on_lineage, CS_STR("default"), cs_str(id), &want);
}

static int forget(struct fixture *f, int64_t when)
{
    return F(f, cs_store_executions_forget, f_stored, when);
}

static int get(struct fixture *f, const char *id, size_t max)
{
    return F(f, cs_store_artifact_get, f_artifacts, CS_STR("default"), cs_str(id), 0, max);
}

static void what_a_tenant_keeps_is_counted_and_bounded(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(usage(f), CS_OK);
    assert_int_equal(seen.bytes + seen.files, 0);
    assert_int_equal(add(f, "art_1", "exec_1", "12345", 10), CS_OK);
    assert_int_equal(add(f, "art_2", "exec_1", "12345", 10), CS_OK);
    usage(f);
    assert_int_equal(seen.bytes, 10);
    assert_int_equal(seen.files, 2);
    assert_code(add(f, "art_3", "exec_1", "1", 10), CS_LIMIT, "quota of 10");
    assert_int_equal(get(f, "art_3", 0), CS_MISSING);
    assert_int_equal(F(f, cs_store_artifact_remove, f_stored, CS_STR("default"), CS_STR("art_1")),
                     CS_OK);
    usage(f);
    assert_int_equal(seen.bytes, 5);
    assert_int_equal(add(f, "art_3", "exec_1", "1", 10), CS_OK);
    assert_int_equal(add(f, "art_4", "exec_1", "not bounded", 0), CS_OK);
}

static void what_is_removed_is_missing_and_only_the_owner_removes(void **state)
{
    struct fixture *f = *state;
    add(f, "art_1", "exec_1", "content", 0);
    assert_int_equal(F(f, cs_store_artifact_remove, f_stored, CS_STR("theirs"), CS_STR("art_1")),
                     CS_MISSING);
    assert_int_equal(get(f, "art_1", 100), CS_OK);
    assert_str_is(f->artifacts[0].kind, "file");
    assert_int_equal(F(f, cs_store_artifact_remove, f_stored, CS_STR("default"), CS_STR("art_1")),
                     CS_OK);
    assert_int_equal(get(f, "art_1", 100), CS_MISSING);
    assert_int_equal(F(f, cs_store_artifact_remove, f_stored, CS_STR("default"), CS_STR("art_1")),
                     CS_MISSING);
}

static void sources_come_back_in_their_order(void **state)
{
    struct fixture *f = *state;
    ran(f, "exec_1", 2000, "art_0", NULL);
    assert_int_equal(F(f, cs_store_sources, on_sources, CS_STR("default"), CS_STR("exec_1")),
                     CS_OK);
    assert_int_equal(f->count, 3);
    assert_string_equal(seen.names[0], "input inputs");
    assert_string_equal(seen.names[1], "call github/list#1");
    assert_string_equal(seen.names[2], "artifact art_0");
    F(f, cs_store_sources, on_sources, CS_STR("theirs"), CS_STR("exec_1"));
    assert_int_equal(f->count, 0);
}

static void a_lineage_goes_up_and_down(void **state)
{
    struct fixture *f = *state;
    ran(f, "exec_1", 1000, NULL, "art_1");
    ran(f, "exec_2", 2000, "art_1", "art_2");
    ran(f, "exec_3", 3000, "art_2", "art_3");
    ran(f, "exec_4", 4000, "art_2", NULL);
    assert_int_equal(lineage(f, "art_3", (struct cs_lineage_want){.up = true}), CS_OK);
    assert_int_equal(seen.artifacts, 3);
    assert_int_equal(seen.executions, 3);
    assert_int_equal(seen.sources, 8);
    assert_string_equal(seen.names[0], "art_3");
    assert_string_equal(seen.names[2], "art_1");
    assert_true(seen.first_is_known);
    assert_false(seen.cut);
    lineage(f, "art_1", (struct cs_lineage_want){.down = true});
    assert_int_equal(seen.artifacts, 3);
    assert_int_equal(seen.executions, 3); /* the last one has made nothing */
    lineage(f, "art_2", (struct cs_lineage_want){.up = true, .down = true});
    assert_int_equal(seen.artifacts, 3);
    assert_int_equal(seen.executions, 4);
    lineage(f, "art_3", (struct cs_lineage_want){.up = true, .depth = 1});
    assert_int_equal(seen.artifacts, 2);
    assert_true(seen.cut);
    lineage(f, "art_3", (struct cs_lineage_want){.up = true, .nodes = 4});
    assert_int_equal(seen.artifacts + seen.executions + seen.sources, 4);
    assert_true(seen.cut);
    struct cs_lineage_want want = {.up = true};
    assert_int_equal(F(f, cs_store_lineage, on_lineage, CS_STR("theirs"), CS_STR("art_3"), &want),
                     CS_MISSING);
}

static void what_something_was_made_from_stays_as_a_name(void **state)
{
    struct fixture *f = *state;
    ran(f, "exec_1", 1000, NULL, "art_1");
    ran(f, "exec_2", 2000, "art_1", "art_2");
    ran(f, "exec_3", 3000, "art_2", "art_3");
    assert_int_equal(forget(f, 2500), CS_OK);
    assert_code(get(f, "art_1", 10), CS_MISSING, "was removed");
    assert_int_equal(get(f, "art_1", 0), CS_OK);
    assert_true(f->artifacts[0].gone);
    F(f, cs_store_artifacts, f_artifacts, CS_STR("default"), CS_STR(""), CS_STR(""), 10);
    assert_int_equal(f->count, 1);
    usage(f);
    assert_int_equal(seen.files, 1);
    lineage(f, "art_3", (struct cs_lineage_want){.up = true});
    assert_int_equal(seen.artifacts, 3);
    assert_string_equal(seen.names[1], "art_2 gone");
    assert_string_equal(seen.names[2], "art_1 gone");
    assert_int_equal(seen.sources, 8);
    /* With the last of them all go. */
    assert_int_equal(forget(f, 5000), CS_OK);
    assert_int_equal(get(f, "art_1", 0), CS_MISSING);
    assert_int_equal(get(f, "art_2", 0), CS_MISSING);
    F(f, cs_store_sources, on_sources, CS_STR("default"), CS_STR("exec_1"));
    assert_int_equal(f->count, 0);
    usage(f);
    assert_int_equal(seen.files + seen.bytes, 0);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(what_a_tenant_keeps_is_counted_and_bounded),
        WITH(what_is_removed_is_missing_and_only_the_owner_removes),
        WITH(sources_come_back_in_their_order),
        WITH(a_lineage_goes_up_and_down),
        WITH(what_something_was_made_from_stays_as_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
