/* Modules become functions; references to imports become live reads. */
#include "compile/cases.h"

static const struct output_case cases[] = {
    {"export const a = 1;", "$export({a:()=>a},[]);await $go();       const a = 1;\n})"},
    {"import { a } from 'x'; a; a(); new a(); new a.b(); a.b(); a?.(); a`t`; typeof a; [a]; ({ a "
     "}); ({ b: a }); f(a, ...a);",
     "$export({},[]);await $go();;                      $ns[0].a; (0,$ns[0].a)(); new $ns[0].a(); "
     "new $ns[0].a.b(); $ns[0].a.b(); (0,$ns[0].a)?.(); (0,$ns[0].a)`t`; typeof $ns[0].a; "
     "[$ns[0].a]; ({ a:$ns[0].a }); ({ b: $ns[0].a }); f($ns[0].a, ...$ns[0].a);\n})"},
    {"import a from 'x'; a; import * as n from 'y'; n; n.x; n.f(); n()",
     "$export({},[]);await $go();;                  $ns[0].default; ;                       "
     "$ns[1]; $ns[1].x; $ns[1].f(); $ns[1]()\n})"},
    {"import { \"odd-name\" as o, default as d } from 'x'; o; o(); d()",
     "$export({},[]);await $go();;                                                  "
     "$ns[0][\"odd-name\"]; (0,$ns[0][\"odd-name\"])(); (0,$ns[0].default)()\n})"},
    {"import { a } from 'x'\nfoo\na()\na\n`t`", "$export({},[]);await $go();;                    "
                                                "\nfoo\n;(0,$ns[0].a)()\n;(0,$ns[0].a)\n`t`\n})"},
    {"import { a } from 'x'\nif (b) a(); else a()\nfor (;;) a()",
     "$export({},[]);await $go();;                    \nif (b) (0,$ns[0].a)(); else "
     "(0,$ns[0].a)()\nfor (;;) (0,$ns[0].a)()\n})"},
    {"import { a } from 'x'; (a)(); (a as any)(); a!(); (<any>a)(); a<T>()",
     "$export({},[]);await $go();;                      ((0,$ns[0].a))(); ((0,$ns[0].a)       )(); "
     "(0,$ns[0].a) (); (     (0,$ns[0].a))(); (0,$ns[0].a)   ()\n})"},
    {"import { a } from 'x'; { let a; a } { var b; a } function f(a) { a } a",
     "$export({},[]);await $go();;                      { let a; a } { var b; $ns[0].a } function "
     "f(a) { a } $ns[0].a\n})"},
    {"import { a } from 'x'; (a) => a; a => a; ({ a }) => a; ([a = b]) => a; (b = a) => b; async a "
     "=> a; async (a) => a; (...a) => a",
     "$export({},[]);await $go();;                      (a) => a; a => a; ({ a }) => a; ([a = b]) "
     "=> a; (b = $ns[0].a) => b; async a => a; async (a) => a; (...a) => a\n})"},
    {"import { a } from 'x'; class B extends a { [a] = a; m(a) { a } static { a } }",
     "$export({},[]);await $go();;                      class B extends $ns[0].a { [$ns[0].a] = "
     "$ns[0].a; m(a) { a } static { $ns[0].a } }\n})"},
    {"import { a } from 'x'; const { b = a, [a]: c } = a; const [d = a] = []",
     "$export({},[]);await $go();;                      const { b = $ns[0].a, [$ns[0].a]: c } = "
     "$ns[0].a; const [d = $ns[0].a] = []\n})"},
    {"import { a } from 'x'; try {} catch (a) { a } try {} catch { a }",
     "$export({},[]);await $go();;                      try {} catch (a) { a } try {} catch { "
     "$ns[0].a }\n})"},
    {"import { a } from 'x'; function a2() { a; var a } (function a() { a }); (class a { x = a })",
     "$export({},[]);await $go();;                      function a2() { a; var a } (function a() { "
     "a }); (class a { x = a })\n})"},
    {"import { a } from 'x'; x = { a() { a }, get a() { return a }, a: 1 }; y.a; y?.a; a: for (;;) "
     "break a",
     "$export({},[]);await $go();;                      x = { a() { $ns[0].a }, get a() { return "
     "$ns[0].a }, a: 1 }; y.a; y?.a; a: for (;;) break a\n})"},
    {"import { a } from 'x'; export { a, a as b }; export default a",
     "$export({a:()=>$ns[0].a,b:()=>$ns[0].a,default:()=>$default},[]);await $go();;               "
     "       ;                     const $default={default:               $ns[0].a}.default;\n})"},
    {"import { a } from 'x'; export { a as c }",
     "$export({c:()=>$ns[0].a},[]);await $go();;                      ;                \n})"},
    {"import { T } from 'x'; let x: T; export type U = T",
     "$export({},[]);await $go();;                      let x   ; ;                \n})"},
    {"import { T } from 'x'; import { U } from 'y'; import 'z'; import {} from 'w'; U",
     "$export({},[]);await $go();;                      ;                      ;           ;       "
     "            $ns[0].U\n})"},
    {"import { a } from 'x'; import { b } from 'x'; import { c } from 'y'; a; b; c",
     "$export({},[]);await $go();;                      ;                      ;                   "
     "   $ns[0].a; $ns[0].b; $ns[1].c\n})"},
    {"import { a } from 'x'; `${a} ${a()} ${b => a}`",
     "$export({},[]);await $go();;                      `${$ns[0].a} ${(0,$ns[0].a)()} ${b => "
     "$ns[0].a}`\n})"},
    {"import { type A, b } from 'x'; b; import c, { type D } from 'y'; let z: c",
     "$export({},[]);await $go();;                              $ns[0].b; ;                        "
     "      let z   \n})"},
    {"export let a = 1, { b, c: [d], ...e } = f; export function g() {} export class H {} export "
     "async function* i() {}",
     "$export({a:()=>a,b:()=>b,d:()=>d,e:()=>e,g:()=>g,H:()=>H,i:()=>i},[]);await $go();       let "
     "a = 1, { b, c: [d], ...e } = f;        function g() {}        class H {}        async "
     "function* i() {}\n})"},
    {"export { a as b, c as default, d as \"odd\" }; let a, c, d",
     "$export({b:()=>a,default:()=>c,odd:()=>d},[]);await $go();;                                  "
     "          let a, c, d\n})"},
    {"export * from 'x'; export * as y from 'y'; export { z, default as w } from 'z'; export { "
     "default } from 'x'",
     "$export({y:()=>$ns[1],z:()=>$ns[2].z,w:()=>$ns[2].default,default:()=>$ns[0].default},[0]);"
     "await $go();;                  ;                       ;                                    "
     ";                          \n})"},
    {"export default function () {}",
     "$export({default:()=>$default},[]);Object.defineProperty($default,\"name\",{value:"
     "\"default\",configurable:true});await $go();               function $default () {}\n})"},
    {"export default async function* () {}",
     "$export({default:()=>$default},[]);Object.defineProperty($default,\"name\",{value:"
     "\"default\",configurable:true});await $go();               async function* $default () "
     "{}\n})"},
    {"export default function named() {}",
     "$export({default:()=>named},[]);await $go();               function named() {}\n})"},
    {"export default class {}", "$export({default:()=>$default},[]);await $go();const "
                                "$default={default:               class {}}.default;\n})"},
    {"export default class extends B {}",
     "$export({default:()=>$default},[]);await $go();const $default={default:               class "
     "extends B {}}.default;\n})"},
    {"export default class Named {}",
     "$export({default:()=>Named},[]);await $go();               class Named {}\n})"},
    {"export default abstract class Named {}",
     "$export({default:()=>Named},[]);await $go();                        class Named {}\n})"},
    {"export default () => 1", "$export({default:()=>$default},[]);await $go();const "
                               "$default={default:               () => 1}.default;\n})"},
    {"export default { a: 1 } as const",
     "$export({default:()=>$default},[]);await $go();const $default={default:               { a: 1 "
     "}         }.default;\n})"},
    {"export default async (x: number) => { await x }",
     "$export({default:()=>$default},[]);await $go();const $default={default:               async "
     "(x        ) => { await x }}.default;\n})"},
    {"export default x\nfoo()", "$export({default:()=>$default},[]);await $go();const "
                                "$default={default:               x}.default;\nfoo()\n})"},
    {"export { T, U, v }; interface T {} type U = 1; let v; declare const w: 1; export { w }",
     "$export({v:()=>v},[]);await $go();;                   ;              ;           let v; ;    "
     "               ;           \n})"},
    {"export default T; interface T {}",
     "$export({},[]);await $go();;                 ;             \n})"},
    {"export enum A { B } export namespace C { export const d = 1 } export const enum E { F }",
     "$export({A:()=>A,C:()=>C,E:()=>E},[]);await $go();var A;(A=>              { "
     "A[A[\"B\"]=0]=\"B\" })(A||(A={})); var C;($n0=>                   { ;            $n0.d = 1; "
     "})(C||(C={})); var E;(E=>                    { E[E[\"F\"]=0]=\"F\" })(E||(E={}));\n})"},
    {"export enum A { B } export enum A { C = 1 }",
     "$export({A:()=>A},[]);await $go();var A;(A=>              { A[A[\"B\"]=0]=\"B\" "
     "})(A||(A={})); ;(A=>              { A[A[\"C\"] = 1]=\"C\" })(A||(A={}));\n})"},
    {"export namespace C { export interface D {} }",
     "$export({},[]);await $go();;                                           \n})"},
    {"export declare function f(): void; export abstract class G {}",
     "$export({G:()=>G},[]);await $go();;                                                  class G "
     "{}\n})"},
    {"function f(): void; function f() {} export { f }",
     "$export({f:()=>f},[]);await $go();;                   function f() {} ;           \n})"},
    {"import('x'); await import(y); import(`z`); import('a' + b); import.meta.url; import . meta; "
     "import\n.meta",
     "$export({},[]);await $go();$import('x'); await $import(y); $import(`z`); $import('a' + b); "
     "$meta      .url; $meta        ; $meta \n     \n})"},
    {"export const __proto__ = 1",
     "$export({[\"__proto__\"]:()=>__proto__},[]);await $go();       const __proto__ = 1\n})"},
    {"import A = B.C; import { B } from 'x'; A",
     "$export({},[]);await $go();var    A = $ns[0].B.C; ;                      A\n})"},
    {"import A = B.C; import { B } from 'x'; let x: A",
     "$export({},[]);await $go();;               ;                      let x   \n})"},
    {"export import A = B.C; import { B } from 'x';",
     "$export({A:()=>A},[]);await $go();       var    A = $ns[0].B.C; ;                     \n})"},
    {"let a = 1", "$export({},[]);await $go();let a = 1\n})"},
    {"import { a } from 'x'; enum E { a, b = a } namespace N { a; export const a2 = a } namespace "
     "M { export const a = 1; a }",
     "$export({},[]);await $go();;                      var E;(E=>       { E[E[\"a\"]=0]=\"a\"; "
     "(v=>typeof v==\"string\"||(E[v]=\"b\"))(E[\"b\"] = E.a) })(E||(E={})); var N;($n0=>          "
     "  { $ns[0].a; ;            $n0.a2 = $ns[0].a; })(N||(N={})); var M;($n1=>            { ;     "
     "       $n1.a = 1; $n1.a })(M||(M={}));\n})"},
    {"x<!--y\nz-->0", "$export({},[]);await $go();x<   !--y\nz-->0\n})"},
    {"import json from './x.json' with { type: 'json' }; json",
     "$export({},[]);await $go();;                                                  "
     "$ns[0].default\n})"},
    {"import { a } from 'x'; label: a(); switch (a) { case a: a(); default: a() }",
     "$export({},[]);await $go();;                      label: (0,$ns[0].a)(); switch ($ns[0].a) { "
     "case $ns[0].a: (0,$ns[0].a)(); default: (0,$ns[0].a)() }\n})"},
    {"import { a } from 'x'; export const b = a, c = () => a(); export function d(e = a()) { "
     "return a }",
     "$export({b:()=>b,c:()=>c,d:()=>d},[]);await $go();;                             const b = "
     "$ns[0].a, c = () => (0,$ns[0].a)();        function d(e = (0,$ns[0].a)()) { return $ns[0].a "
     "}\n})"},
    {"import { a } from 'x'; async () => { for await (const b of a()) await a() }; function* g() { "
     "yield a(); yield\na() }",
     "$export({},[]);await $go();;                      async () => { for await (const b of "
     "(0,$ns[0].a)()) await (0,$ns[0].a)() }; function* g() { yield (0,$ns[0].a)(); "
     "yield\n;(0,$ns[0].a)() }\n})"},
    {"import { \\u0061b } from 'x'; ab; \\u0061b",
     "$export({},[]);await $go();;                            $ns[0].ab; $ns[0].ab\n})"},
    {"export default y as any\n(z)",
     "$export({default:()=>$default},[]);await $go();const $default={default:               y      "
     " }.default;\n(z)\n})"},
    {"export default () => y as any\n(z)",
     "$export({default:()=>$default},[]);await $go();const $default={default:               () => "
     "y       }.default;\n(z)\n})"},
    {"export default () => { y as any\n(z) }",
     "$export({default:()=>$default},[]);await $go();const $default={default:               () => "
     "{ y ;     \n(z) }}.default;\n})"},
};

