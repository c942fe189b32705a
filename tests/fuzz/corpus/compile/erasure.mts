// Constructs whose erasure could change how lines join.
interface A { x: number }
const a = 1 as number
;(function () {})()
let b = a as any as number
;[1, 2].map(x => x)
const log: any[] = [];
const f = (x: number): {
  y: number
} => ({ y: x })
const g = async <
  T,
>(x: T): Promise<
  T
> => x
function h(): number { return <
  number
>(5) }
function i() { return <
  T,
>(x: T) => [x] }
const tern = true ? (a) : (b as number)
const arrow = true ? (x: number): number => x + 1 : (y: number): number => y
const nested = true ? false ? (a) : (x) => x : 3
const generic = Array<number>(3).length + new Map<string, Array<number>>([["a", [1]]]).size
const compare = a < b && b > (1)
const shift = (8 >> 1 >>> 1) + (1 << 3), ge = 3 >= 2
const tag = (s: TemplateStringsArray, ...v: unknown[]) => s.raw.join("|") + v.join()
const tagged = tag<string>`x${1}y${2}z`
let maybe: { a?: { b: number[] } } | undefined = { a: { b: [7] } }
const bang = maybe!.a!.b![0]! + 1
const sat = { k: 1 } satisfies Record<string, number>
const tuple = [1, 2] as const
type T1 = typeof tuple
declare const nothing: string
declare global { interface Window { z: 1 } }
function over(x: string): string
function over(x: number): number
function over(x: any) { return x }
const obj = { m<T>(this: any, x: T): T { return x }, async *n<T>(): AsyncGenerator<T> {}, get p(): number { return 1 }, set p(v: number) {}, ["c" + 1]: 2 as number, async: 1, get: 2, set: 3, type: 4, of: 5 }
const { m, ["c1"]: c1, ...others }: { [k: string]: any } = obj
label: for (const k of [1, 2, 3] as number[]) { for (;;) { if (k > 1) break label; continue label } }
try { throw new Error("e") } catch (e: unknown) { log.push((e as Error).message) }
try { throw 1 } catch { log.push("bare") }
const type = 1, declare = 2, namespace = 3, module = 4, abstract = 5, as = 6, satisfies = 7, of = 8, async = 9, readonly = 10
log.push(type, declare, namespace, module, abstract, as, satisfies, of, async, readonly)
const re = /[/]\/</.test("/<") ? a / b / 2 : 0
const assertion = <any>{ q: 1 }, chained = (<any>assertion).q
const opt = (x?: number, y = 2, ...z: number[]) => [x, y, z.length]
function pred(x: unknown): x is string { return typeof x === "string" }
function asserts(x: unknown): asserts x is number {}
const ctor: new () => Date = Date
var v1 = 1; var v1 = 2
const fnType: (a: number) => (b: string) => void = () => () => {}
const cond = ((x: any) => x)<number>
let definite!: number
definite = 4
export default {
  a, b, f: f(1), g: await g(2), h: h(), i: i()(6), tern, arrow: arrow(1), nested: (nested as any)(5), generic, compare, shift, ge, tagged, bang, sat, tuple, over: over("o"),
  m: m.call(null, 3), c1, others: Object.keys(others), log, re, chained, opt: opt(), pred: pred(""), cond: (cond as any)(8), definite, v1, fnType: typeof fnType,
};
