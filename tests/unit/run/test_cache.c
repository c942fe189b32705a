/* What is kept in memory, and an answer as it is kept in the store. */
#include "test.h"

#include "base/mem.h"
#include "run/cache.h"

static void make_key(unsigned n, unsigned char key[CS_SHA256])
{
    cs_sha256(cs_strn((const char *)&n, sizeof n), key);
}

static struct cs_shelf_item *item_of(unsigned n, const char *tenant, size_t bytes)
{
    unsigned char key[CS_SHA256];
    make_key(n, key);
    struct cs_shelf_item *item = cs_shelf_item_new(sizeof *item, key, cs_str(tenant));
    item->is_answer = true;
    item->created = 1000;
    item->expires = 2000 + n;
    cs_shelf_alloc(item, bytes);
    return item;
}

static void put(struct cs_shelf *shelf, unsigned n, const char *tenant, size_t bytes)
{
    struct cs_shelf_item *item = item_of(n, tenant, bytes);
    cs_shelf_put(shelf, item);
    cs_shelf_item_unref(item);
}

static struct cs_shelf_item *find(struct cs_shelf *shelf, unsigned n, int64_t now)
{
    unsigned char key[CS_SHA256];
    make_key(n, key);
    return cs_shelf_find(shelf, key, now);
}

static void a_shelf_has_a_bound_and_the_least_used_goes_first(void **state)
{
    (void)state;
    struct cs_shelf shelf = {.most = 1 << 20};
    for (unsigned n = 0; n < 2000; n++) {
        put(&shelf, n, "t", 1000);
        assert_true(shelf.bytes <= shelf.most);
        assert_non_null(find(&shelf, 0, 1500)); /* used all the time */
        assert_non_null(find(&shelf, n, 1500));
    }
    assert_true(shelf.count > 50 && shelf.count < 1100);
    assert_null(find(&shelf, 1, 1500));
    assert_true(shelf.gone > 2001 && shelf.gone < 4000);
    cs_shelf_bound(&shelf, 100000);
    assert_true(shelf.bytes <= 100000 && shelf.count > 0);
    assert_non_null(find(&shelf, 0, 1500));
    cs_shelf_bound(&shelf, 0);
    assert_int_equal(shelf.count, 0);
    assert_int_equal(shelf.bytes, 0);
    cs_shelf_done(&shelf);
}

static void what_is_as_large_as_the_shelf_is_not_put_there(void **state)
{
    (void)state;
    struct cs_shelf shelf = {.most = 100000};
    put(&shelf, 1, "t", 10);
    put(&shelf, 2, "t", 60000);
    assert_non_null(find(&shelf, 1, 1500));
    assert_null(find(&shelf, 2, 1500));
    assert_int_equal(shelf.gone, 2002);
    /* What it would have replaced is gone all the same. */
    put(&shelf, 1, "t", 60000);
    assert_null(find(&shelf, 1, 1500));
    cs_shelf_done(&shelf);
}

static void an_item_is_good_between_its_times(void **state)
{
    (void)state;
    struct cs_shelf shelf = {.most = 1 << 20};
    put(&shelf, 1, "t", 10);
    assert_non_null(find(&shelf, 1, 1000));
    assert_non_null(find(&shelf, 1, 2000));
    assert_null(find(&shelf, 1, 2001));
    assert_int_equal(shelf.count, 0);
    put(&shelf, 1, "t", 10);
    assert_null(find(&shelf, 1, 999)); /* the clock was set back */
    cs_shelf_done(&shelf);
}

static void one_that_is_held_outlives_the_shelf(void **state)
{
    (void)state;
    struct cs_shelf shelf = {.most = 1 << 20};
    struct cs_shelf_item *item = item_of(1, "t", 10);
    struct cs_str text = cs_shelf_copy(item, CS_STR("text"));
    cs_shelf_put(&shelf, item);
    put(&shelf, 1, "t", 20); /* in its place */
    assert_int_equal(shelf.count, 1);
    cs_shelf_done(&shelf);
    assert_int_equal(item->refs, 1);
    assert_str_is(text, "text");
    cs_shelf_item_unref(item);
}

