/* A journal as it is read, and the keys that wishes are known by. */
#include "base/file.h"
#include "run/journal_in.h"
#include "test.h"

static void read_corpus(const char *name, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct cs_err err = {0};
    cs_buf_printf(&path, "%s/tests/fuzz/corpus/journal/%s", CS_SOURCE_DIR, name);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(cs_file_read_fd(fd, 1 << 20, out, &err), 0);
}

static void a_journal_has_what_was_heard(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_journal_doc doc;
    struct cs_err err = {0};
    read_corpus("j0", &bytes);
    assert_int_equal(cs_journal_read(cs_buf_str(&bytes), &doc, &err), 0);
    assert_int_equal(doc.language, CS_TYPESCRIPT);
    assert_true(doc.begun && doc.ended);
    assert_int_equal(doc.how, CS_ENDED_VALUE);
    assert_true(doc.texts[CS_TEXT_CODE].text.len > 0);
    size_t calls = 0, starts = 0;
    int64_t last = doc.start_us;
    for (size_t i = 0; i < doc.count; i++) {
        calls += doc.events[i].call > 0;
        starts += doc.events[i].what == CS_HEARD_START;
        assert_true(doc.events[i].time_us >= last);
        last = doc.events[i].time_us;
    }
    assert_true(calls > 10);
    assert_int_equal(starts, 1);
    cs_journal_doc_done(&doc);
}

static void put_record(struct cs_buf *out, enum cs_record type, struct cs_str body)
{
    cs_put_u8(out, (uint8_t)type);
    cs_put_str(out, body);
}

static void it_says_how_it_was_protected(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0}, made = {0};
    struct cs_journal_doc doc;
    struct cs_err err = {0};
    read_corpus("j0", &bytes);
    assert_int_equal(cs_journal_read(cs_buf_str(&bytes), &doc, &err), 0);
    assert_false(doc.is_protected);
    cs_journal_doc_done(&doc);
    size_t before = bytes.len;
    put_record(&bytes, CS_RECORD_PRIVACY, cs_strn("\3\2", 2));
    cs_put_str(&made, CS_STR("[EMAIL_1]\n"));
    put_record(&bytes, CS_RECORD_MADE, cs_buf_str(&made));
    assert_int_equal(cs_journal_read(cs_buf_str(&bytes), &doc, &err), 0);
    assert_true(doc.is_protected);
    assert_int_equal(doc.level, CS_PRIVACY_HIGH);
    assert_int_equal(doc.asked, CS_PRIVACY_MEDIUM);
    assert_str_is(doc.made, "[EMAIL_1]\n");
    cs_journal_doc_done(&doc);
    bytes.len = before; /* a level that there is not */
    put_record(&bytes, CS_RECORD_PRIVACY, cs_strn("\4\0", 2));
    assert_int_equal(cs_journal_read(cs_buf_str(&bytes), &doc, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
}

/* Between records it may end: that of a process that died does. Anywhere else it may not. */
static void one_that_is_cut_off_is_refused(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    read_corpus("j1", &bytes);
    size_t whole = 0;
    for (size_t len = 0; len < bytes.len; len++) {
        struct cs_journal_doc doc;
        struct cs_err err = {0};
        if (cs_journal_read(cs_strn(bytes.at, len), &doc, &err) == 0) {
            whole++;
            assert_false(doc.ended);
            cs_journal_doc_done(&doc);
        } else {
            assert_int_equal(err.code, CS_INVALID);
        }
    }
    assert_in_range(whole, 2, 40);
}

static void one_of_another_version_is_refused(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_journal_doc doc;
    struct cs_err err = {0};
    read_corpus("j1", &bytes);
    char *version = memmem(bytes.at, bytes.len, "journal 1", 9);
    assert_non_null(version);
    version[8] = '9';
    assert_int_equal(cs_journal_read(cs_buf_str(&bytes), &doc, &err), -1);
    assert_non_null(strstr(err.msg, "version"));
}

static void keys_have_their_numbers(void **state)
{
    (void)state;
    struct cs_keymap map = {0};
    unsigned char key[32] = {0};
    for (uint32_t i = 0; i < 5000; i++) {
        memcpy(key, &i, sizeof i);
        *cs_keymap_at(&map, key) = i + 1;
    }
    for (uint32_t i = 0; i < 5000; i++) {
        memcpy(key, &i, sizeof i);
        assert_int_equal(cs_keymap_get(&map, key), i + 1);
    }
    key[31] = 1;
    assert_int_equal(cs_keymap_get(&map, key), 0);
    cs_keymap_done(&map);
}

static void wishes_differ_by_what_they_ask(void **state)
{
    (void)state;
    static const unsigned char one[32] = {1}, two[32] = {2};
    const struct cs_wish wishes[] = {
        {.kind = CS_WISH_CALL, .server = CS_STR("a"), .tool = CS_STR("bc")},
        {.kind = CS_WISH_CALL, .server = CS_STR("ab"), .tool = CS_STR("c")},
        {.kind = CS_WISH_FILE, .op = CS_FILE_READ, .path = CS_STR("a")},
        {.kind = CS_WISH_FILE, .op = CS_FILE_STAT, .path = CS_STR("a")},
        {.kind = CS_WISH_FILE, .op = CS_FILE_WRITE, .path = CS_STR("a"), .data = CS_STR("x")},
        {.kind = CS_WISH_FILE, .op = CS_FILE_WRITE, .path = CS_STR("a"), .data = CS_STR("y")},
        {.kind = CS_WISH_MODULE, .path = CS_STR("a")},
    };
    unsigned char keys[CS_COUNT(wishes)][32], again[32];
    for (size_t i = 0; i < CS_COUNT(wishes); i++) {
        cs_wish_key(&wishes[i], one, keys[i]);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(keys[i], keys[k], 32);
    }
    cs_wish_key(&wishes[0], one, again);
    assert_memory_equal(keys[0], again, 32);
    cs_wish_key(&wishes[0], two, again);
    assert_memory_not_equal(keys[0], again, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_journal_has_what_was_heard),
        cmocka_unit_test(it_says_how_it_was_protected),
        cmocka_unit_test(one_that_is_cut_off_is_refused),
        cmocka_unit_test(one_of_another_version_is_refused),
        cmocka_unit_test(keys_have_their_numbers),
        cmocka_unit_test(wishes_differ_by_what_they_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
