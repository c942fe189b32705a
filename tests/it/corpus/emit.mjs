// Runs what the compiler emits and compares with what TypeScript and esbuild emit: emit/*.mts are
// single modules, emit/*/main.mts are graphs. Each exports as default something that JSON can hold.
// Their output runs as real ES modules in node; ours runs through linker.mjs. Where the two do not
// agree with each other, TypeScript is right.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {Linker} from './linker.mjs';
import {here} from './tool.mjs';

const cases = path.join(here, 'emit');

const withEsbuild = esbuild => text =>
  esbuild.transformSync(text, {
    loader: 'ts', format: 'esm', target: 'esnext', keepNames: true,
    tsconfigRaw: {compilerOptions: {useDefineForClassFields: true}},
  }).code;

const withTypeScript = ts => text =>
  ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, useDefineForClassFields: true, preserveConstEnums: true,
    },
  }).outputText;

function transformed(compiler, from, to) {
  fs.mkdirSync(to, {recursive: true});
  for (const entry of fs.readdirSync(from, {withFileTypes: true})) {
    const source = path.join(from, entry.name);
    if (entry.isDirectory()) transformed(compiler, source, path.join(to, entry.name));
    else fs.writeFileSync(path.join(to, entry.name.replace(/\.mts$/, '.mjs')), compiler(fs.readFileSync(source, 'utf8')));
  }
  return to;
}

async function result(make) {
  try {
    return JSON.stringify((await make()).default, null, 1) ?? 'nothing';
  } catch (e) {
    return String(e.stack);
  }
}

function firstDifference(a, b) {
  const x = a.split('\n'), y = b.split('\n');
  let i = 0;
  while (x[i] === y[i]) i++;
  return `line ${i}:\n    ours   ${x.slice(i, i + 3).join(' ')}\n    theirs ${y.slice(i, i + 3).join(' ')}`;
}

export async function run(esbuild, ts) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'caisson-emit-'));
  let failures = 0, passed = 0, agreed = 0;
  try {
    const byTypeScript = transformed(withTypeScript(ts), cases, path.join(temporary, 'ts'));
    const byEsbuild = transformed(withEsbuild(esbuild), cases, path.join(temporary, 'esbuild'));
    for (const entry of fs.readdirSync(cases, {withFileTypes: true})) {
      const name = entry.isDirectory() ? path.join(entry.name, 'main.mts') : entry.name;
      const native = dir => import(pathToFileURL(path.join(dir, name.replace(/\.mts$/, '.mjs'))));
      const theirs = await result(() => native(byTypeScript));
      const second = await result(() => native(byEsbuild));
      const ours = await result(() => new Linker().run(path.join(cases, name)));
      if (ours === theirs) passed++;
      else {
        failures++;
        console.log(`  emit/${name}: ${firstDifference(ours, theirs)}`);
      }
      agreed += ours === second;
    }
  } finally {
    fs.rmSync(temporary, {recursive: true, force: true});
  }
  console.log(`${passed + failures} emitted programs run, ${passed} as with TypeScript, ${agreed} as with esbuild`);
  return {passed, failures};
}
