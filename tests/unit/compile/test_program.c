/* What models send, and where the value of a program comes from. */
#include "compile/cases.h"

static const struct output_case cases[] = {
    {"1 + 1", "return (1 + 1)\n})"},
    {"const x: number = 1;\nx * 2;", "const x         = 1;\nreturn (x * 2);\n})"},
    {"const x = 1", "const x = 1\n})"},
    {"return 5", "return 5\n})"},
    {"await foo(); return await bar()", "await foo(); return await bar()\n})"},
    {"({ a: 1 })", "return (({ a: 1 }))\n})"},
    {"[1, 2, 3]", "return ([1, 2, 3])\n})"},
    {"\"text\"", "return (\"text\")\n})"},
    {"`template ${x}`", "return (`template ${x}`)\n})"},
    {"if (x) { y }", "if (x) { y }\n})"},
    {"{ a: 1 }", "{ a: 1 }\n})"},
    {"foo(); // done", "return (foo()); // done\n})"},
    {"foo() /* a */ // b\n\n", "return (foo()) /* a */ // b\n\n\n})"},
    {"foo();;", "return (foo());;\n})"},
    {"main()\nasync function main() { return 1 }",
     "return (main())\nasync function main() { return 1 }\n})"},
    {"const helper = () => 1;\nhelper", "const helper = () => 1;\nreturn (helper)\n})"},
    {"async (inputs) => { return inputs.x }", "return (async (inputs) => { return inputs.x })\n})"},
    {"(inputs: any) => inputs;", "return ((inputs     ) => inputs);\n})"},
    {"async inputs => inputs", "return (async inputs => inputs)\n})"},
    {"(async () => { return 1 })()", "return ((async () => { return 1 })())\n})"},
    {"(async () => { return 1 })", "return ((async () => { return 1 }))\n})"},
    {"function main(inputs: { a: number }) { return inputs.a }",
     "function main(inputs               ) { return inputs.a }\nreturn main})"},
    {"async function main() {}\n", "async function main() {}\n\nreturn main})"},
    {"interface I { x: number }\nasync function main(i: I) { return i.x }",
     ";                        \nasync function main(i   ) { return i.x }\nreturn main})"},
    {"import { a } from './a';\nexport const b = a;",
     "$export({b:()=>b},[]);await $go();;                       \n       const b = $ns[0].a;\n})"},
    {"function one() {} function two() {}", "function one() {} function two() {}\n})"},
    {"async function (x) { return x }", "return (async function (x) { return x })\n})"},
    {"function (x) { return x }", "return (function (x) { return x })\n})"},
    {"export default async function main(i) { return i }",
     "$export({default:()=>main},[]);await $go();               async function main(i) { return i "
     "}\nreturn main})"},
    {"export default function () {}",
     "$export({default:()=>$default},[]);Object.defineProperty($default,\"name\",{value:"
     "\"default\",configurable:true});await $go();               function $default () {}\nreturn "
     "$default})"},
    {"export default 42", "$export({default:()=>$default},[]);await $go();const $default={default: "
                          "              42}.default;\nreturn $default})"},
    {"export default async () => 1;",
     "$export({default:()=>$default},[]);await $go();const $default={default:               async "
     "() => 1}.default;;\nreturn $default})"},
    {"export default { a: 1 }",
     "$export({default:()=>$default},[]);await $go();const $default={default:               { a: 1 "
     "}}.default;\nreturn $default})"},
    {"const f = () => 1; export default f",
     "$export({default:()=>$default},[]);await $go();const f = () => 1; const $default={default:   "
     "            f}.default;\nreturn $default})"},
    {"const f = () => 1; export { f as default }",
     "$export({default:()=>f},[]);await $go();const f = () => 1; ;                      \nreturn "
     "f})"},
    {"export { default } from './x'", "$export({default:()=>$ns[0].default},[]);await $go();;      "
                                      "                      \nreturn $ns[0].default})"},
    {"import { a } from 'x'\nfoo()\na()",
     "$export({},[]);await $go();;                    \nfoo()\nreturn ((0,$ns[0].a)())\n})"},
    {"import { a } from 'x'\nexport default 1\nfoo()\na()",
     "$export({default:()=>$default},[]);await $go();;                    \nconst "
     "$default={default:               1}.default;\nfoo()\n;(0,$ns[0].a)()\nreturn $default})"},
    {"import('x').then(m => m.y)", "return ($import('x').then(m => m.y))\n})"},
    {"enum A { B } A.B", "var A;(A=>       { A[A[\"B\"]=0]=\"B\" })(A||(A={})); return (A.B)\n})"},
    {"x = 1", "return (x = 1)\n})"},
    {"label: x", "label: x\n})"},
    {"class A {}", "class A {}\n})"},
    {"let x = 1; x++", "let x = 1; return (x++)\n})"},
    {"throw new Error('x')", "throw new Error('x')\n})"},
    {"```ts\nreturn 1 as number\n```", "     \nreturn 1          \n\n})"},
    {"```\nreturn 1\n```", "   \nreturn 1\n\n})"},
    {"```typescript\nconst x: number = 1;\nx\n```\nThat was it.",
     "             \nconst x         = 1;\nreturn (x)\n\n})"},
    {"Here is the code:\n\n```ts\nreturn 1\n```\n\nIt returns one.",
     "                 \n\n     \nreturn 1\n\n})"},
    {"Run `this`:\n```js\nawait x\n```", "           \n     \nreturn (await x)\n\n})"},
    {"Code:\n```ts\nfoo()\n```\nand\n```ts\nbar()\n```", "     \n     \nreturn (foo())\n\n})"},
    {"```bash\nnpm i\n```\n```ts\nfoo()\n```", "       \n     \n   \n     \nreturn (foo())\n\n})"},
    {"const md = `\n```\ncode\n```\n`;\nmd", "const md = `\n```\ncode\n```\n`;\nreturn (md)\n})"},
    {"```ts\nconst md = `\n```\ncode\n```\n`;\nmd\n```",
     "     \nconst md = `\n```\ncode\n```\n`;\nreturn (md)\n\n})"},
    {"```ts\nreturn 1", "     \nreturn 1\n})"},
    {"   ```ts\n   return 1\n   ```", "        \n   return 1\n\n})"},
    {"\r\nconst x: number = 1;\r\nx;\r\n", "\r\nconst x         = 1;\r\nreturn (x);\r\n\n})"},
    {"// just a comment", "// just a comment\n})"},
    {";", ";\n})"},
    {"\"use strict\"; 1", "\"use strict\"; return (1)\n})"},
    {"a\n`t`", "return (a\n`t`)\n})"},
    {"new Foo", "return (new Foo)\n})"},
    {"x ? y : z", "return (x ? y : z)\n})"},
    {"x as any;", "return (x       );\n})"},
    {"<any>x", "return (     x)\n})"},
    {"x!", "return (x )\n})"},
    {"(x)", "return ((x))\n})"},
    {"yield_", "return (yield_)\n})"},
    {"() => {}", "return (() => {})\n})"},
    {"a, b", "return (a, b)\n})"},
    {"await x", "return (await x)\n})"},
    {"!function () {}()", "return (!function () {}())\n})"},
    {"import.meta.url", "return ($meta      .url)\n})"},
    {"const t = tools; t", "const t = tools; return (t)\n})"},
    {"for (const x of y) x", "for (const x of y) x\n})"},
    {"try { x } catch { y }", "try { x } catch { y }\n})"},
    {"var x; x\n/* trailing */", "var x; return (x)\n/* trailing */\n})"},
};

