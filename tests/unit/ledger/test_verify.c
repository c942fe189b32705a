/* Exports: whole ones fit, and nothing that was done to one goes unnoticed. */
#include "base/hash.h"
#include "exports.h"

#define ENTRIES  60
#define TAMPERED 10000

static int verify(struct cs_str bytes, const unsigned char *key, struct cs_str until,
                  struct cs_ledger_check *check, struct cs_err *err)
{
    /* A copy of exactly its size: what reads too far is noticed. */
    char *copy = malloc(bytes.len + 1);
    memcpy(copy, bytes.len ? bytes.at : "", bytes.len);
    char *exact = realloc(copy, bytes.len ? bytes.len : 1);
    int result = cs_export_verify(cs_strn(exact, bytes.len), key, until, check, err);
    free(exact);
    return result;
}

static void a_whole_export_fits(void **state)
{
    (void)state;
    struct ledger_fixture f;
    struct cs_ledger_base base = {0};
    struct cs_ledger_check check;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf first = {0}, second = {0}, empty = {0};
    fixture_open(&f);
    make_export(f.ledger, &base, 0, 20, &empty);
    assert_int_equal(verify(cs_buf_str(&empty), f.key, CS_STR(""), &check, &err), 0);
    assert_int_equal(check.entries, 0);
    make_export(f.ledger, &base, ENTRIES, 20, &first);
    if (verify(cs_buf_str(&first), f.key, CS_STR(""), &check, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(check.entries, ENTRIES);
    assert_int_equal(check.checkpoints, 3);
    assert_int_equal(check.from, 1);
    assert_int_equal(check.to, ENTRIES);
    assert_int_equal(check.signed_to, ENTRIES);
    assert_memory_equal(check.key, f.key, 32);
    assert_true(check.key_given);
    /* The next part of the same ledger stands alone, and continues it. */
    make_export(f.ledger, &base, 25, 20, &second);
    unsigned char head[32];
    memcpy(head, check.head, 32);
    assert_int_equal(verify(cs_buf_str(&second), NULL, CS_STR(""), &check, &err), 0);
    assert_int_equal(check.from, ENTRIES + 1);
    assert_int_equal(check.to, 85);
    assert_false(check.key_given);
    char hex[65];
    cs_hex(head, 32, hex);
    assert_contains(cs_buf_cstr(&second), hex);
    fixture_close(&f);
}

static void a_checkpoint_from_elsewhere_must_be_part_of_it(void **state)
{
    (void)state;
    struct ledger_fixture f, other;
    struct cs_ledger_base base = {0}, shorter = {0}, foreign = {0};
    struct cs_ledger_check check;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf export = {0}, cut = {0}, theirs = {0}, until = {0};
    struct cs_checkpoint_row row;
    fixture_open(&f);
    fixture_open(&other);
    make_export(f.ledger, &base, ENTRIES, 20, &export);
    make_export(f.ledger, &shorter, 40, 20, &cut); /* cut off, and signed by us, long ago */
    make_export(other.ledger, &foreign, ENTRIES, 20, &theirs);
    put_checkpoint(f.ledger, base.seq, base.hash, &row);
    cs_checkpoint_line(&until, &row);
    assert_int_equal(verify(cs_buf_str(&export), f.key, cs_buf_str(&until), &check, &err), 0);
    assert_int_equal(verify(cs_buf_str(&cut), f.key, CS_STR(""), &check, &err), 0);
    assert_int_equal(verify(cs_buf_str(&cut), f.key, cs_buf_str(&until), &check, &err), -1);
    assert_contains(err.msg, "the end is missing");
    assert_int_equal(check.bad, 41);
    /* The same entries under another key: nothing is wrong with it, but the key. */
    assert_int_equal(verify(cs_buf_str(&theirs), NULL, CS_STR(""), &check, &err), 0);
    assert_int_equal(verify(cs_buf_str(&theirs), f.key, CS_STR(""), &check, &err), -1);
    assert_int_equal(err.code, CS_CONFLICT);
    assert_contains(err.msg, "foreign key");
    assert_int_equal(verify(cs_buf_str(&theirs), NULL, cs_buf_str(&until), &check, &err), -1);
    row.hash[0] ^= 1;
    assert_int_equal(cs_checkpoint_sign(f.ledger, &row, &err), 0);
    cs_buf_clear(&until);
    cs_checkpoint_line(&until, &row);
    assert_int_equal(verify(cs_buf_str(&export), f.key, cs_buf_str(&until), &check, &err), -1);
    assert_contains(err.msg, "entry 60 is not the one that was signed");
    fixture_close(&f);
    fixture_close(&other);
}

static void what_was_changed_is_named(void **state)
{
    (void)state;
    struct ledger_fixture f;
    struct cs_ledger_base base = {0};
    struct cs_ledger_check check;
    CS_AUTO_BUF struct cs_buf export = {0};
    fixture_open(&f);
    make_export(f.ledger, &base, ENTRIES, 20, &export);
    static const struct {
        const char *find;
        uint64_t bad;
    } rows[] = {
        {"\"seq\":7,", 7}, {"\"seq\":20,", 20}, {"\"seq\":60,\"tenant", 60}, {"\"seq\":19,", 19}};
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        CS_AUTO_BUF struct cs_buf changed = {0};
        struct cs_err err = {0};
        cs_buf_putstr(&changed, cs_buf_str(&export));
        char *at = strstr((char *)cs_buf_cstr(&changed), rows[i].find);
        if (!at)
            at = strstr(changed.at, "\"seq\":60,\"session");
        assert_non_null(at);
        *strstr(at, "default") = 'x';
        assert_int_equal(verify(cs_buf_str(&changed), f.key, CS_STR(""), &check, &err), -1);
        if (check.bad != rows[i].bad)
            fail_msg("%s: %llu is not %llu", err.msg, (unsigned long long)check.bad,
                     (unsigned long long)rows[i].bad);
    }
    fixture_close(&f);
}

/* --- 10,000 changes --- */

static uint64_t random_state = 88172645463325252u;

static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

struct lines {
    struct cs_str at[200];
    size_t count;
};

static void split(struct cs_str bytes, struct lines *l)
{
    l->count = 0;
    while (bytes.len) {
        const char *end = memchr(bytes.at, '\n', bytes.len);
        size_t n = (size_t)(end - bytes.at) + 1;
        assert_true(l->count < CS_COUNT(l->at));
        l->at[l->count++] = cs_strn(bytes.at, n);
        bytes = cs_strn(bytes.at + n, bytes.len - n);
    }
}

static void join(const struct lines *l, struct cs_buf *out)
{
    for (size_t i = 0; i < l->count; i++)
        cs_buf_putstr(out, l->at[i]);
}

static void change_bytes(struct cs_str in, size_t kind, struct cs_buf *out)
{
    size_t at = below(in.len);
    cs_buf_put(out, in.at, at);
    if (kind == 0) /* a bit */
        cs_buf_putc(out, (char)(in.at[at] ^ (1 << below(8))));
    else if (kind == 1) /* another byte before it */
        cs_buf_putc(out, (char)below(256)), cs_buf_putc(out, in.at[at]);
    /* kind 2: it is gone */
    cs_buf_put(out, in.at + at + 1, in.len - at - 1);
    if (kind == 4) /* something at the end */
        cs_buf_putc(out, (char)below(256));
}

static void change_digit(struct cs_str in, struct cs_buf *out)
{
    size_t at;
    do
        at = below(in.len);
    while (in.at[at] < '0' || in.at[at] > '9');
    cs_buf_putstr(out, in);
    out->at[at] = (char)('0' + (in.at[at] - '0' + 1 + (int)below(9)) % 10);
}

static void change_lines(struct cs_str in, size_t kind, struct cs_buf *out)
{
    struct lines l;
    split(in, &l);
    size_t at = below(l.count), other = below(l.count);
    struct cs_str moved = l.at[at];
    if (kind == 0) { /* gone; the head too */
        memmove(l.at + at, l.at + at + 1, (l.count - at - 1) * sizeof *l.at);
        l.count--;
    } else if (kind == 1) { /* twice */
        memmove(l.at + at + 1, l.at + at, (l.count - at) * sizeof *l.at);
        l.count++;
    } else if (kind == 2) { /* swapped */
        l.at[at] = l.at[other];
        l.at[other] = moved;
    } else if (kind == 3) { /* cut off */
        l.count = at;
    }
    join(&l, out);
}

static void tamper(struct cs_str in, struct cs_buf *out)
{
    size_t kind = below(10);
    cs_buf_clear(out);
    if (kind < 3)
        change_bytes(in, kind, out);
    else if (kind == 3)
        cs_buf_put(out, in.at, below(in.len)); /* cut off anywhere */
    else if (kind == 4)
        change_digit(in, out);
    else if (kind == 5) {
        cs_buf_putstr(out, in);
        cs_buf_putc(out, (char)below(256));
    } else
        change_lines(in, kind - 6, out);
}

static void ten_thousand_changes_are_all_noticed(void **state)
{
    (void)state;
    struct ledger_fixture f;
    struct cs_ledger_base base = {0};
    struct cs_ledger_check check;
    CS_AUTO_BUF struct cs_buf export = {0}, changed = {0};
    fixture_open(&f);
    make_export(f.ledger, &base, ENTRIES, 20, &export);
    size_t done = 0;
    while (done < TAMPERED) {
        struct cs_err err = {0};
        tamper(cs_buf_str(&export), &changed);
        if (cs_str_eq(cs_buf_str(&changed), cs_buf_str(&export)))
            continue; /* a line swapped with itself */
        done++;
        if (verify(cs_buf_str(&changed), done % 2 ? f.key : NULL, CS_STR(""), &check, &err) == 0) {
            cs_file_replace("/tmp/unnoticed.jsonl", cs_buf_str(&changed), 0600, NULL);
            fail_msg("change %zu was not noticed: /tmp/unnoticed.jsonl", done);
        }
        assert_int_equal(err.code, CS_CONFLICT);
        assert_true(err.msg[0] != '\0');
    }
    fixture_close(&f);
}

/* A chain that was written anew has no signatures of ours: it cannot be long. */
static void many_entries_without_a_signature_do_not_fit(void **state)
{
    (void)state;
    struct ledger_fixture f;
    struct cs_ledger_base base = {0};
    struct cs_ledger_check check;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf export = {0}, longer = {0};
    fixture_open(&f);
    make_export(f.ledger, &base, CS_CHECKPOINT_EVERY, 100000, &export);
    assert_int_equal(verify(cs_buf_str(&export), f.key, CS_STR(""), &check, &err), 0);
    base = (struct cs_ledger_base){0};
    make_export(f.ledger, &base, CS_CHECKPOINT_EVERY + 1, 100000, &longer);
    assert_int_equal(verify(cs_buf_str(&longer), f.key, CS_STR(""), &check, &err), -1);
    assert_contains(err.msg, "a checkpoint is missing");
    fixture_close(&f);
}

static void what_is_no_export_says_so(void **state)
{
    (void)state;
    struct cs_ledger_check check;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf long_line = {0};
    assert_int_equal(verify(CS_STR(""), NULL, CS_STR(""), &check, &err), -1);
    assert_contains(err.msg, "empty");
    assert_int_equal(verify(CS_STR("hello\nworld\n"), NULL, CS_STR(""), &check, &err), -1);
    assert_contains(err.msg, "head of an export");
    assert_int_equal(verify(CS_STR("\x28\xB5\x2F\xFDnonsense"), NULL, CS_STR(""), &check, &err),
                     -1);
    for (int i = 0; i < 200000; i++)
        cs_buf_putc(&long_line, '{');
    assert_int_equal(verify(cs_buf_str(&long_line), NULL, CS_STR(""), &check, &err), -1);
    assert_contains(err.msg, "longer than any");
    assert_int_equal(cs_ledger_verify("/nowhere/at/all", NULL, CS_STR(""), &check, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_whole_export_fits),
        CS_TEST(a_checkpoint_from_elsewhere_must_be_part_of_it),
        CS_TEST(what_was_changed_is_named),
        CS_TEST(ten_thousand_changes_are_all_noticed),
        CS_TEST(many_entries_without_a_signature_do_not_fit),
        CS_TEST(what_is_no_export_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
