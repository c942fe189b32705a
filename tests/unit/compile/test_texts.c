/*
 * Texts that the compiler notes: constants after folding, comments, what is hidden in them. And
 * that nothing of it makes a hostile program expensive.
 */
#include <time.h>

#include "compile/fact_cases.h"

static void constants_are_folded(void **state)
{
    (void)state;
    CHECK(STRING, {"'abc'", "abc"}, {"'ab'", ""}, {"`abc`", "abc"},
          {"const password = 'hunter2'", "hunter2 [password]"}, {"x.token = 'abc'", "abc [token]"},
          {"({ apiKey: 'abc', 'x-y': 'def' })", "abc [apiKey] | x-y | def [x-y]"},
          {"class A { secret = 'abc' }", "abc [secret]"}, {"function f(pw = 'abc') {}", "abc [pw]"},
          {"const { pw = 'abc' } = x", "abc [pw]"}, {"f('a' + 'b' + 'c')", "abc (concat)"},
          {"f('rm ' + '-rf ' + dir)", "rm -rf ${} (concat)"}, {"f('rm -rf ' + dir)", "rm -rf ${}"},
          {"f(`rm -rf ${dir} x`)", "rm -rf ${} x"}, {"f(`r${'m'} -rf`)", "rm -rf (template)"},
          {"f('abc' + 1)", "abc1"},
          {"const a = 'rm', b = ' -rf'; f(a + b)", " -rf [b] | rm -rf (concat)"},
          {"f('x' + a * 'abc')", "x${} | abc"}, {"f('abc' === 'd' + 'ef')", "abc | def (concat)"},
          {"f(x || 'abc')", "abc"}, {"f(a ? 'abc' : 'def')", "abc | def"},
          {"f('\\x72\\u006d -rf')", "rm -rf (escape)"}, {"f('a\\tb\\u00e9')", "a\tb\xc3\xa9"},
          {"f(String.fromCharCode(114, 0x6d, 45))", "rm- (charcode)"},
          {"f(String.fromCharCode(...[114, 109, 45]))", "rm- (charcode)"},
          {"f(String.fromCodePoint(0x1f600))", "\xf0\x9f\x98\x80 (charcode)"},
          {"f(atob('cm0gLXJm'))", "rm -rf (base64) | cm0gLXJm"},
          {"f(Buffer.from('cm0gLXJm', 'base64').toString('utf8'))",
           "rm -rf (base64) | cm0gLXJm | base64 | utf8"},
          {"f(Buffer.from('726d20', 'hex').toString())", "rm  (base64) | 726d20 | hex"},
          {"f(new TextDecoder().decode(new Uint8Array([114, 109, 45])))", "rm- (charcode)"},
          {"f(['r', 'm', ' -rf'].join(''))", "rm -rf (join) |  -rf"},
          {"f('fr- mr'.split('').reverse().join(''))", "fr- mr | rm -rf (reverse)"},
          {"f([...'fr- mr'].reverse().join(''))", "rm -rf (reverse) | fr- mr"},
          {"f('rXm -rf'.replace('X', ''))", "rXm -rf | rm -rf (replace)"},
          {"f('rXmX-rf'.replaceAll('X', ' '))", "rXmX-rf | r m -rf (replace)"},
          {"f('xxrm -rf'.slice(2))", "xxrm -rf | rm -rf (replace)"},
          {"f('RM -RF'.toLowerCase())", "RM -RF | rm -rf (replace)"},
          {"f(decodeURIComponent('rm%20-rf'))", "rm -rf (escape) | rm%20-rf"},
          {"f('rm'.concat(' -', 'rf'))", "rm -rf (concat)"},
          {"f(unescape('%u0072m -rf'))", "rm -rf (escape) | %u0072m -rf"},
          {"const k = ['abc', 'rm -rf']; f(k[1])", "abc | rm -rf"},
          {"const o = { a: 'rm' }; f(o.a + ' -rf')", "rm -rf (concat)"},
          {"let s = 'rm'; s = y; f(s + ' -rf')", "${} -rf"},
          {"f(String.raw`\\user${x}abc`)", "?ser${}abc"}, {"// 'abc'\n/'abc'/", ""},
          {"type A = 'abc'; let a: 'def'", ""}, {"import 'abc'", ""});
}

static void long_texts_come_in_pieces(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    cs_buf_puts(&text, "f('");
    for (int i = 0; i < 2000; i++)
        cs_buf_puts(&text, i == 1250 ? "rm -rf /" : "\xc3\xa9");
    cs_buf_puts(&text, "')");
    struct cs_compiled c = {0};
    struct cs_diag d;
    assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d), 0);
    int pieces = 0, found = 0;
    for (uint32_t i = 0; i < c.fact_count; i++) {
        const struct cs_fact *f = &c.facts[i];
        if (f->kind != CS_FACT_STRING)
            continue;
        pieces++;
        assert_true(f->name.len <= CS_FACT_NAME_BYTES);
        found += memmem(f->name.at, f->name.len, "rm -rf /", 8) != NULL;
    }
    assert_in_range(pieces, 3, 12);
    assert_true(found > 0);
    cs_compiled_done(&c);
}

