/* Lines: what is written, that it is canonical, and that it is read again. The numbers are those of
 * the invariants in ledger/chain.c. */
#include "base/canon.h"
#include "base/hash.h"
#include "exports.h"

static void link_to(struct cs_buf *text, const struct cs_entry *e)
{
    unsigned char prev[32] = {0xAB}, hash[32], again[32];
    cs_chain_link(NULL, 17, prev, e, text, hash);
    cs_sha256(cs_buf_str(text), again);
    assert_memory_equal(hash, again, 32);
}

static void assert_canonical(const struct cs_buf *text)
{
    CS_AUTO_BUF struct cs_buf canon = {0};
    struct cs_err err = {0};
    if (cs_canon(cs_buf_str(text), &canon, &err) < 0)
        fail_msg("%s: %.*s", err.msg, CS_STR_ARG(cs_buf_str(text)));
    assert_true(cs_str_eq(cs_buf_str(&canon), cs_buf_str(text)));
}

static void an_entry_is_one_canonical_line(void **state) /* 2, 3, 4 */
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_entry e = {.event = CS_STR("call.made"),
                         .tenant = CS_STR("default"),
                         .principal = CS_STR("agent"),
                         .session = CS_STR("ses_1"),
                         .execution = CS_STR("ex_1"),
                         .data = CS_STR("{\"a\":1}"),
                         .time = 1700000000000};
    link_to(&text, &e);
    assert_str_is(cs_buf_str(&text),
                  "{\"data\":{\"a\":1},\"event\":\"call.made\",\"execution\":\"ex_1\",\"prev\":"
                  "\"ab00000000000000000000000000000000000000000000000000000000000000\","
                  "\"principal\":\"agent\",\"seq\":17,\"session\":\"ses_1\",\"tenant\":\"default\","
                  "\"time\":1700000000000,\"v\":1}");
    struct cs_entry_parts p;
    assert_true(cs_entry_read(cs_buf_str(&text), &p));
    assert_str_is(p.data, "{\"a\":1}");
    assert_int_equal(p.seq, 17);
    assert_null(cs_entry_differs(&p, &e));
    e.tenant = CS_STR("other");
    assert_string_equal(cs_entry_differs(&p, &e), "tenant");
}

static void nothing_forges_a_line(void **state) /* 1, 5 */
{
    (void)state;
    static const char *const names[] = {
        "a\nb",
        "\",\"seq\":18,\"x\":\"",
        "\x1B[31mred\x7F",
        "\xE2\x80\xA8line\xC2\x85next\xE2\x80\xAEturned",
        "bad \xFF\xC0\x80 bytes \xE2\x80",
        "\xEF\xBB\xBFmark",
        "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
        "0"
        "123456789012345678901234567890123456789\n01234567890",
    };
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        CS_AUTO_BUF struct cs_buf text = {0}, data = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&data);
        cs_json_open(&w, '{');
        cs_json_key(&w, names[i]);
        cs_json_put_z(&w, names[i]);
        cs_json_close(&w, '}');
        struct cs_str name = cs_str(names[i]);
        struct cs_entry e = {name, name, name, name, name, cs_buf_str(&data), 1};
        link_to(&text, &e);
        assert_canonical(&text);
        for (size_t at = 0; at < text.len; at++)
            assert_true((unsigned char)text.at[at] >= 0x20 && text.at[at] != 0x7F);
        cs_buf_cstr(&text);
        assert_null(strstr(text.at, "\xE2\x80\xA8"));
        assert_null(strstr(text.at, "\xE2\x80\xAE"));
        assert_null(strstr(text.at, "\xC2\x85"));
        assert_null(strstr(text.at, "\xEF\xBB\xBF"));
        struct cs_entry_parts p;
        assert_true(cs_entry_read(cs_buf_str(&text), &p));
        assert_int_equal(p.seq, 17);
        assert_null(cs_entry_differs(&p, &e));
        assert_true(p.tenant.len < 300);
    }
}

