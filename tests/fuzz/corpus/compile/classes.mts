// Parameter properties, fields, accessors, modifiers, overloads.
class Point { constructor(public x: number, readonly y = 2, private z?: number, plain = 5) { this.x += plain } sum() { return this.x + this.y + (this.z ?? 0) } }
class Base { log: string[] = []; constructor(public name: string) { this.log.push("base " + name) } }
class Derived extends Base {
  extra = "extra";
  constructor(name: string, protected readonly tag: string, public opts: { a?: number } = {}) {
    const before = name + "!";
    super(before);
    this.log.push("derived " + this.tag + this.extra);
  }
}
class NoSemi extends Base { constructor(public a: string, b: string) { super(b) } }
abstract class Shape<T> implements Iterable<T> {
  static count = 0
  private static readonly [Symbol.for("s")] = "sym"
  declare ignored: string
  abstract area(): number;
  protected abstract readonly edge: number
  items!: T[]
  optional?: string;
  [key: string]: any
  get
  : string = "field called get"
  static
  : string = "field called static"
  async
  : number
  #secret: number = 42
  has(o: object): o is Shape<T> { return #secret in o }
  read(): number
  read(n: number): number
  read(n?: number): number { return this.#secret + (n ?? 0) }
  *[Symbol.iterator](): IterableIterator<T> { yield* this.items }
  get value(): number { return this.#secret } set value(v: number) { this.#secret = v }
  static { Shape.count = 7 }
  static async *gen<U>(this: void, u: U): AsyncGenerator<U> { yield u }
}
class Square extends Shape<number> { override items = [1, 2]; constructor(public override edge: number) { super() } override area(): number { return this.edge ** 2 } }
const Anonymous = class<T> { constructor(public v: T) {} };
const s = new Square(3);
s.value = 50;
const gathered: string[] = [];
for await (const u of Shape.gen("u")) gathered.push(u);
export default {
  point: [new Point(1), new Point(1, 2, 3).sum(), Object.keys(new Point(1))],
  derived: [new Derived("n", "t"), Object.keys(new Derived("n", "t"))],
  noSemi: new NoSemi("a", "b"),
  shape: [s.area(), s.read(), s.read(1), s.has({}), s.has(s), [...s], s.value, Shape.count, Object.keys(s), (Shape as any)[Symbol.for("s")], (Shape as any).static],
  anonymous: new Anonymous(4).v, gathered,
};