static void one_tenant_is_cleared(void **state)
{
    (void)state;
    struct cs_shelf shelf = {.most = 1 << 20};
    for (unsigned n = 0; n < 20; n++)
        put(&shelf, n, n % 2 ? "odd" : "even", 10);
    cs_shelf_clear(&shelf, CS_STR("odd"));
    assert_int_equal(shelf.count, 10);
    assert_null(find(&shelf, 3, 1500));
    assert_non_null(find(&shelf, 4, 1500));
    cs_shelf_clear(&shelf, (struct cs_str){0});
    assert_int_equal(shelf.count, 0);
    cs_shelf_done(&shelf);
}

/* --- in the store --- */

static struct cs_known *make_known(void)
{
    unsigned char key[CS_SHA256];
    make_key(7, key);
    const struct cs_log logs[] = {{CS_LEVEL_INFO, CS_STR("one\n\"two\"")},
                                  {CS_LEVEL_ERROR, CS_STR("")}};
    const struct cs_call calls[] = {{.server = CS_STR("s"),
                                     .tool = CS_STR("read"),
                                     .us = 1234,
                                     .argument_bytes = 5,
                                     .result_bytes = 6,
                                     .argument_hash = {1, 2, 3},
                                     .repeatable = true,
                                     .cached = true,
                                     .drift = CS_STR("differs")}};
    const struct cs_artifact artifacts[] = {
        {CS_STR("art_1"), CS_STR("result"), CS_STR("application/json"), "result", {7}, 70000}};
    const struct cs_str ids[] = {CS_STR("s/read")};
    struct cs_str reasons[] = {CS_STR("because")}, mitigations[] = {CS_STR("less")};
    struct cs_result r = {
        .execution_id = "ex_1",
        .value = CS_STR("{\"a\":[1,\"\xC3\xA4\"]}"),
        .logs = logs,
        .log_count = 2,
        .calls = calls,
        .tool_calls = 1,
        .artifacts = artifacts,
        .artifact_count = 1,
        .verdict = {.allowed = true,
                    .risk = CS_RISK_MEDIUM,
                    .reasons = reasons,
                    .reason_count = 1,
                    .mitigations = mitigations,
                    .mitigation_count = 1},
        .limits = cs_limits_default(),
        .provenance = {.outputs_hash = {9, 8, 7}, .tool_ids = ids, .tool_count = 1},
    };
    struct cs_known *k = cs_known_new(key, CS_STR("acme"), &r);
    k->item.created = 1000;
    k->item.expires = 2000;
    k->used = cs_shelf_alloc(&k->item, sizeof *k->used);
    k->used[k->used_count++] = (struct cs_used){CS_STR("s"), CS_STR("read"), {4, 5, 6}};
    k->catalogue = CS_STR("/tree/x");
    k->principal = CS_STR("me");
    return k;
}

static struct cs_cached_answer row_of(const struct cs_known *k, struct cs_buf *json)
{
    struct cs_cached_answer row = {.tenant = k->item.tenant,
                                   .execution = k->execution,
                                   .created = k->item.created,
                                   .expires = k->item.expires};
    memcpy(row.key, k->item.key, sizeof row.key);
    cs_buf_clear(json);
    cs_known_write(k, json);
    row.value = cs_buf_str(json);
    return row;
}

