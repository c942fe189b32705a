/* Finders of secrets: their examples, the table of vendors, what keys say, and that they stay
 * inside of the text and do not take long. */
#include "test.h"

#include <time.h>

#include "base/mem.h"
#include "base/own.h"
#include "privacy/examples.h"
#include "privacy/vendors.h"

static struct cs_detector *detector(void)
{
    struct cs_detector *d = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_detector_new(NULL, 0, &d, &err), 0);
    return d;
}

static size_t all_hold(const struct cs_example *examples)
{
    struct cs_detector *d = detector();
    size_t n = 0, failed = 0;
    for (const struct cs_example *e = examples; e->rule; e++, n++) {
        CS_AUTO_BUF struct cs_buf why = {0};
        if (!cs_example_holds(d, e, &why)) {
            print_error("%s: %s\n    found: %.*s\n", e->rule, e->text,
                        CS_STR_ARG(cs_buf_str(&why)));
            failed++;
        }
    }
    cs_detector_unref(d);
    assert_int_equal(failed, 0);
    return n;
}

static void every_example_of_a_secret_holds(void **state)
{
    (void)state;
    assert_true(all_hold(cs_examples_secret) > 150);
}

static void every_example_of_a_vendor_holds(void **state)
{
    (void)state;
    assert_true(all_hold(cs_examples_vendor) > 300);
}

/* Is there an example of this rule whose key begins like that? */
static bool has_example(const struct cs_vendor *row)
{
    for (const struct cs_example *e = cs_examples_vendor; e->rule; e++) {
        const char *key = strchr(e->text, '|');
        if (strcmp(e->rule, row->rule) == 0 && key &&
            strncmp(key + 1, row->prefix, strlen(row->prefix)) == 0)
            return true;
    }
    return false;
}

static void every_row_of_the_table_stands_at_its_place_and_has_an_example(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 128; first++) {
        const struct cs_vendor_lead *lead = &cs_vendor_leads[first];
        for (size_t i = 0; i < lead->count; i++) {
            const struct cs_vendor *row = &lead->rows[i];
            assert_int_equal(row->prefix[0], first);
            assert_true(strlen(row->prefix) >= 2);
            assert_true((row->shape == NULL) != (row->find == NULL));
            /* Of two that begin alike the longer one is asked first. */
            for (size_t j = 0; j < i; j++)
                if (lead->rows[j].find == NULL)
                    assert_false(strlen(lead->rows[j].prefix) < strlen(row->prefix) &&
                                 strncmp(row->prefix, lead->rows[j].prefix,
                                         strlen(lead->rows[j].prefix)) == 0);
            if (row->shape && !has_example(row))
                fail_msg("%s %s has no example", row->rule, row->prefix);
        }
    }
}

static void shapes_are_matched_to_their_end(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shape;
        size_t end;
    } cases[] = {
        {"abcdef", "x6", 6},    {"abcdefg", "x6", 0},
        {"abcde", "x6", 0},     {"abc-def", "x3-x3", 7},
        {"0f-1", "h2(-d1)", 4}, {"0f", "h2(-d1)", 2},
        {"0f-x", "h2(-d1)", 2}, {"0F", "h2", 0},
        {"0F", "H2", 2},        {"ab.cd", "l2.l2", 5},
        {"ab", "x1-4", 2},      {"abcde", "x1-4", 0},
        {"", "x1", 0},          {"01234567-89ab-cdef-0123-456789abcdef", "U", 36},
        {"ab_", "x2", 0},       {"ab.", "x2", 2},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_view view = {.at = cases[i].text, .len = strlen(cases[i].text)};
        assert_int_equal(cs_vendor_match(&view, 0, cases[i].shape), cases[i].end);
    }
}

