// Live bindings: what the exporter changes, the importer sees.
import counter, { value, increment as up, object, setLater, later, Klass, list } from "./counter.mjs";
import * as all from "./counter.mjs";
import { "odd name" as odd } from "./counter.mjs";
const seen: unknown[] = [value];
up(); seen.push(value, all.value, `${value}`, [value], { value }, { v: value }.v, typeof value);
up()
up()
seen.push(value);
const { x = value } = {} as any; seen.push(x);
const f = (y = value) => y; seen.push(f());
class C extends Klass { z = value; [`k${value}`] = 1; static s = value }
seen.push(new C().z, Object.keys(new C()).join(), C.s, new Klass().n, new all.Klass().n);
setLater("now"); seen.push(later, odd, object.method(), counter);
const called = [typeof up, up?.(), (up)(), (up as any)(), up!()];
seen.push(called.length, value);
const tagged = list`a${value}b`; seen.push(tagged);
seen.push((() => { try { return noThis() } catch (e) { return String(e) } })());
import { noThis } from "./counter.mjs";
seen.push(((value) => value)(100), (function () { let value = 7; { let value = 8 } return value })());
for (const value of [3]) seen.push(value);
seen.push(Object.keys(all).sort().join());
export { value as reexported, up };
export default seen;
