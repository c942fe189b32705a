//// rows of a table
const rows = await tools.postgres.query({ sql: 'SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n DESC' });
return rows;
//// delete old rows
return await tools.sqlite.execute({ sql: "DELETE FROM sessions WHERE expires_at < datetime('now', '-30 days')" });
//// drop a temporary table
await tools.sqlite.execute({ sql: 'DROP TABLE IF EXISTS tmp_import' });
await tools.sqlite.execute({ sql: 'CREATE TABLE tmp_import (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL)' });
for (const r of inputs.rows) await tools.sqlite['insert-record']({ table: 'tmp_import', record: r });
return inputs.rows.length;
//// long sql
const sql = 'SELECT c.id, c.name, sum(o.total) AS revenue, count(*) AS orders, max(o.created_at) AS last ' +
  'FROM customers c JOIN orders o ON o.customer_id = c.id ' +
  'WHERE o.created_at >= $1 AND o.created_at < $2 AND o.status <> \'cancelled\' ' +
  'GROUP BY c.id, c.name HAVING sum(o.total) > 1000 ' +
  'ORDER BY revenue DESC LIMIT 50';
return await tools.postgres.query({ sql, params: [inputs.from, inputs.to] });
//// update with where
const ids = inputs.ids.map(Number).filter(Number.isInteger);
return await tools.neon.run_sql({ projectId: 'p1', sql: `UPDATE users SET plan = 'free' WHERE id IN (${ids.join(', ')})` });
//// transaction
return await tools.neon.run_sql_transaction({ projectId: 'p1', sqlStatements: ['BEGIN', 'INSERT INTO audit(what) VALUES (\'import\')', 'TRUNCATE staging', 'COMMIT'] });
//// schema overview
const tables = await tools.sqlite['list-tables']({});
const out: Record<string, string[]> = {};
for (const t of tables) out[t.name] = (await tools.sqlite['describe-table']({ table: t.name })).columns.map((c) => `${c.name} ${c.type}`);
return out;
//// mongo aggregation
const res = await tools.mongodb.aggregate({ database: 'shop', collection: 'orders', pipeline: [{ $match: { status: 'paid' } }, { $group: { _id: '$country', total: { $sum: '$amount' } } }, { $sort: { total: -1 } }] });
return res;
//// mongo find with dates
const since = new Date(Date.now() - 7 * 864e5).toISOString();
return await tools.mongodb.find({ database: 'app', collection: 'events', filter: { at: { $gte: { $date: since } } }, projection: { _id: 0, type: 1 }, limit: 200 });
//// supabase migration
const up = `create table if not exists tags (
  id bigint generated always as identity primary key,
  name text not null unique
);
alter table tags enable row level security;`;
return await tools.supabase.apply_migration({ project_id: inputs.project, name: 'tags', query: up });
//// elastic search
const hits = await tools.elasticsearch.search({ index: 'logs-*', query_body: { query: { match: { message: 'timeout' } }, size: 20, sort: [{ '@timestamp': 'desc' }] } });
return hits.hits.hits.map((h) => h._source.message);
//// pinecone upsert
const records = inputs.docs.map((d: { id: string; text: string }, i: number) => ({ _id: d.id ?? `doc-${i}`, chunk_text: d.text.slice(0, 4000) }));
return await tools.pinecone['upsert-records']({ name: 'docs', namespace: 'wiki', records });
//// csv to objects
const [head, ...lines] = inputs.csv.trim().split(/\r?\n/);
const keys = head.split(',');
return lines.map((l: string) => Object.fromEntries(l.split(',').map((v, i) => [keys[i], v])));
//// csv with quotes
function parseCsv(s: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '', quoted = false;
  for (let i = 0; i < s.length; i++) {
    const ch = s[i];
    if (quoted) {
      if (ch === '"' && s[i + 1] === '"') { cell += '"'; i++; }
      else if (ch === '"') quoted = false;
      else cell += ch;
    } else if (ch === '"') quoted = true;
    else if (ch === ',') { rows.at(-1)!.push(cell); cell = ''; }
    else if (ch === '\n') { rows.at(-1)!.push(cell); cell = ''; rows.push([]); }
    else if (ch !== '\r') cell += ch;
  }
  rows.at(-1)!.push(cell);
  return rows;
}
return parseCsv(inputs.text).length;
//// median and deviation
const xs: number[] = inputs.values;
const mean = xs.reduce((a, b) => a + b, 0) / xs.length;
const sd = Math.sqrt(xs.reduce((a, b) => a + (b - mean) ** 2, 0) / (xs.length - 1));
const sorted = xs.toSorted((a, b) => a - b);
return { mean, sd, median: (sorted[(xs.length - 1) >> 1] + sorted[xs.length >> 1]) / 2 };
//// moving average
const win = 7;
return inputs.series.map((_, i, a) => i < win - 1 ? null : a.slice(i - win + 1, i + 1).reduce((s, x) => s + x, 0) / win);
//// join of two lists
const byId = new Map(inputs.customers.map((c) => [c.id, c]));
return inputs.orders.map((o) => ({ ...o, customer: byId.get(o.customer_id)?.name ?? null }));
//// pivot
const pivot: Record<string, Record<string, number>> = {};
for (const { region, month, amount } of inputs.sales) ((pivot[region] ??= {})[month] ??= 0, pivot[region][month] += amount);
return pivot;
//// json lines
return inputs.text.split('\n').filter(Boolean).map((l: string, i: number) => {
  try { return JSON.parse(l); } catch (e) { return { line: i + 1, error: (e as Error).message }; }
});
//// deep merge without prototypes
const merge = (a: any, b: any): any => {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) || Array.isArray(b)) return b;
  const out: any = { ...a };
  for (const k of Object.keys(b)) out[k] = k in a ? merge(a[k], b[k]) : b[k];
  return out;
};
return merge(inputs.defaults, inputs.settings);
//// flatten an object
const flat = (o: object, p = ''): Record<string, unknown> => Object.entries(o).reduce((m, [k, v]) =>
  v && typeof v === 'object' && !Array.isArray(v) ? { ...m, ...flat(v, p + k + '.') } : { ...m, [p + k]: v }, {});