static void data_that_is_none_is_replaced_by_its_hash(void **state) /* 5 */
{
    (void)state;
    CS_AUTO_BUF struct cs_buf big = {0};
    cs_buf_puts(&big, "{\"a\":\"");
    for (int i = 0; i < 70000; i++)
        cs_buf_putc(&big, 'x');
    cs_buf_puts(&big, "\"}");
    const struct {
        struct cs_str data;
        const char *has;
    } rows[] = {
        {CS_STR("{\"a\":"), "{\"malformed\":{\"bytes\":5,"},
        {CS_STR("[1]"), "{\"malformed\":"},
        {CS_STR("{\"a\":1},\"seq\":3"), "{\"malformed\":"},
        {CS_STR("{ \"b\": 1.0, \"a\" :2 }"), "\"data\":{\"a\":2,\"b\":1},"},
        {cs_buf_str(&big), "{\"too_large\":{\"bytes\":70008,"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_entry e = {.event = CS_STR("x"), .data = rows[i].data, .time = 5};
        link_to(&text, &e);
        assert_canonical(&text);
        assert_contains(cs_buf_cstr(&text), rows[i].has);
        struct cs_entry_parts p;
        assert_true(cs_entry_read(cs_buf_str(&text), &p));
    }
}

static void the_reader_takes_no_other_form(void **state)
{
    (void)state;
#define PREV "\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\""
    static const char *const lines[] = {
        "",
        "{",
        "{}",
        "{\"event\":\"\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{" PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"event\":\"e\"," PREV ",\"seq\":01,\"time\":1,\"v\":1}",
        "{\"event\":\"e\"," PREV ",\"seq\":1 ,\"time\":1,\"v\":1}",
        "{\"event\":\"e\"," PREV ",\"seq\":9007199254740992,\"time\":1,\"v\":1}",
        "{\"event\":\"e\"," PREV ",\"seq\":1,\"time\":-1,\"v\":1}",
        "{\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":2}",
        "{\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":1} ",
        "{\"event\":\"e\n\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"event\":\"e\xFF\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"data\":[],\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"data\":{\"a\":\"},\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"data\":{\"a\":{},\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"data\":}{,\"event\":\"e\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}",
        "{\"event\":\"e\",\"prev\":\"0A\",\"seq\":1,\"time\":1,\"v\":1}",
    };
    struct cs_entry_parts p;
    assert_true(
        cs_entry_read(CS_STR("{\"event\":\"e\\\"\"," PREV ",\"seq\":1,\"time\":1,\"v\":1}"), &p));
    for (size_t i = 0; i < CS_COUNT(lines); i++)
        if (cs_entry_read(cs_str(lines[i]), &p))
            fail_msg("%s was read", lines[i]);
}

static void a_checkpoint_is_read_as_it_was_written(void **state) /* 6 */
{
    (void)state;
    struct ledger_fixture f;
    struct cs_checkpoint_row row, again = {0};
    CS_AUTO_BUF struct cs_buf line = {0}, message = {0};
    unsigned char hash[32] = {1, 2, 3};
    fixture_open(&f);
    put_checkpoint(f.ledger, 1000, hash, &row);
    cs_checkpoint_line(&line, &row);
    assert_true(cs_checkpoint_read(cs_buf_str(&line), &again));
    assert_memory_equal(row.hash, again.hash, 32);
    assert_memory_equal(row.key, again.key, 32);
    assert_memory_equal(row.signature, again.signature, 64);
    assert_int_equal(again.seq, 1000);
    assert_int_equal(row.time, again.time);
    cs_checkpoint_message(&message, &row);
    assert_true(
        cs_str_starts(cs_buf_str(&message), "caisson-ledger-checkpoint/1\n{\"hash\":\"0102"));
    assert_true(cs_signature_fits(f.key, cs_buf_str(&message), row.signature));
    message.at[message.len - 2] ^= 1;
    assert_false(cs_signature_fits(f.key, cs_buf_str(&message), row.signature));
    struct cs_err err = {0};
    assert_int_equal(cs_checkpoint_parse(CS_STR("{\"checkpoint\":null}"), &again, &err), -1);
    assert_int_equal(cs_checkpoint_parse(CS_STR("nonsense"), &again, &err), -1);
    cs_buf_puts(&line, " \n");
    assert_int_equal(cs_checkpoint_parse(cs_buf_str(&line), &again, &err), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(an_entry_is_one_canonical_line),
        CS_TEST(nothing_forges_a_line),
        CS_TEST(data_that_is_none_is_replaced_by_its_hash),
        CS_TEST(the_reader_takes_no_other_form),
        CS_TEST(a_checkpoint_is_read_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
