/* Loops that evidently never end. */
#include "compile/reach_cases.h"

static const struct output_case cases[] = {
    {"while (true) {}", "while(true)@1:1"},
    {"let i = 0; while (1) i++;", "while(true)@1:12"},
    {"for (;;) { work() }", "for(;;)@1:1"},
    {"for (let i = 0; ; i++) work(i)", "for(;;)@1:1"},
    {"for (;true;);", "for(;;)@1:1"},
    {"do { work() } while (true)", "do-while(true)@1:1"},
    {"function f() {\n  while (true) {}\n}\nf()", "while(true)@2:3"},
    /* Those that end, or wait. */
    {"for (;;) { if (x) break }", ""},
    {"while (true) { await tools.a.b() }", ""},
    {"while (true) { if (done()) return 1 }", ""},
    {"while (true) { if (done()) throw 1 }", ""},
    {"function* g() { while (true) yield 1 } g()", ""},
    {"async function f(s) { while (true) { for await (const x of s) work(x) } } f", ""},
    {"let go = true; while (go) { go = next() }", ""},
    {"while (more()) {}", ""},
    {"while (false) {}", ""},
    {"while (0) {}", ""},
    {"for (const x of xs) {}", ""},
    {"a: while (true) { while (true) { break a } }", ""},
    {"a: { while (true) { break a } }", ""},
    {"let n = 3; while (n) n--;", ""},
    /* Those that only look as if. */
    {"while (true) { switch (x) { case 1: break } }", "while(true)@1:1"},
    {"while (true) { for (const x of xs) break }", "while(true)@1:1"},
    {"while (true) { later(async () => { await x; return 1 }) }", "while(true)@1:1"},
    {"while (true) { function f() { return 1 } f() }", "while(true)@1:1"},
    {"a: while (true) { while (true) { continue a } }", "while(true)@1:4"},
    {"while (!0) {}", "while(true)@1:1"},
    {"while (!!1) {}", "while(true)@1:1"},
    {"while ('x') {}", "while(true)@1:1"},
    {"const yes = true; while (yes) {}", "while(true)@1:19"},
    {"const no = 0, yes = !no; do {} while (yes)", "do-while(true)@1:26"},
    {"let yes = []; while (yes) {}", "while(true)@1:15"},
    {"while ((true)) { continue }", "while(true)@1:1"},
    /* Constants, counters, and what nobody sets. */
    {"while (1 + 0) {}", "while(true)@1:1"},
    {"while (1 < 2) {}", "while(true)@1:1"},
    {"while (null == undefined) {}", "while(true)@1:1"},
    {"while (false || 'a') {}", "while(true)@1:1"},
    {"while (true ? 1 : 0) {}", "while(true)@1:1"},
    {"while (!void 0) {}", "while(true)@1:1"},
    {"while (/x/) {}", "while(true)@1:1"},
    {"while (true as boolean) {}", "while(true)@1:1"},
    {"while (2 > 3) {}", ""},
    {"while (1 - 1) {}", ""},
    {"for (let i = 0; i < 10;) {}", "for(;;)@1:1"},
    {"for (let i = 0; i < 10; i--) {}", "for(;;)@1:1"},
    {"for (let i = 1; i > 0; i++) {}", "for(;;)@1:1"},
    {"for (let i = 0; i < Infinity; i++) {}", "for(;;)@1:1"},
    {"for (let i = 0; i !== NaN; i++) {}", "for(;;)@1:1"},
    {"for (let i = 0; i < 10; i += 2) {}", ""},
    {"for (let i = 10; i > 0; --i) {}", ""},
    {"for (let i = 0; i < 10;) i++;", ""},
    {"for (let i = 0; i < 10;) i = next(i);", ""},
    {"for (let i = 0; i < n; i--) {}", ""},
    {"let go = true; while (go) { await x }", "while(true)@1:16"},
    {"let go = true; while (go) { await x; go = y }", ""},
    {"let go = true; while (go) { await x; if (y) break }", ""},
    {"function f(go = true) { while (go) {} } f()", ""},
    {"while (true) { if (false) break }", "while(true)@1:1"},
    {"while (true) { if (x ? 1 : 0) break }", ""},
    {"while (true) { try { throw 1 } catch {} }", "while(true)@1:1"},
    {"while (true) { try { throw 1 } catch { break } }", ""},
    {"while (true) { try { throw 1 } finally {} }", ""},
    {"while (true) { try { return 1 } catch {} }", ""},
    {"const f = () => f(); f()", "recursion@1:11"},
    {"function f() { return f() }", "recursion@1:10"},
    {"const f = n => n > 0 && f(n - 1)", ""},
    {"const f = n => !n || f(n)", ""},
    {"const f = n => n ? f(n - 1) : 0", ""},
    {"function f(n) { if (n) { return f(n) } }", ""},
    {"const x = c ? (a): any => { while (true) {} } : 0", "while(true)@1:29"},
};

static void loops_without_an_end_are_found(void **state)
{
    (void)state;
    check_facts(CS_FACT_LOOP, true, cases, CS_COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_without_an_end_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
