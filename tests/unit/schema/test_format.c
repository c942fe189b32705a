/* A few of each; the official suite has the rest. */
#include "test.h"

#include "base/own.h"
#include "schema/format.h"

static const struct {
    const char *format, *good[5], *bad[7];
} cases[] = {
    {"date",
     {"2024-02-29", "1999-12-31"},
     {"2023-02-29", "2024-13-01", "2024-1-1", "", "24-01-01"}},
    {"time",
     {"09:30:00Z", "23:59:60Z", "09:30:00.25+02:00"},
     {"24:00:00Z", "09:30Z", "09:30:00", "09:30:00.Z", "22:59:60Z", "09:30:00+24:00"}},
    {"date-time",
     {"2024-01-31T09:30:00Z", "2024-01-31t09:30:00-08:00"},
     {"2024-01-31", "2024-01-31 09:30:00Z", "2024-01-32T09:30:00Z"}},
    {"duration",
     {"P1D", "PT15M", "P1Y2M3DT4H5M6S", "P3W"},
     {"P", "PT", "1D", "P1H", "P1DT", "P1Y2W", "PT1M1H"}},
    {"email",
     {"a.b+c@example.com", "\"a b\"@example.com", "a@[192.0.2.1]"},
     {"a", "@b", "a@", ".a@b", "a..b@c", "a@b_c", "a b@c"}},
    {"idn-email", {"\xC3\xA4@\xC3\xB6.example"}, {"\xC3\xA4", "a@b c"}},
    {"hostname",
     {"example.com", "a-1.b", "localhost"},
     {"", "-a", "a-", "a..b", "a_b", "a.", "caf\xC3\xA9"}},
    {"ipv4", {"0.0.0.0", "255.255.255.255"}, {"256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", ""}},
    {"ipv6",
     {"::", "2001:db8::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"},
     {"1:2:3", ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::1%eth0", ""}},
    {"uri",
     {"https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b", "http://u:p@[::1]:80/"},
     {"/a", "example.com", "http://a b", "http://[::1", "1http://a", "http://a/%zz", ""}},
    {"uri-reference", {"/a", "a/b?c#d", "", "//host/x"}, {"a\\b", "%", "a b"}},
    {"iri", {"http://\xC3\xA4.example/\xC3\xB6"}, {"/\xC3\xB6", "a b"}},
    {"iri-reference", {"/\xC3\xB6", "#\xC3\xB6"}, {"a\\b", "a b"}},
    {"uri-template",
     {"/users/{id}", "{+path}/x{?q,r}", "plain"},
     {"{", "}", "a{b", "{a{b}}", "a b"}},
    {"uuid",
     {"123e4567-E89B-12d3-a456-426614174000"},
     {"123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", ""}},
    {"json-pointer", {"", "/a/0", "/~0~1"}, {"a", "/~", "/~2", "#/a"}},
    {"relative-json-pointer", {"0", "1/a", "2#"}, {"", "/a", "01", "-1", "0##"}},
    {"regex", {"^a+$", "(?<x>a)\\k<x>"}, {"(", "[", "\\Z", "(?P<x>a)", "*"}},
};

static void formats_fit_or_do_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        const struct cs_format *f = cs_format_find(cs_str(cases[i].format));
        assert_non_null(f);
        assert_true(f->expected[0] == 'a');
        for (size_t j = 0; j < CS_COUNT(cases[i].good) && cases[i].good[j]; j++)
            if (!f->fits(cs_str(cases[i].good[j])))
                fail_msg("%s refuses \"%s\"", f->name, cases[i].good[j]);
        for (size_t j = 0; j < CS_COUNT(cases[i].bad) && cases[i].bad[j]; j++)
            if (f->fits(cs_str(cases[i].bad[j])))
                fail_msg("%s takes \"%s\"", f->name, cases[i].bad[j]);
    }
    assert_null(cs_format_find(cs_str("colour")));
}

/* Every beginning of what is good ends where its bytes end. */
static void nothing_is_read_beyond_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        const struct cs_format *f = cs_format_find(cs_str(cases[i].format));
        for (size_t j = 0; j < CS_COUNT(cases[i].good) && cases[i].good[j]; j++)
            for (size_t n = 0; n <= strlen(cases[i].good[j]); n++) {
                CS_AUTO_FREE char *exact = malloc(n ? n : 1);
                memcpy(exact, cases[i].good[j], n);
                f->fits(cs_strn(exact, n));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(formats_fit_or_do_not),
        CS_TEST(nothing_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
