// Enums in all their forms.
const offset = 3;
function computed(): number { return 40 + offset }
enum Plain { A, B, C }
enum Numbered { A = 1, B, C = 10, D, E = -1, F }
enum Text { Up = "UP", Down = 'DOWN', Tpl = `TPL` }
enum Mixed { No = 0, Yes = "YES", After = 5, Next }
enum Calculated { A = 1 << 2, B = A | 1, C = (A + B) * 2, D = computed(), E = "abc".length, F = ~A }
enum Quoted { 'a-b', "c d" = 7, e, 'f"g' }
const enum Const { X = 3, Y }
enum Merged { A }
enum Merged { B = 10, C }
enum Merged { D = A + B + 1 }
export enum Exported { One = 1, Two }
enum Alias { First = "first", Same = First, Both = First + "!" }
enum Trailing { A, B, }
enum Empty {}
enum /* c */ Comments /* d */ { /* e */ A /* f */ , // g
  B = /* h */ 5 /* i */, // j
  C
}
enum Shadow { name = 1, toString = 2, value = name + toString }
declare enum Ambient { Z }
function inside(n: number) {
  enum Local { A = n, B = 3 }
  { enum Block { Q = 5 } return [Local, Block] }
}
const list = [Plain, Numbered, Text, Mixed, Calculated, Quoted, Merged, Exported, Alias, Trailing, Empty, Comments, Shadow];
export default {
  list: list.map(e => Object.entries(e)),
  inner: inside(9).map(e => Object.entries(e as any)),
  reverse: [Plain[1], Numbered[Numbered.D], Const.X, Const.Y, (Mixed as any)[6]],
};
