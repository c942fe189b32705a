import fs, { readFileSync as r } from 'node:fs';
fs.writeFileSync('/etc/x', 'abc'); r('x');
const p = process; p.env.HOME; const { env: e, argv } = process; e.PATH; argv;
eval('1+1'); (0, eval)('x' + 'y'); globalThis['ev' + 'al'](foo);
const k = 'constr' + 'uctor'; [][k][k]('return process')();
new Function('a', 'b', 'return a+b+fetch("http://x.y")');
setTimeout('alert(1)', 5); setTimeout(() => 1, 5);
Reflect.construct(Function, ['return 1']);
const cp = require('child' + '_process'); cp.exec('rm -rf /');
(await import('node:net')).connect(1);
await import('./x.ts'); await import(foo);
globalThis[foo].bar(); window.fetch('x');
Object.prototype.evil = 1; x.__proto__.y = 2; Array.prototype.map = f; Object.setPrototypeOf(this, X.prototype);
const s = String.fromCharCode(101, 118, 97, 108); globalThis[s]('z');
const b = atob('Y2hpbGRfcHJvY2Vzcw=='); const h = Buffer.from('726d202d7266', 'hex').toString();
const rev = 'lave'.split('').reverse().join(''); const j = ['a','bc','d'].join('');
const cmd = `rm -rf ${dir}`; const api = { password: 'hunter2!', url: `https://${'x'}.com` };
// a comment
/* another
 one */
\u0065val('q'); const esc = '\x72\x6d -rf';
Object.prototype.hasOwnProperty.call(a, b);
x instanceof Function; typeof globalThis; f(globalThis); [Function];
function t(process) { process.env }
console.log(Math.max(1,2), JSON.stringify({}));