static void keys_say_what_stands_under_them(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        enum cs_under role;
    } cases[] = {
        {"password", CS_UNDER_PASS},
        {"DB_PASSWORD", CS_UNDER_PASS},
        {"adminPassword", CS_UNDER_PASS},
        {"spring.datasource.password", CS_UNDER_PASS},
        {"password2", CS_UNDER_PASS},
        {"smtp-pass", CS_UNDER_PASS},
        {"mysqlpasswd", CS_UNDER_PASS},
        {"bypass", CS_UNDER_NOTHING},
        {"compass", CS_UNDER_NOTHING},
        {"passenger", CS_UNDER_NOTHING},
        {"password_field", CS_UNDER_NOTHING},
        {"passwordRequired", CS_UNDER_NOTHING},
        {"apiKey", CS_UNDER_KEY},
        {"X-Api-Key", CS_UNDER_KEY},
        {"STRIPE_SECRET_KEY", CS_UNDER_KEY},
        {"jenkinstoken", CS_UNDER_KEY},
        {"access_token", CS_UNDER_KEY},
        {"token_count", CS_UNDER_NOTHING},
        {"next_token", CS_UNDER_NOTHING},
        {"nextPageToken", CS_UNDER_NOTHING},
        {"max_tokens_total", CS_UNDER_NOTHING},
        {"public_key", CS_UNDER_NOTHING},
        {"NEXT_PUBLIC_API_KEY", CS_UNDER_NOTHING},
        {"primaryKey", CS_UNDER_NOTHING},
        {"monkey", CS_UNDER_NOTHING},
        {"client_secret", CS_UNDER_SECRET},
        {"secretName", CS_UNDER_NOTHING},
        {"GOOGLE_KEY", CS_UNDER_WEAK},
        {"Set-Cookie", CS_UNDER_COOKIE},
        {"Proxy-Authorization", CS_UNDER_AUTH},
        {"etag", CS_UNDER_NOTHING},
        {"checksum", CS_UNDER_NOTHING},
        {"", CS_UNDER_NOTHING},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++)
        if (cs_under_of(cs_str(cases[i].key)) != cases[i].role)
            fail_msg("%s", cases[i].key);
}

/* In memory of its own, so that a look outside is seen. */
static size_t scan(const struct cs_detector *d, const char *text, size_t len)
{
    char *copy = cs_realloc(NULL, len ? len : 1, 1);
    memcpy(copy, text, len);
    struct cs_spans spans = {0};
    cs_scan(d, CS_PRIVACY_HIGH, CS_FORM_TEXT, cs_strn(copy, len), &spans);
    for (size_t i = 0; i < spans.count; i++) {
        const struct cs_span *s = &spans.at[i];
        assert_true(s->start < s->end && s->end <= len);
        assert_true(s->start <= s->core_start && s->core_start <= s->core_end &&
                    s->core_end <= s->end);
    }
    size_t n = spans.count;
    cs_spans_done(&spans);
    free(copy);
    return n;
}

static void every_beginning_and_end_of_an_example_can_be_looked_at(void **state)
{
    (void)state;
    struct cs_detector *d = detector();
    for (const struct cs_example *e = cs_examples_secret; e->rule; e++) {
        size_t len = strlen(e->text);
        for (size_t cut = 0; cut < len; cut += 1 + len / 40) {
            scan(d, e->text, cut);
            scan(d, e->text + cut, len - cut);
        }
    }
    for (const struct cs_example *e = cs_examples_vendor; e->rule; e++) {
        size_t len = strlen(e->text);
        for (size_t cut = 0; cut < len; cut += 1 + len / 8)
            scan(d, e->text + 10, len - cut < 10 ? 0 : len - cut - 10);
    }
    cs_detector_unref(d);
}

static double seconds(const struct cs_detector *d, const char *of, size_t len)
{
    char *text = cs_realloc(NULL, len, 1);
    for (size_t i = 0, n = strlen(of); i < len; i++)
        text[i] = of[i % n];
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    scan(d, text, len);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    free(text);
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* Four times the text takes four times as long, or so, and not sixteen. */
static void hostile_texts_take_linear_time(void **state)
{
    (void)state;
    static const char *const things[] = {
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----AAAA",
        "eyJ",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "a://",
        "a://b:c@",
        "http://a:b@c?token=",
        "password ",
        "password is ",
        "password: x ",
        "token=",
        "Bearer ",
        "sk-",
        "xoxb-",
        "AKIA",
        "mysql -p",
        "curl -u ",
        "value=",
        "LS0tLS1CRUdJTi",
        "MIIB",
        "api_key=\"",
        "cookie: a=b;",
        "sshpass ",
        "secret, ",
        "variable \"",
        "default = ",
        "password,\n",
    };
    struct cs_detector *d = detector();
    const size_t len = 32768;
    for (size_t i = 0; i < CS_COUNT(things); i++) {
        double one = seconds(d, things[i], len), four = seconds(d, things[i], 4 * len);
        if (four > 12 * one + 0.05)
            fail_msg("%s: %f s, and four times as much: %f s", things[i], one, four);
    }
    cs_detector_unref(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_of_a_secret_holds),
        cmocka_unit_test(every_example_of_a_vendor_holds),
        cmocka_unit_test(every_row_of_the_table_stands_at_its_place_and_has_an_example),
        cmocka_unit_test(shapes_are_matched_to_their_end),
        cmocka_unit_test(keys_say_what_stands_under_them),
        cmocka_unit_test(every_beginning_and_end_of_an_example_can_be_looked_at),
        cmocka_unit_test(hostile_texts_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
