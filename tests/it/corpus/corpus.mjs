// Real code through the compiler, and the same code through others.
//
//   1. Every .ts file (with values): accepted; the engine takes the module made of it; what is left
//      after stripping equals what ts-blank-space leaves, up to white space and stray ';'. Where the
//      two moved a parenthesis differently, esbuild prints both and the prints are compared. Files
//      that ts-blank-space refuses (enums, namespaces, parameter properties) have to be valid for
//      esbuild; emit.mjs runs such constructs.
//   2. Every .d.ts file: accepted, and the engine takes what is left.
//   3. Every JavaScript module: comes out as it went in.
//
// expectations.json lists what is refused or differs on purpose, each with its reason. An entry that
// is no longer needed is an error too.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {compile, here} from './tool.mjs';

const modules = path.join(here, 'node_modules');
if (!fs.existsSync(path.join(modules, 'ts-blank-space'))) {
  console.log('corpus: skipped: run npm ci in tests/it/corpus first');
  process.exit(77);
}
const {default: blankSpace} = await import('ts-blank-space');
const esbuild = createRequire(import.meta.url)('esbuild');
const expected = JSON.parse(fs.readFileSync(path.join(here, 'expectations.json'), 'utf8'));
const unused = new Set([...Object.keys(expected.refused), ...Object.keys(expected.differ)]);
const started = Date.now();
let failures = 0;

function fail(file, why) {
  if (++failures <= 40) console.log(`  ${path.relative(modules, file)}: ${why}`);
}

function walk(dir, into) {
  for (const entry of fs.readdirSync(dir, {withFileTypes: true})) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) walk(full, into);
    else if (entry.isFile()) into.push(full);
  }
  return into;
}

// Equal but for blanks and semicolons, character by character.
function sameInPlace(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    const x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y && !((x === 32 || x === 59) && (y === 32 || y === 59))) return false;
  }
  return true;
}

const printed = text =>
  esbuild.transformSync(text, {loader: 'js', target: 'esnext', minifyWhitespace: true, legalComments: 'none'})
    .code.replaceAll(';', '');

function compare(answer) {
  const source = fs.readFileSync(answer.file, 'utf8');
  let refused = false, other;
  try {
    other = blankSpace(source, () => { refused = true; });
  } catch {
    refused = true;
  }
  if (!refused && (other === answer.text || sameInPlace(other, answer.text))) return 'equal';
  let ours;
  try {
    ours = printed(answer.text);
  } catch (e) {
    return `the output is not valid: ${e.message.split('\n')[1] ?? e.message}`;
  }
  if (refused) return 'emitted';
  const theirs = printed(other);
  if (ours === theirs) return 'equal';
  let i = 0;
  while (ours[i] === theirs[i]) i++;
  return `differs: ours ${JSON.stringify(ours.slice(i - 20, i + 40))}, theirs ${JSON.stringify(theirs.slice(i - 20, i + 40))}`;
}

function known(list, file, text) {
  const name = path.relative(modules, file).split(path.sep).join('/');
  const reason = list[name];
  if (reason === undefined || (text !== undefined && !text.startsWith(reason))) return false;
  unused.delete(name);
  return true;
}

const all = walk(modules, []);
const isDeclaration = f => /\.d\.(ts|mts|cts)$/.test(f);
const sources = all.filter(f => /\.(ts|mts|cts)$/.test(f) && !isDeclaration(f));
const count = {equal: 0, emitted: 0, refused: 0, differ: 0};
const engine = compile(sources, 'module', '--check');
compile(sources, 'strip', '--time').forEach((answer, i) => {
  if (answer.kind !== 'ok') {
    if (known(expected.refused, answer.file, answer.text)) count.refused++;
    else {
      count.differ++;
      fail(answer.file, `refused at ${answer.line}:${answer.column}: ${answer.text}`);
    }
    return;
  }
  if (engine[i].kind !== 'ok') {
    count.differ++;
    fail(answer.file, `as a module: ${engine[i].line}:${engine[i].column} ${engine[i].text}`);
    return;
  }
  const verdict = compare(answer);
  if (verdict in count) count[verdict]++;
  else {
    count.differ++;
    if (!known(expected.differ, answer.file)) fail(answer.file, verdict);
  }
});
const files = sources.length - count.refused;
const share = 100 * (count.equal + count.emitted) / files;
console.log(`${files} files, ${count.equal} equal, ${count.emitted} emitted (no oracle, valid), ${count.differ} differ ` +
  `(${share.toFixed(2)} % good), ${count.refused} refused on purpose`);
if (share < 99.9) fail(modules, 'less than 99.9 % are good');
if (files < 3000) fail(modules, 'fewer than 3,000 files: is the corpus complete?');

// Declarations: nothing of them has a value, so whatever is left must be harmless.
const declarations = all.filter(isDeclaration);
let accepted = 0, commonjs = 0;
for (const answer of compile(declarations, 'strip')) {
  if (answer.kind === 'ok' || known(expected.refused, answer.file, answer.text)) accepted++;
  else if (expected.commonjs_declarations.some(m => answer.text.startsWith(m))) commonjs++;
  else fail(answer.file, `refused at ${answer.line}:${answer.column}: ${answer.text}`);
}
console.log(`${declarations.length} declaration files, ${accepted} accepted, ${commonjs} are CommonJS`);

// JavaScript is TypeScript without types: not a byte changes, save the directives in comments.
const scripts = all.filter(f => /\.m?js$/.test(f)).filter(f => {
  const text = fs.readFileSync(f, 'utf8');
  return /^(import|export)\b/m.test(text) && !text.startsWith('#!');
});
const directives = text => text.replace(/\/\/[#@]/g, '// ').replace(/^\ufeff/, '');
let same = 0;
for (const answer of compile(scripts, 'strip')) {
  if (known(expected.refused, answer.file, answer.text)) same++;
  else if (answer.kind !== 'ok') fail(answer.file, `refused at ${answer.line}:${answer.column}: ${answer.text}`);
  else if (directives(answer.text) !== directives(fs.readFileSync(answer.file, 'utf8'))) fail(answer.file, 'JavaScript was changed');
  else same++;
}
console.log(`${scripts.length} JavaScript modules, ${same} unchanged`);

for (const name of unused) fail(path.join(modules, name), 'is in expectations.json but needs no exception');
const emit = await (await import('./emit.mjs')).run(esbuild, createRequire(import.meta.url)('typescript'));
failures += emit.failures;
const good = count.equal + count.emitted + accepted + same + emit.passed;
console.log(`${((Date.now() - started) / 1000).toFixed(1)} s`);
console.log(`${good} passed, ${failures} failed, 0 skipped`);
process.exit(failures ? 1 : 0);