return flat(inputs);
//// levenshtein
const lev = (a: string, b: string) => {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array(b.length).fill(0)]);
  for (let j = 1; j <= b.length; j++) d[0][j] = j;
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++)
    d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
  return d[a.length][b.length];
};
return inputs.words.map((w: string) => [w, lev(w, inputs.target)]).sort((x, y) => x[1] - y[1])[0];
//// histogram as text
const max = Math.max(...inputs.counts);
return inputs.counts.map((n: number, i: number) => `${String(i).padStart(2)} ${'█'.repeat(Math.round(n / max * 40))} ${n}`).join('\n');
//// date ranges
const days = [];
for (let d = new Date(inputs.from); d <= new Date(inputs.to); d.setUTCDate(d.getUTCDate() + 1)) if (d.getUTCDay() % 6) days.push(d.toISOString().slice(0, 10));
return days;
//// time zones
const f = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', dateStyle: 'full', timeStyle: 'short' });
return f.format(new Date(inputs.at));
//// iso weeks
const week = (d: Date) => { const t = new Date(Date.UTC(d.getFullYear(), d.getMonth(), d.getDate())); t.setUTCDate(t.getUTCDate() + 4 - (t.getUTCDay() || 7)); return Math.ceil(((+t - Date.UTC(t.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7); };
return inputs.dates.map((s: string) => week(new Date(s)));
//// money in cents
const cents = (s: string) => Math.round(parseFloat(s.replace(',', '.')) * 100);
return inputs.lines.reduce((sum: number, l: string) => sum + cents(l), 0) / 100;
//// dedupe by key
return [...new Map(inputs.rows.map((r) => [`${r.email.toLowerCase()}|${r.company}`, r])).values()];
//// stable random sample
let seed = 42;
const rand = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
return inputs.ids.filter(() => rand() < 0.1);
//// shuffle
const a = [...inputs.list];
for (let i = a.length - 1; i > 0; i--) { const j = Math.floor(Math.random() * (i + 1)); [a[i], a[j]] = [a[j], a[i]]; }
return a;
//// sha of a text
const bytes = new TextEncoder().encode(inputs.text);
const hash = await crypto.subtle.digest('SHA-256', bytes);
return [...new Uint8Array(hash)].map((b) => b.toString(16).padStart(2, '0')).join('');
//// hash with node:crypto
import { createHash } from 'node:crypto';
return createHash('sha1').update(inputs.text).digest('hex');
//// base64 of an attachment
const attachment = { name: 'report.csv', type: 'text/csv', data: btoa(unescape(encodeURIComponent(inputs.csv))) };
return attachment.data.length;
//// decode a header
const [h] = inputs.token.split('.');
return JSON.parse(Buffer.from(h, 'base64url').toString('utf8')).alg;
//// url parts
const u = new URL(inputs.url);
return { host: u.host, path: u.pathname, query: Object.fromEntries(u.searchParams) };
//// query string
const p = new URLSearchParams({ q: inputs.q, page: '2', sort: 'date desc' });
return `https://example.com/search?${p}`;
//// regexes
const log = /^(\S+) \S+ \S+ \[([^\]]+)\] "(\w+) (\S+) [^"]*" (\d{3}) (\d+|-)/;
const hits = new Map<string, number>();
for (const line of inputs.log.split('\n')) {
  const m = log.exec(line);
  if (m && +m[5] >= 500) hits.set(m[4], (hits.get(m[4]) ?? 0) + 1);
}
return [...hits].sort((a, b) => b[1] - a[1]).slice(0, 10);
//// emails in a text
return [...new Set(inputs.text.match(/[\w.+-]+@[\w-]+\.[\w.-]+/g) ?? [])];
//// template filling
return inputs.template.replace(/\{\{(\w+)\}\}/g, (_, k: string) => String(inputs.values[k] ?? ''));
//// words counted
const stop = new Set('the a an of to in and or is are was were be it that this for on with as by at from'.split(' '));
const freq: Record<string, number> = Object.create(null);
for (const w of inputs.text.toLowerCase().match(/\p{L}+/gu) ?? []) if (!stop.has(w)) freq[w] = (freq[w] ?? 0) + 1;
return Object.entries(freq).sort((a, b) => b[1] - a[1]).slice(0, 20);
//// xml by hand
const esc = (s: string) => s.replace(/[<>&"']/g, (c) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;', "'": '&apos;' }[c]!));
return `<?xml version="1.0"?>\n<items>${inputs.items.map((i) => `<item id="${i.id}">${esc(i.name)}</item>`).join('')}</items>`;
//// html stripped
return inputs.html.replace(/<script[\s\S]*?<\/script>/gi, '').replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ').trim();
//// markdown table
const cols = Object.keys(inputs.rows[0]);
return [`| ${cols.join(' | ')} |`, `| ${cols.map(() => '---').join(' | ')} |`, ...inputs.rows.map((r) => `| ${cols.map((c) => r[c]).join(' | ')} |`)].join('\n');
//// binary search
const find = (a: number[], x: number) => { let lo = 0, hi = a.length; while (lo < hi) { const m = (lo + hi) >>> 1; if (a[m] < x) lo = m + 1; else hi = m; } return lo; };
return inputs.queries.map((q: number) => find(inputs.sorted, q));
//// graph search
const edges: Record<string, string[]> = inputs.edges;
const seen = new Set(['start']); const queue = ['start'];
while (queue.length) for (const n of edges[queue.shift()!] ?? []) if (!seen.has(n)) { seen.add(n); queue.push(n); }
return [...seen];
//// fibonacci with a generator
function* fib() { let [a, b] = [0n, 1n]; while (true) { yield a; [a, b] = [b, a + b]; } }
const out: string[] = [];
for (const x of fib()) { if (x > 10n ** 12n) break; out.push(String(x)); }
return out;
//// matrix
const mul = (a: number[][], b: number[][]) => a.map((r) => b[0].map((_, j) => r.reduce((s, x, k) => s + x * b[k][j], 0)));
return mul(inputs.a, inputs.b);
//// state between runs
state.runs = (state.runs ?? 0) + 1;
state.last = new Date().toISOString();
const fresh = inputs.ids.filter((i) => !(state.seen ?? []).includes(i));
state.seen = [...(state.seen ?? []), ...fresh].slice(-1000);
return fresh;
//// artifact
const csv = 'a,b\n' + inputs.rows.map((r) => `${r.a},${r.b}`).join('\n');
const handle = await caisson.storage.put('report.csv', csv);
return handle;
//// rounding bigint
return inputs.amounts.map((s: string) => BigInt(s) / 100n).map(String);
//// enum
enum Level { Low = 1, High }
const of = (n: number) => n > 10 ? Level.High : Level.Low;
return inputs.scores.map((s: number) => Level[of(s)]);
//// assertions
function assert(ok: unknown, why: string): asserts ok { if (!ok) throw new Error(why); }
assert(Array.isArray(inputs.rows), 'rows must be a list');
return inputs.rows.length;
//// proxies of the caller's own
const log: string[] = [];
const traced = new Proxy(inputs.config, { get(t, k) { log.push(String(k)); return Reflect.get(t, k); } });
void traced.host, traced.port;
return log;
//// constructor of a class
class Point { constructor(public x: number, public y: number) {} add(o: Point) { return new Point(this.x + o.x, this.y + o.y); } }
return inputs.points.map(([x, y]) => new Point(x, y)).reduce((a: Point, b: Point) => a.add(b));
//// error names
try { JSON.parse('{'); } catch (e) { return e.constructor.name + ': ' + (e instanceof SyntaxError); }
//// dynamic keys
const out: Record<string, number> = {};
for (const [k, v] of Object.entries(inputs.values)) out[`total_${k}`] = Number(v) * 2;
return out;
//// dispatch by name
const ops = { add: (a: number, b: number) => a + b, mul: (a: number, b: number) => a * b };
return inputs.steps.reduce((acc: number, s: { op: keyof typeof ops; x: number }) => ops[s.op](acc, s.x), 0);
//// Math by name
return ['min', 'max'].map((f) => Math[f as 'min' | 'max'](...inputs.values));
