// Drives compile_files: many files through the compiler in one process.
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');

// The newest of the builds that have it.
function find() {
  const builds = process.env.CAISSON_BUILD ? [process.env.CAISSON_BUILD] : ['build/dev', 'build/bench'];
  const tools = builds.map(build => path.resolve(root, build, 'tests/compile_files')).filter(fs.existsSync);
  tools.sort((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs);
  if (tools.length) return tools[0];
  console.error('corpus: compile_files is not built: cmake --build build/dev, or set CAISSON_BUILD');
  process.exit(2);
}

// One answer per file: {kind: 'ok', text} | {kind: 'error', line, column, text} | {kind: 'engine', text}.
export function compile(files, kind, ...options) {
  const out = execFileSync(find(), ['--kind', kind, ...options], {
    input: files.join('\0') + '\0',
    maxBuffer: 2 ** 31 - 1,
    env: {...process.env, ASAN_OPTIONS: 'detect_leaks=0'},
    stdio: ['pipe', 'pipe', options.includes('--facts') ? 'ignore' : 'inherit'],
  });
  const answers = [];
  let at = 0;
  for (const file of files) {
    const end = out.indexOf(10, at);
    const head = out.subarray(at, end).toString().split(' ');
    const size = Number(head.at(-1));
    const text = out.subarray(end + 1, end + 1 + size).toString();
    answers.push({file, kind: head[0], line: Number(head[1]), column: Number(head[2]), text});
    at = end + 1 + size;
  }
  return answers;
}

// The static imports of a module that are left after elision, in the order of $ns.
export function imports(file) {
  const {stderr} = spawnSync(find(), ['--kind', 'module', '--facts'], {
    input: file + '\0',
    env: {...process.env, ASAN_OPTIONS: 'detect_leaks=0'},
    encoding: 'utf8',
  });
  return [...stderr.matchAll(/^\d+:\d+ import (.*)$/gm)].map(m => m[1]);
}
