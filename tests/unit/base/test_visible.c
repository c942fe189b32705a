#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/visible.h"

static const struct {
    const char *text, *shown;
} cases[] = {
    {"plain <b>text</b>", "plain <b>text</b>"},
    {"a\nb\tc\r\nd", "a\nb\tc\nd"},
    {"a\rb", "a<U+000D>b"},
    {"\x1b[31mred\x08\x7f", "<U+001B>[31mred<U+0008><U+007F>"},
    {"c1 \xc2\x85\xc2\x9b", "c1 <U+0085><U+009B>"},
    {"na\xc3\xafve \xe4\xbd\xa0\xe5\xa5\xbd", "na\xc3\xafve \xe4\xbd\xa0\xe5\xa5\xbd"},
    {"bad \xff\xc3(", "bad <0xFF><0xC3>("},
    {"cut \xe2\x80", "cut <0xE2><0x80>"},
    /* bidi, zero width, tags */
    {"a\xe2\x80\xae"
     "b\xe2\x80\xac",
     "a<U+202E>b<U+202C>"},
    {"a\xe2\x81\xa6"
     "b\xe2\x81\xa9",
     "a<U+2066>b<U+2069>"},
    {"pa\xe2\x80\x8bss", "pa<U+200B>ss"},
    {"pa\xe2\x80\x8dss", "pa<U+200D>ss"},
    {"pa\xc2\xadss", "pa<U+00AD>ss"},
    {"x\xe2\x80\xa8y", "x<U+2028>y"},
    {"x\xe2\x81\xa0y\xef\xbb\xbfz", "x<U+2060>y<U+FEFF>z"},
    {"hi\xf3\xa0\x81\xa9\xf3\xa0\x81\xa7", "hi<U+E0069><U+E0067>"},
    {"\xe3\x85\xa4", "<U+3164>"},
    {"a\xef\xb8\x8f\xef\xb8\x80", "a<U+FE0F><U+FE00>"},
    {"a\xf3\xa0\x84\x80", "a<U+E0100>"},
    /* where they belong */
    {"\xef\xbb\xbfstart", "\xef\xbb\xbfstart"},
    {"\xe2\x9d\xa4\xef\xb8\x8f!", "\xe2\x9d\xa4\xef\xb8\x8f!"},
    {"1\xef\xb8\x8f\xe2\x83\xa3", "1\xef\xb8\x8f\xe2\x83\xa3"},
    {"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f<U+FE0F>"},
    {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
     "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"},
    {"\xf0\x9f\x91\xa9\xe2\x80\x8dx", "\xf0\x9f\x91\xa9<U+200D>x"},
    {"\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae"},
    {"\xd7\xa9\xe2\x80\x8f!", "\xd7\xa9\xe2\x80\x8f!"},
    {"a\xe2\x80\x8f!", "a<U+200F>!"},
    {"\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf",
     "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf"},
    {"\xe8\x91\x9b\xf3\xa0\x84\x80", "\xe8\x91\x9b\xf3\xa0\x84\x80"},
};

static void what_is_not_seen_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        cs_visible(cs_str(cases[i].text), true, &out);
        if (!cs_str_is(cs_buf_str(&out), cases[i].shown))
            fail_msg("case %zu: expected %s, got %s", i, cases[i].shown, cs_buf_cstr(&out));
    }
}

static void one_line_stays_one_line(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_visible(CS_STR("a\nb\r\nc\td\0e"), false, &out);
    assert_true(cs_str_is(cs_buf_str(&out), "a<U+000A>b<U+000D><U+000A>c<U+0009>d<U+0000>e"));
}

/* Every character that could hide something, and none that is plainly there. */
static void the_list_is_complete(void **state)
{
    (void)state;
    static const uint32_t hidden[] = {
        0xad,   0x34f,   0x61c,   0x115f,  0x1160,  0x17b4,  0x180b,  0x180e,  0x200b,
        0x200c, 0x200d,  0x200e,  0x200f,  0x2028,  0x2029,  0x202a,  0x202b,  0x202c,
        0x202d, 0x202e,  0x2060,  0x2061,  0x2064,  0x2065,  0x2066,  0x2067,  0x2068,
        0x2069, 0x206a,  0x206f,  0x3164,  0xfe00,  0xfe0f,  0xfeff,  0xffa0,  0xfff9,
        0xfffb, 0x1bca0, 0x1d173, 0xe0001, 0xe0020, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff};
    static const uint32_t seen[] = {
        0,      0x41,   0xa0,   0xac,   0xae,   0xe9,   0x300,  0x5d0,  0x200a,  0x2010,  0x2027,
        0x202f, 0x205f, 0x2070, 0x3000, 0x4e00, 0xfe10, 0xfffd, 0xfffc, 0x1f600, 0xf0000, 0x10ffff};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (!cs_invisible(hidden[i]))
            fail_msg("U+%04X is not seen", hidden[i]);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (cs_invisible(seen[i]))
            fail_msg("U+%04X is seen", seen[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_seen_is_shown),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(the_list_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