static void comments_are_told_without_their_marks(void **state)
{
    (void)state;
    CHECK(COMMENT, {"// one", "one"}, {"1 /* two */ + 2 // three", "two | three"},
          {"/* a\n * b */", "a\n * b"}, {"//", ""}, {"/**/", ""}, {"/* same */ /* same */", "same"},
          {"'// not'; `/* not */`; /\\/\\/x/", ""}, {"f<T>(x /* in */); a < b // out", "in | out"},
          {"x ? (y /* here */) : z => 1", "here"}, {"interface A { /* there */ b: c }", "there"},
          {"class A { abstract /* gone */ x: string }", "gone"}, {"#!/usr/bin/x\n1", "/usr/bin/x"},
          {"`${ /* inside */ 1 }`", "inside"});
}

static void hidden_characters_are_told(void **state)
{
    (void)state;
    CHECK(INVISIBLE,
          {"// a\xe2\x80\xae"
           "b",
           "U+202E (comment)"},
          {"'a\xe2\x80\x8b'", "U+200B (string)"}, {"`a\xe2\x81\xa6${1}`", "U+2066 (string)"},
          {"f(/\xe2\x80\x8b/)", "U+200B (string)"}, {"const a\xe2\x80\x8d = 1", "U+200D (code)"},
          {"'\xf3\xa0\x81\xa9'", "U+E0069 (string)"},
          {"'\xc2\xad' // \xc2\xad", "U+00AD (string) | U+00AD (comment)"},
          {"// x\xe2\x80\xa8"
           "f()",
           "U+2028 (code)"},
          {"'\xe2\x9d\xa4\xef\xb8\x8f \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb'", ""},
          {"'na\xc3\xafve \xe4\xbd\xa0'", ""}, {"'\\u202e \\u200b'", ""},
          {"s.replace(/\\u200b/g, '')", ""});
}

static void names_with_escapes_are_told(void **state)
{
    (void)state;
    CHECK(ESCAPE, {"\\u0065val(1)", "eval"}, {"x.\\u{65}val", "eval"},
          {"const \\u0061 = 1; a", "a"}, {"'\\u0065'; eval", ""}, {"\xc3\xa9t\xc3\xa9", ""});
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Text that is repeated until it has so many bytes, between a start and an end. */
static const struct {
    const char *start, *again, *end;
} hostile[] = {
    {"f('a'", "+'a'", ")"},
    {"f(x", "+'a'+x", ")"},
    {"const a = 'aaaaaaaaaaaaaaaa';", "f(a+a+a+a+a+a+a+a);", ""},
    {"let a0='aaaaaaaa';", "const a=b+b,b=a+a;{let a='x'+b;}", ""},
    {"process", ".a", ""},
    {"process", "['a']", "()"},
    {"process", "[x]", "()"},
    {"f(", "", ")"},
    {"const o = {a:1,", "b:2,", "}; o.a; o.b; o.c; o.a; o.b; o.c;"},
    {"const o = {a:1,b:2,c:3,d:4,e:5,f:6,g:7,h:8,i:9};", "o.a;o.z;", ""},
    {"const l = ['a',", "'b',", "]; l.join(''); l.reverse().join('').split('').join('')"},
    {"const s = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';",
     "f(s.split('').join('').replaceAll('a','bb'));", ""},
    {"", "eval('eval(1)');", ""},
    {"", "new Function('a','b','return 1');", ""},
    {"`", "${'a'}", "`"},
    {"", "/*a*/", ""},
    {"", "//\xe2\x80\xae\n", ""},
    {"", "'\xe2\x80\xae';", ""},
    {"", "\\u0061;", ""},
    {"const k='kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk';", "globalThis[k][k][k][k][k];", ""},
    {"", "const {a:{b:{c}}}=process;", ""},
    {"", "f=process;f.a;", ""},
    {"", "f(x?process:Deno);", ""},
    {"x = ", "x||", "1"},
    {"x = ", "x?y:", "1"},
    {"", "({a:1}).constructor.prototype.__proto__.x=1;", ""},
    {"f(1", ",1", ")"},
    {"String.fromCharCode(1", ",1", ")"},
    {"const a = '", "a", "'; a.trim(); a.trim(); a.split('a').join('b').split('b').join('c')"},
    {"f('", "aaaaaaaaaaaaaaaa ", "')"},
};

static void hostile_text_costs_no_more_than_its_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(hostile); i++) {
        double took[2];
        for (int k = 0; k < 2; k++) {
            size_t bytes = k ? 320000 : 40000;
            CS_AUTO_BUF struct cs_buf text = {0};
            cs_buf_puts(&text, hostile[i].start);
            while (text.len < bytes && hostile[i].again[0])
                cs_buf_puts(&text, hostile[i].again);
            cs_buf_puts(&text, hostile[i].end);
            struct cs_compiled c = {0};
            struct cs_diag d;
            double start = seconds();
            int r = cs_compile(CS_COMPILE_PROGRAM, cs_buf_str(&text), &c, &d);
            took[k] = seconds() - start;
            if (r == 0)
                cs_compiled_done(&c);
        }
        /* Eight times the text: 64 times the time if it were quadratic. */
        if (took[1] > 0.3 && took[1] > took[0] * 30)
            fail_msg("%s...: %.0f ms and %.0f ms", hostile[i].again, took[0] * 1e3, took[1] * 1e3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(long_texts_come_in_pieces),
        cmocka_unit_test(comments_are_told_without_their_marks),
        cmocka_unit_test(hidden_characters_are_told),
        cmocka_unit_test(names_with_escapes_are_told),
        cmocka_unit_test(hostile_text_costs_no_more_than_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