/* Those of them whose value is a function to be called with the inputs. */
static const char *const callable[] = {
    "async (inputs) => { return inputs.x }",
    "(inputs: any) => inputs;",
    "async inputs => inputs",
    "(async () => { return 1 })",
    "function main(inputs: { a: number }) { return inputs.a }",
    "async function main() {}\n",
    "interface I { x: number }\nasync function main(i: I) { return i.x }",
    "async function (x) { return x }",
    "function (x) { return x }",
    "export default async function main(i) { return i }",
    "export default function () {}",
    "export default 42",
    "export default async () => 1;",
    "export default { a: 1 }",
    "const f = () => 1; export default f",
    "const f = () => 1; export { f as default }",
    "export { default } from './x'",
    "import { a } from 'x'\nexport default 1\nfoo()\na()",
    "() => {}",
};

static void programs_return_their_value(void **state)
{
    (void)state;
    assert_int_equal(wrong_outputs(CS_COMPILE_PROGRAM, HEAD, cases, CS_COUNT(cases)), 0);
}

static void a_program_that_is_a_function_is_callable(void **state)
{
    (void)state;
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_compiled c = {0};
        struct cs_diag d;
        bool expected = false;
        for (size_t k = 0; k < CS_COUNT(callable); k++)
            expected |= strcmp(callable[k], cases[i].source) == 0;
        assert_int_equal(cs_compile(CS_COMPILE_PROGRAM, cs_str(cases[i].source), &c, &d), 0);
        if ((c.value == CS_VALUE_CALLABLE) != expected)
            fail_msg("callable: %s", cases[i].source);
        cs_compiled_done(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_return_their_value),
        cmocka_unit_test(a_program_that_is_a_function_is_callable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
