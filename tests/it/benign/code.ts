//// open issues by label
const issues = await tools.github.list_issues({ owner: 'harbour', repo: 'web', state: 'open', perPage: 100 });
const byLabel: Record<string, number> = {};
for (const issue of issues) for (const label of issue.labels ?? []) byLabel[label.name] = (byLabel[label.name] ?? 0) + 1;
return Object.entries(byLabel).sort((a, b) => b[1] - a[1]);
//// all pages of pull requests
const all = [];
for (let page = 1; ; page++) {
  const batch = await github.list_pull_requests({ owner: 'harbour', repo: 'api', state: 'closed', page, perPage: 50 });
  all.push(...batch);
  if (batch.length < 50) break;
}
return { count: all.length, merged: all.filter((p) => p.merged_at).length };
//// while true with a break
let page = 1;
const found: string[] = [];
while (true) {
  const r = await tools.github.search_code({ query: 'TODO repo:harbour/web', page });
  found.push(...r.items.map((i) => i.path));
  if (!r.items.length || page++ > 10) break;
}
return [...new Set(found)];
//// commit message that speaks of rm -rf
const body = 'The clean target used rm -rf on a variable that could be empty; it now removes the build directory by name.';
await tools.github.create_or_update_file({
  owner: 'harbour', repo: 'web', path: 'Makefile', branch: 'fix-clean',
  message: 'build: stop using rm -rf with an unset variable\n\n' + body,
  content: inputs.makefile, sha: inputs.sha,
});
return 'done';
//// issue about eval
return await tools.github.create_issue({
  owner: 'harbour', repo: 'web', title: 'Replace eval() in the template engine',
  body: 'The renderer calls `eval` for each expression. Use a parser instead; `new Function` has the same problem.',
  labels: ['security', 'tech-debt'],
});
//// stale branches
const branches = await tools.github.list_branches({ owner: 'harbour', repo: 'web' });
const cutoff = Date.now() - 90 * 86_400_000;
const stale: { name: string; days: number }[] = [];
for (const b of branches) {
  const c = await tools.github.get_commit({ owner: 'harbour', repo: 'web', sha: b.commit.sha });
  const when = Date.parse(c.commit.committer.date);
  if (when < cutoff) stale.push({ name: b.name, days: Math.floor((Date.now() - when) / 86_400_000) });
}
return stale.sort((a, b) => b.days - a.days);
//// review comments per author
const prs = await tools.github.list_pull_requests({ owner: 'harbour', repo: 'web' });
const counts = new Map<string, number>();
await Promise.all(prs.slice(0, 20).map(async (pr) => {
  const reviews = await tools.github.pull_request_read({ owner: 'harbour', repo: 'web', pullNumber: pr.number, method: 'get_reviews' });
  for (const r of reviews) counts.set(r.user.login, (counts.get(r.user.login) ?? 0) + 1);
}));
return Object.fromEntries(counts);
//// release notes
const commits = await tools.github.list_commits({ owner: 'harbour', repo: 'web', sha: 'main', since: '2026-01-01T00:00:00Z' });
const groups: Record<string, string[]> = { feat: [], fix: [], other: [] };
for (const c of commits) {
  const [, kind, text] = /^(feat|fix)(?:\([^)]*\))?: (.+)/.exec(c.commit.message.split('\n')[0]) ?? [];
  (groups[kind] ?? groups.other).push(text ?? c.commit.message.split('\n')[0]);
}
const md = Object.entries(groups).filter(([, l]) => l.length)
  .map(([k, l]) => `## ${k}\n\n` + l.map((x) => `- ${x}`).join('\n')).join('\n\n');
return md;
//// file contents as base64
const file = await tools.github.get_file_contents({ owner: 'harbour', repo: 'web', path: 'package.json' });
const pkg = JSON.parse(atob(file.content.replace(/\n/g, '')));
return { name: pkg.name, dependencies: Object.keys(pkg.dependencies ?? {}).length };
//// upload a picture as base64
import { readFile } from 'node:fs/promises';
const bytes = await readFile('/workspace/logo.png');
const content = Buffer.from(bytes).toString('base64');
return await tools.github.create_or_update_file({ owner: 'harbour', repo: 'web', path: 'docs/logo.png', message: 'docs: add the logo', content, branch: 'main' });
//// duplicate issues
const list = await tools.github.list_issues({ owner: 'harbour', repo: 'web' });
const norm = (s: string) => s.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim();
const seen = new Map<string, number>();
const dup: [number, number][] = [];
for (const i of list) {
  const key = norm(i.title);
  if (seen.has(key)) dup.push([seen.get(key)!, i.number]);
  else seen.set(key, i.number);
}
return dup;
//// merge requests of gitlab
type MR = { iid: number; title: string; draft: boolean; updated_at: string };
const mrs: MR[] = await tools.gitlab.list_merge_requests({ project_id: '42', state: 'opened' });
return mrs.filter((m) => !m.draft && Date.now() - +new Date(m.updated_at) > 7 * 864e5)
  .map(({ iid, title }) => `!${iid} ${title}`);
