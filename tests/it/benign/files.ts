//// read and write in the workspace
import { readFile, writeFile } from 'node:fs/promises';
const text = await readFile('/workspace/in.txt', 'utf8');
await writeFile('/workspace/out/upper.txt', text.toUpperCase());
return text.length;
//// list a directory
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
const names = await readdir('/workspace');
const sizes = await Promise.all(names.map(async (n) => [n, (await stat(join('/workspace', n))).size]));
return Object.fromEntries(sizes);
//// walk a tree
import * as fs from 'node:fs/promises';
import path from 'node:path';
async function* walk(dir: string): AsyncGenerator<string> {
  for (const e of await fs.readdir(dir, { withFileTypes: true })) {
    const p = path.join(dir, e.name);
    if (e.isDirectory()) yield* walk(p); else yield p;
  }
}
const found: string[] = [];
for await (const f of walk('/workspace')) if (f.endsWith('.md')) found.push(f);
return found;
//// remove one file
import { rm, unlink } from 'node:fs/promises';
await unlink('/workspace/tmp.txt').catch(() => {});
await rm('/workspace/cache', { recursive: true, force: true });
return 'clean';
//// json file
import { readFile, writeFile } from 'node:fs/promises';
const file = '/workspace/settings.json';
const settings = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
settings.theme = inputs.theme ?? 'dark';
await writeFile(file, JSON.stringify(settings, null, 2) + '\n');
return settings;
//// append to a log
import { appendFile } from 'node:fs/promises';
await appendFile('/workspace/log.txt', `${new Date().toISOString()} ${inputs.what}\n`);
return 'noted';
//// temporary files
import { mkdtemp, writeFile, readFile } from 'node:fs/promises';
const dir = await mkdtemp('/tmp/work-');
await writeFile(`${dir}/a.txt`, 'a'.repeat(1000));
return (await readFile(`${dir}/a.txt`)).length;
//// filesystem server
const { entries } = await tools.filesystem.list_directory_with_sizes({ path: '/srv/docs', sortBy: 'size' });
return entries;
//// search and replace
const hits = await tools.filesystem.search_files({ path: '/srv/docs', pattern: '**/*.md' });
let changed = 0;
for (const p of hits.content.split('\n').filter(Boolean)) {
  const { content } = await tools.filesystem.read_text_file({ path: p });
  if (!content.includes('http://old.example')) continue;
  await tools.filesystem.edit_file({ path: p, edits: [{ oldText: 'http://old.example', newText: 'https://new.example' }] });
  changed++;
}
return changed;
//// many files at once
const r = await tools.filesystem.read_multiple_files({ paths: ['a.md', 'b.md', 'c.md'].map((n) => '/srv/docs/' + n) });
return r.content.split('\n---\n').map((s) => s.split('\n')[0]);
//// front matter
const { content } = await tools.filesystem.read_text_file({ path: inputs.path });
const m = /^---\n([\s\S]*?)\n---\n/.exec(content);
return Object.fromEntries((m?.[1] ?? '').split('\n').map((l) => l.split(/:\s*/, 2)));
//// broken links
const { content } = await tools.filesystem.read_text_file({ path: '/srv/docs/index.md' });
const links = [...content.matchAll(/\[[^\]]*\]\((?!https?:)([^)#]+)/g)].map((x) => x[1]);
const missing = [];
for (const l of links) try { await tools.filesystem.get_file_info({ path: '/srv/docs/' + l }); } catch { missing.push(l); }
return missing;
//// rename by date
const list = await tools.filesystem.list_directory({ path: '/srv/photos' });
const jobs = list.content.split('\n').flatMap((l) => { const m = /IMG_(\d{4})(\d{2})(\d{2})_(\d+)\.jpg/.exec(l); return m ? [{ from: m[0], to: `${m[1]}-${m[2]}-${m[3]}-${m[4]}.jpg` }] : []; });
for (const j of jobs) await tools.filesystem.move_file({ source: '/srv/photos/' + j.from, destination: '/srv/photos/' + j.to });
return jobs.length;
//// tree as text
const tree = await tools.filesystem.directory_tree({ path: '/srv/web/src' });
const show = (n: any[], d = 0): string => n.map((x) => '  '.repeat(d) + x.name + (x.children ? '/\n' + show(x.children, d + 1) : '')).join('\n');
return show(JSON.parse(tree.content));
//// media
const m = await tools.filesystem.read_media_file({ path: '/srv/web/logo.png' });
return m.data.length * 3 / 4;
//// pdf pages
const { pdfs } = await tools.pdf.list_pdfs({});
return pdfs.map((p) => p.name);
//// object storage
const objects = await tools['gcp-storage'].list_objects({ bucket_name: 'reports', prefix: '2026/' });
return objects.filter((o) => o.size > 1_000_000).map((o) => o.name);
//// copy between buckets
for (const name of inputs.names) await tools.gcpStorage.copyObjectSafe({ source_bucket: 'in', source_object: name, destination_bucket: 'archive', destination_object: `${new Date().getFullYear()}/${name}` });
return inputs.names.length;
//// todo comments of a source
const { content } = await tools.filesystem.read_text_file({ path: '/srv/web/app.ts' });
return content.split('\n').map((l, i) => ({ l, i: i + 1 })).filter(({ l }) => /\/\/ ?later\b/i.test(l));
//// lines of code
const exts: Record<string, number> = {};
for (const f of inputs.files) { const e = f.name.slice(f.name.lastIndexOf('.') + 1); exts[e] = (exts[e] ?? 0) + f.lines; }
return exts;
//// config with a path
const config = { root: '/srv/app', log: '/var/log/app.log', tmp: '/tmp/app' };
return Object.entries(config).map(([k, v]) => `${k}=${v}`).join('\n');
//// dockerfile
const dockerfile = `FROM debian:stable-slim
RUN apt-get update && apt-get install -y curl && rm -rf /var/lib/apt/lists/*
COPY app /app
CMD ["/app/run"]`;
await tools.filesystem.write_file({ path: '/srv/web/Dockerfile', content: dockerfile });
return 'written';
//// crontab explained
const field = ['minute', 'hour', 'day of month', 'month', 'day of week'];
return inputs.cron.split(/\s+/).map((v: string, i: number) => `${field[i]}: ${v}`);
//// gitignore
await tools.filesystem.write_file({ path: '/srv/web/.gitignore', content: ['node_modules/', 'dist/', '.env', '*.log', ''].join('\n') });
return true;
//// env example file
await tools.filesystem.write_file({ path: '/srv/web/.env.example', content: 'DATABASE_URL=\nAPI_KEY=\nLOG_LEVEL=info\n' });
return true;
//// zip list by hand
const dv = new DataView(Uint8Array.from(atob(inputs.zip), (c) => c.charCodeAt(0)).buffer);
const names: string[] = [];
for (let p = 0; p + 30 < dv.byteLength && dv.getUint32(p, true) === 0x04034b50;) {
  const n = dv.getUint16(p + 26, true), x = dv.getUint16(p + 28, true), size = dv.getUint32(p + 18, true);
  names.push(new TextDecoder().decode(new Uint8Array(dv.buffer, p + 30, n)));
  p += 30 + n + x + size;
}
return names;
//// magic bytes
const magic = [['\x89PNG', 'png'], ['\xff\xd8\xff', 'jpeg'], ['GIF8', 'gif'], ['%PDF', 'pdf'], ['PK\x03\x04', 'zip']];
const start = atob(inputs.data.slice(0, 12));
return magic.find(([m]) => start.startsWith(m))?.[1] ?? 'unknown';
//// ansi colours taken out
return inputs.log.replace(/\x1b\[[0-9;]*m/g, '');
//// zero width taken out
return inputs.text.replace(/[\u200b-\u200d\ufeff]/g, '');
