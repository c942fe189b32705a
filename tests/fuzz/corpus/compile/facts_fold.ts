const l = ['a', 'b'], o = { k: 'x', ...l, get y() { return 1 } }; l[0] = o.k; l[x](l); o[`${'k'}`]['at'](-1)
const s = 'aXb'.split('X').reverse().join('').replace('a', 'b').slice(1, 9e9).repeat(3).at(0xF_F);
String.fromCharCode(...[1e9, 0b11, 0o7, 1.5], 65); atob('===='); Buffer.from('zz', 'hex').toString(); unescape('%u12%4');
const { a: { b: [c, , ...d] }, ...r } = this, { [s + s]: z = eval } = globalThis; Reflect.get(this, s)(z);
Reflect.apply(Function.call, eval, [c, 'eval("1")']); new new Function('a,b', 'c){}{')()(`${s}${z}`);
(({ x = process }) => x.env)(), async (y = require) => y('f' + 's'); f`\u${s}\x`; (5n).toString(36); (99999).toString(36);