static void an_answer_is_read_as_it_was_written(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, again = {0};
    struct cs_known *k = make_known();
    struct cs_cached_answer row = row_of(k, &json);
    struct cs_known *copy = cs_known_read(&row);
    assert_non_null(copy);
    row_of(copy, &again);
    assert_int_equal(json.len, again.len);
    assert_memory_equal(json.at, again.at, json.len);

    struct cs_result r = {.failed = true};
    cs_known_give(copy, &r);
    assert_false(r.failed);
    assert_str_is(r.value, "{\"a\":[1,\"\xC3\xA4\"]}");
    assert_str_is(r.cached_from, "ex_1");
    assert_int_equal(r.log_count, 2);
    assert_str_is(r.logs[0].text, "one\n\"two\"");
    assert_int_equal(r.logs[1].level, CS_LEVEL_ERROR);
    assert_int_equal(r.tool_calls, 1);
    assert_int_equal(r.calls[0].us, 1234);
    assert_int_equal(r.calls[0].argument_hash[1], 2);
    assert_true(r.calls[0].cached && r.calls[0].repeatable);
    assert_str_is(r.artifacts[0].id, "art_1");
    assert_int_equal(r.artifacts[0].size, 70000);
    assert_int_equal(r.artifacts[0].hash[0], 7);
    assert_string_equal(r.artifacts[0].kind, "result");
    assert_int_equal(r.verdict.risk, CS_RISK_MEDIUM);
    assert_str_is(r.verdict.mitigations[0], "less");
    assert_int_equal(r.limits.memory, cs_limits_default().memory);
    assert_int_equal(r.provenance.outputs_hash[2], 7);
    assert_str_is(r.provenance.tool_ids[0], "s/read");
    assert_int_equal(copy->used[0].hash[0], 4);
    assert_str_is(copy->principal, "me");
    cs_shelf_item_unref(&copy->item);
    cs_shelf_item_unref(&k->item);
}

/* Also for what is right in itself: the row of another tenant, key, execution or time. */
static void a_row_that_was_changed_is_no_answer(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_known *k = make_known();
    struct cs_cached_answer row = row_of(k, &json), other;
    other = row;
    other.tenant = CS_STR("acmf");
    assert_null(cs_known_read(&other));
    other = row;
    other.key[31] ^= 1;
    assert_null(cs_known_read(&other));
    other = row;
    other.execution = CS_STR("ex_2");
    assert_null(cs_known_read(&other));
    other = row;
    other.expires++;
    assert_null(cs_known_read(&other));
    /* Any one byte. */
    for (size_t i = 0; i < json.len; i++) {
        json.at[i] ^= 1;
        struct cs_known *got = cs_known_read(&row);
        json.at[i] ^= 1;
        if (got)
            fail_msg("byte %zu can be changed: %.20s", i, json.at + i);
    }
    for (size_t n = 0; n < json.len; n += 7) {
        other = row;
        other.value.len = n;
        assert_null(cs_known_read(&other));
    }
    cs_shelf_item_unref(&k->item);
}

static void a_result_that_is_not_there_stays_so(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0};
    unsigned char key[CS_SHA256];
    make_key(1, key);
    const struct cs_result nothing = {.execution_id = "ex_0"};
    struct cs_known *k = cs_known_new(key, CS_STR("t"), &nothing);
    struct cs_cached_answer row = row_of(k, &json);
    struct cs_known *copy = cs_known_read(&row);
    assert_non_null(copy);
    assert_int_equal(copy->value.len, 0);
    assert_int_equal(copy->call_count + copy->log_count + copy->used_count, 0);
    cs_shelf_item_unref(&copy->item);
    cs_shelf_item_unref(&k->item);
}

static void a_mode_has_a_name(void **state)
{
    (void)state;
    enum cs_cache_mode mode = CS_CACHE_USE;
    assert_true(cs_cache_mode_parse(CS_STR("refresh"), &mode));
    assert_int_equal(mode, CS_CACHE_REFRESH);
    assert_false(cs_cache_mode_parse(CS_STR("on"), &mode));
    assert_false(cs_cache_mode_parse((struct cs_str){0}, &mode));
    assert_int_equal(mode, CS_CACHE_REFRESH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_shelf_has_a_bound_and_the_least_used_goes_first),
        CS_TEST(what_is_as_large_as_the_shelf_is_not_put_there),
        CS_TEST(an_item_is_good_between_its_times),
        CS_TEST(one_that_is_held_outlives_the_shelf),
        CS_TEST(one_tenant_is_cleared),
        CS_TEST(an_answer_is_read_as_it_was_written),
        CS_TEST(a_row_that_was_changed_is_no_answer),
        CS_TEST(a_result_that_is_not_there_stays_so),
        CS_TEST(a_mode_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