//// pipeline failures
const status = await tools.circleci.get_latest_pipeline_status({ projectSlug: 'gh/harbour/web', branch: 'main' });
if (/failed/i.test(JSON.stringify(status))) {
  const logs = await tools.circleci.get_build_failure_logs({ projectSlug: 'gh/harbour/web', branch: 'main' });
  const lines = String(logs).split('\n').filter((l) => /error|fatal/i.test(l));
  return lines.slice(-20).join('\n');
}
return 'green';
//// flaky tests table
const flaky = await tools.circleci.find_flaky_tests({ projectSlug: 'gh/harbour/web' });
const rows = flaky.tests.map((t) => ({ name: t.name, rate: (t.failures / t.runs * 100).toFixed(1) + ' %' }));
console.table(rows);
return rows.length;
//// git log summary
const log = await tools.git.git_log({ maxCount: 200 });
const perDay = log.commits.reduce((m, c) => {
  const day = c.date.slice(0, 10);
  return m.set(day, (m.get(day) || 0) + 1);
}, new Map());
return [...perDay].sort(([a], [b]) => a.localeCompare(b));
//// git diff stat
const d = await tools.git.git_diff({ target: 'main...HEAD' });
const stat = d.diff.split('\n').reduce((s, l) => {
  if (l.startsWith('+') && !l.startsWith('+++')) s.added++;
  else if (l.startsWith('-') && !l.startsWith('---')) s.removed++;
  return s;
}, { added: 0, removed: 0 });
return stat;
//// sentry top issues
const issues = await tools.sentry.search_issues({ organizationSlug: 'harbour', naturalLanguageQuery: 'unresolved errors of the last day' });
return issues.slice(0, 5);
//// sentry with a switch
const events = await tools.sentry.search_events({ organizationSlug: 'harbour', naturalLanguageQuery: 'errors by release' });
const grade = (n: number) => {
  switch (true) {
    case n > 1000: return 'bad';
    case n > 100: return 'so-so';
    default: return 'fine';
  }
};
return events.map((e) => ({ release: e.release, grade: grade(e.count) }));
//// datadog hosts
const { hosts } = await tools.datadog.list_hosts({ count: 100 });
const down = hosts.filter((h) => !h.up);
if (!down.length) return 'all up';
return down.map((h) => h.name).join(', ');
//// p95 of latencies
const q = await tools.datadog.query_metrics({ query: 'avg:web.latency{*}', from: Math.floor(Date.now() / 1000) - 3600, to: Math.floor(Date.now() / 1000) });
const points = q.series.flatMap((s) => s.pointlist.map((p) => p[1])).filter((x) => x != null).sort((a, b) => a - b);
return { p50: points[points.length >> 1], p95: points[Math.floor(points.length * 0.95)] };
//// pods that restart
const pods = await tools.kubernetes.pods_list_in_namespace({ namespace: 'shop' });
const text: string = typeof pods === 'string' ? pods : JSON.stringify(pods);
return text.split('\n').filter((l) => / [1-9]\d* +\(/.test(l));
//// scale a deployment
const now = new Date();
const replicas = now.getUTCHours() >= 8 && now.getUTCHours() < 20 ? 6 : 2;
return await tools.kubernetes.resources_scale({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop', namespace: 'shop', scale: replicas });
//// yaml by hand
const yaml = ['apiVersion: v1', 'kind: ConfigMap', 'metadata:', '  name: flags', 'data:',
  ...Object.entries(inputs.flags).map(([k, v]) => `  ${k}: ${JSON.stringify(String(v))}`)].join('\n');
return await tools.kubernetes.resources_create_or_update({ resource: yaml });
//// feature flags by environment
const flags = await tools.launchdarkly['list-feature-flags']({ request: { projectKey: 'web' } });
return flags.items.map((f) => [f.key, Object.entries(f.environments).filter(([, e]) => e.on).map(([k]) => k)]);
//// docs of a library
const { id } = await tools.context7['resolve-library-id']({ libraryName: 'zod', query: 'how to parse dates' });
const docs = await tools.context7['query-docs']({ libraryId: id, query: 'z.coerce.date' });
return docs.slice(0, 2000);
//// figma colours
const data = await tools.figma.get_figma_data({ fileKey: 'abc123', depth: 3 });
const colours = new Set(JSON.stringify(data).match(/#[0-9A-Fa-f]{6}\b/g));
return [...colours].sort();
//// eslint comments
const src: string = inputs.source;
/* eslint-disable no-console */
// @ts-ignore: the type is wider than it should be
// prettier-ignore
const m = src.match(/eslint-disable(?:-next-line)?\s+([\w/-]+)/g) ?? [];
return m.length;
//// code that generates code as text
const lines = ['export const routes = {'];
for (const r of inputs.routes) lines.push(`  ${JSON.stringify(r.name)}: (id: string) => \`${r.path}/\${id}\`,`);
lines.push('};', '');
await tools.filesystem.write_file({ path: '/srv/web/routes.ts', content: lines.join('\n') });
return lines.length;
//// sort imports of a file
const { content } = await tools.filesystem.read_text_file({ path: '/srv/web/main.ts' });
const [imports, rest] = [content.match(/^import .*$/gm) ?? [], content.replace(/^import .*\n?/gm, '')];
return imports.sort((a, b) => a.localeCompare(b)).join('\n') + '\n\n' + rest.trimStart();
//// semver
const parse = (v: string) => v.replace(/^v/, '').split('.').map(Number) as [number, number, number];
const tags = (await tools.github.list_tags({ owner: 'harbour', repo: 'web' })).map((t) => t.name).filter((n) => /^v?\d+\.\d+\.\d+$/.test(n));
tags.sort((a, b) => { const x = parse(a), y = parse(b); return y[0] - x[0] || y[1] - x[1] || y[2] - x[2]; });
return tags[0] ?? null;
//// cherry picks wanted
const wanted = new Set(inputs.shas as string[]);
const main = await tools.git.git_log({ maxCount: 500, branch: 'release' });
for (const c of main.commits) {
  const m = /\(cherry picked from commit ([0-9a-f]{40})\)/.exec(c.body ?? '');
  if (m) wanted.delete(m[1]);
}
return [...wanted];
//// dependency of a package
const text = (await tools.github.get_file_contents({ owner: 'harbour', repo: 'api', path: 'go.mod' })).content;
return [...text.matchAll(/^\s+(\S+) (v\S+)/gm)].map(([, mod, v]) => ({ mod, v }));
//// a class of its own
class Counter<T> {
  private map = new Map<T, number>();
  add(x: T) { this.map.set(x, this.get(x) + 1); return this; }
  get(x: T) { return this.map.get(x) ?? 0; }
  top(n: number) { return [...this.map].sort((a, b) => b[1] - a[1]).slice(0, n); }
}
const c = new Counter<string>();
for (const i of await tools.github.list_issues({ owner: 'harbour', repo: 'web' })) c.add(i.user.login);
return c.top(5);
//// own property
const o = inputs.options ?? {};
const out: Record<string, unknown> = {};
for (const k in o) if (Object.prototype.hasOwnProperty.call(o, k)) out[k.toUpperCase()] = o[k];
return out;
//// a queue with retries
async function retry<T>(f: () => Promise<T>, n = 3): Promise<T> {
  for (let i = 0; ; i++) {
    try { return await f(); } catch (e) {
      if (i >= n) throw e;
      await new Promise((r) => setTimeout(r, 200 * 2 ** i));
    }
  }
}
return await retry(() => tools.github.get_me({}));
//// security advisory text
const advisory = `Versions before 2.3 run commands that a user controls.
An attacker may send \`; rm -rf /\` in the name of a file. Upgrade to 2.3.`;
return await tools.github.add_issue_comment({ owner: 'harbour', repo: 'web', issue_number: 12, body: advisory });
//// install instructions in a comment of an issue
const help = ['If the cache is broken:', '', '```', 'rm -rf node_modules', 'npm ci', '```'].join('\n');
return await tools.github.add_issue_comment({ owner: 'harbour', repo: 'web', issue_number: 99, body: help });
//// shell script in a readme
const readme = `# Set up

    curl -LO https://example.com/tool.tar.gz
    tar xzf tool.tar.gz
    sudo install tool /usr/local/bin

Then run \`tool --help\`.`;
return await tools.github.create_or_update_file({ owner: 'harbour', repo: 'docs', path: 'SETUP.md', message: 'docs: how to set up', content: readme, branch: 'main' });
