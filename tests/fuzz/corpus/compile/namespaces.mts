// Namespaces with values: nested, merged, dotted, with everything that can be exported.
namespace Simple { export const a = 1; export let b = 2, c: number; const hidden = 5; export function sum() { return a + b + hidden } export function set(n: number) { b = n; c = n * 2 } }
namespace Types { export interface X { y: number } export type Z = X }
namespace Outer { export namespace Inner { export const deep = "deep"; export namespace More { export const est = deep + "est" } } export const from = Inner.deep + Inner.More.est }
namespace Dotted.One.Two { export const x = 12; export function f() { return x + 1 } }
namespace Dotted.One { export const y = Two.x * 2 }
namespace Merge { export const a = 1; export function f() { return "f" + a } export class K { v = a } }
namespace Merge { export const b = a + 1; export const g = f() + new K().v }
function callable(n: number) { return n * callable.factor }
namespace callable { export let factor = 3; export const twice = (n: number) => callable(n) * 2 }
class Klass { static create() { return new Klass() } kind = Klass.Kind.Good }
namespace Klass { export enum Kind { Good = "good", Bad = "bad" } export const count = 3 }
enum Color { Red, Green }
namespace Color { export function parse(s: string) { return Color[s as any] } }
namespace Same { export class Same { n = "same" } export const made = new Same().n }
namespace Pattern { export const { p, q: [r, s = 8], ...rest } = { p: 1, q: [2], z: 26 } as any; export const all = [p, r, s, rest.z] }
namespace Shadow { export const x = 1; export function f(x: number) { return x } export function g() { const h = () => x; { let x = 5; return h() + x } } export const o = { x } }
namespace Alias { import M = Outer.Inner; export import N = Dotted.One; export const v = M.deep + N.Two.x; import T = Types.X; export type U = T }
export namespace Exported { export const ok = true; export enum E { A = 4, B } export async function later() { return ok } }
namespace Lines { let _ = 0;
  export const first = 1
  export const second = first + 1
  ;[first, second].forEach(n => { _ += n })
  export const sum = () => _
}
abstract class Base { abstract x: number }
namespace Base { export class Derived extends Base { x = 4 } }
Simple.set(20);
export default {
  simple: [Simple.a, Simple.b, Simple.c, Simple.sum(), Object.keys(Simple)],
  outer: [Outer.from, Outer.Inner.More.est],
  dotted: [Dotted.One.Two.f(), Dotted.One.y],
  merge: [Merge.b, Merge.g, Object.keys(Merge)],
  callable: [callable(2), callable.twice(2), (callable.factor = 5, callable(1))],
  klass: [Klass.create().kind, Klass.count, Object.keys(Klass)],
  color: [Color.parse("Green"), Object.keys(Color)],
  same: Same.made, pattern: [Pattern.all, Object.keys(Pattern)],
  shadow: [Shadow.f(7), Shadow.g(), Shadow.o.x], alias: Alias.v,
  exported: [Exported.E.B, await Exported.later()],
  base: new Base.Derived().x,
};
