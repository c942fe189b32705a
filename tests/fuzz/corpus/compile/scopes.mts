// Every kind of binding that can shadow an import, and every place that does not.
import { a, b, c } from "./names.mjs";
const r: unknown[] = [];
r.push(((a: any) => a)(1), (({ a }: any) => a)({ a: 2 }), (([a]: any) => a)([3]), ((...a: any[]) => a.length)(1, 2), ((b = a) => b)());
r.push((function a() { return typeof a })(), (class a { static n = a.name }).n);
function params(a = b, { b: q = c } = {} as any, [w = a] = [] as any) { var c = 5; return [a, q, w, c] }
r.push(params());
{ let a = 10; r.push(a); { const b = a + 1; r.push(b) } r.push(b) }
{ function a() { return "block function" } r.push(a()) }
for (let a = 0; a < 1; a++) r.push(a);
for (const { length: a } of ["four"]) r.push(a);
for (const a in { key: 1 }) r.push(a);
try { throw 5 } catch (a) { r.push(a) }
try { throw { a: 6 } } catch ({ a, b: z = b }: any) { r.push(a, z) }
switch (1) { case 1: let a = 11; r.push(a) }
function hoisted() { r.push(typeof a); if (true) { var a = 1 } return a }
r.push(hoisted());
const o = { a, b: a, c() { return c }, get d() { return b }, [a]: 1, a2: { a } };
r.push(o.a, o.b, o.c(), o.d, Object.keys(o).join(), o.a2.a);
const { x = a, ...y } = { z: b } as any; r.push(x, y.z);
r.push(`${a}${((a) => a)(1)}${b}`, a ? b : c, a.length, a?.length, a!.toUpperCase(), [...a].length);
a: for (;;) break a;
class K { a = a; static b = b; [c] = c; m(a = b) { return a } static { r.push(c) } }
r.push(new K().a, K.b, (new K() as any)[c], new K().m());
let t; ({ a: t } = { a: b }); r.push(t); [t = c] = []; r.push(t);
r.push(typeof a, void a, !a, a + b, a in { [a]: 1 }, (0, a), a === a);
async function as() { return await a } r.push(await as());
function* g() { yield a; yield* [b] } r.push([...g()].join());
const arrow = (x: string, y = (a: number) => a + 1) => x + y(1) + a; r.push(arrow(a));
const nested = (a: any) => (b: any) => [a, b, c]; r.push(nested(1)(2));
const asyncArrow = async (a: number, { b }: any) => a + b; r.push(await asyncArrow(1, { b: 2 }));
const single = a => a * 2; r.push((single as any)(4)); const sa = async a => a; r.push(await (sa as any)(9));
const def = ({ a = b, c: { d = c } = {} as any } = {} as any) => [a, d]; r.push(def());
enum E { a = 5, z = a } r.push(E.z); namespace N { export const a = "ns"; export const l = a } r.push(N.l);
export { a as exported, b };
export default r;
