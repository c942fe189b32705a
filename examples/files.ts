// Files live in /workspace (copied in and out with --workspace) and /tmp. There is no other file system.
import { readFile, writeFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

await mkdir('/workspace/out', { recursive: true });
for (const n of [1, 2, 3]) {
  await writeFile(join('/workspace/out', `part-${n}.txt`), `part ${n}\n`);
}

const names = await readdir('/workspace/out');
const parts = await Promise.all(names.sort().map((name) => readFile(`/workspace/out/${name}`, 'utf8')));
return parts.map((part) => part.trim());