static const struct error_case refused[] = {
    {"import { a } from 'x'; a = b => b", 1, 24, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; for (a of b) ;", 1, 29, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; [a] = b", 1, 25, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; ({ a } = b)", 1, 27, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; ({ c: { a = 1 } } = b)", 1, 32,
     "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; a++", 1, 24, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; --a", 1, 26, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"import { a } from \"x\"; a += 1", 1, 24, "'a' is an import and cannot be assigned to",
     "copy it to a variable of your own: let mine = ..."},
    {"export { a }", 1, 10, "'a' is exported but not declared",
     "declare it, or export it from where it is declared"},
    {"export { a, a }; let a", 1, 13, "'a' is exported twice", ""},
    {"export let a; export { b as a }; let b", 1, 24, "'a' is exported twice", ""},
    {"let $ns", 1, 5, "the name '$ns' is reserved", "choose another name"},
    {"$export", 1, 1, "the name '$export' is reserved", "choose another name"},
};

static void modules_become_functions_with_live_bindings(void **state)
{
    (void)state;
    assert_int_equal(wrong_outputs(CS_COMPILE_MODULE, HEAD, cases, CS_COUNT(cases)), 0);
}

static void wrong_exports_and_assignments_to_imports_are_refused(void **state)
{
    (void)state;
    assert_int_equal(wrong_errors(CS_COMPILE_MODULE, refused, CS_COUNT(refused)), 0);
}

static void imports_are_numbered_without_those_that_are_only_types(void **state)
{
    (void)state;
    struct cs_compiled c = {0};
    struct cs_diag d;
    struct cs_str source = CS_STR("import { T } from './t';\nlet x: T;\nimport b from \"b\\x41\";\n"
                                  "import('lazy');\n  import { c } from 'c'; b; c; import 'c';"
                                  "import(`lazy`); import('c');");
    assert_int_equal(cs_compile(CS_COMPILE_MODULE, source, &c, &d), 0);
    assert_int_equal(c.static_count, 2);
    assert_int_equal(c.import_count, 3);
    assert_true(cs_str_is(c.imports[0].specifier, "bA"));
    assert_int_equal(c.imports[0].line, 3);
    assert_int_equal(c.imports[0].column, 15);
    assert_true(cs_str_is(c.imports[1].specifier, "c"));
    assert_int_equal(c.imports[1].line, 5);
    assert_true(cs_str_is(c.imports[2].specifier, "lazy"));
    assert_true(c.imports[2].dynamic);
    cs_compiled_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_become_functions_with_live_bindings),
        cmocka_unit_test(wrong_exports_and_assignments_to_imports_are_refused),
        cmocka_unit_test(imports_are_numbered_without_those_that_are_only_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
