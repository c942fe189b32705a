//// search the web
const r = await tools['brave-search'].brave_web_search({ query: 'landlock abi 7', count: 10 });
return r.web.results.map((x) => ({ title: x.title, url: x.url }));
//// several searches at once
const topics = ['heat pumps', 'solar panels', 'home batteries'];
const all = await Promise.all(topics.map((q) => tools.tavily.tavily_search({ query: `${q} prices 2026`, max_results: 5 })));
return topics.map((t, i) => ({ topic: t, best: all[i].results[0]?.title }));
//// extract a page
const page = await tools.firecrawl.firecrawl_scrape({ url: 'https://example.com/pricing', formats: ['markdown'] });
const prices = [...page.markdown.matchAll(/(?:€|\$)\s?(\d+(?:\.\d\d)?)/g)].map((m) => Number(m[1]));
return { min: Math.min(...prices), max: Math.max(...prices) };
//// crawl and wait
const { id } = await tools.firecrawl.firecrawl_crawl({ url: 'https://docs.example.com', limit: 20 });
for (let i = 0; i < 30; i++) {
  const s = await tools.firecrawl.firecrawl_check_crawl_status({ id });
  if (s.status === 'completed') return s.data.map((d) => d.metadata.title);
  await new Promise((r) => setTimeout(r, 2000));
}
throw new Error('it takes too long');
//// exa and summary
const hits = await tools.exa.web_search_exa({ query: 'site reliability error budgets', numResults: 5 });
return hits.results.map((h, i) => `${i + 1}. ${h.title}\n   ${h.text.slice(0, 160).replaceAll('\n', ' ')}…`).join('\n');
//// news of a company
const news = await tools.braveSearch.braveNewsSearch({ query: inputs.company, freshness: 'pw' });
const perSource = news.results.reduce((m, n) => m.set(n.meta_url.hostname, (m.get(n.meta_url.hostname) ?? 0) + 1), new Map());
return [...perSource].sort((a, b) => b[1] - a[1]);
//// distance of two places
const m = await tools['google-maps'].maps_distance_matrix({ origins: ['Wien'], destinations: ['Graz', 'Linz', 'Salzburg'], mode: 'driving' });
return m.results[0].elements.map((e, i) => `${['Graz', 'Linz', 'Salzburg'][i]}: ${e.distance.text}`);
//// haversine
const rad = (d: number) => d * Math.PI / 180;
const dist = (a, b) => 2 * 6371 * Math.asin(Math.sqrt(Math.sin(rad(b.lat - a.lat) / 2) ** 2 + Math.cos(rad(a.lat)) * Math.cos(rad(b.lat)) * Math.sin(rad(b.lng - a.lng) / 2) ** 2));
const g = await Promise.all(inputs.cities.map((address: string) => tools.googleMaps.mapsGeocode({ address })));
return dist(g[0].location, g[1].location).toFixed(1) + ' km';
//// elevation profile
const e = await tools.googleMaps.mapsElevation({ locations: inputs.track });
let up = 0;
e.results.forEach((p, i) => { if (i && p.elevation > e.results[i - 1].elevation) up += p.elevation - e.results[i - 1].elevation; });
return Math.round(up);
//// airbnb
const s = await tools.airbnb.airbnb_search({ location: 'Lisboa', checkin: '2026-05-01', checkout: '2026-05-05', adults: 2 });
return s.searchResults.slice(0, 5).map((l) => l.url);
//// a page with a browser
await tools.playwright.browser_navigate({ url: 'https://example.com' });
const snap = await tools.playwright.browser_snapshot({});
return String(snap).split('\n').filter((l) => l.includes('link')).length;
//// fill a form
await tools.puppeteer.puppeteer_navigate({ url: 'https://example.com/search' });
await tools.puppeteer.puppeteer_fill({ selector: 'input[name=q]', value: inputs.q });
await tools.puppeteer.puppeteer_click({ selector: 'button[type=submit]' });
return await tools.puppeteer.puppeteer_screenshot({ name: 'result' });
//// script in a page
return await tools.puppeteer.puppeteer_evaluate({ script: 'document.querySelectorAll("a").length' });
//// titles by script
return await tools.playwright.browser_evaluate({ function: '() => [...document.querySelectorAll("h2")].map((h) => h.textContent)' });
//// knowledge graph
await tools.memory.create_entities({ entities: [{ name: 'Harbour', entityType: 'project', observations: ['started in 2024', 'written in C'] }] });
await tools.memory.create_relations({ relations: [{ from: 'Ada', to: 'Harbour', relationType: 'maintains' }] });
return await tools.memory.search_nodes({ query: 'Harbour' });
//// forget an observation
const g = await tools.memory.read_graph({});
const old = g.entities.filter((e) => e.observations.some((o) => /2019/.test(o)));
for (const e of old) await tools.memory.delete_observations({ deletions: [{ entityName: e.name, observations: e.observations.filter((o) => /2019/.test(o)) }] });
return old.length;
//// questions to a model
const answers = [];
for (const q of inputs.questions) answers.push(await tools.perplexity.perplexity_ask({ messages: [{ role: 'user', content: q }] }));
return answers.map((a) => a.slice(0, 300));
//// papers
const p = await tools.firecrawl.firecrawl_research_search_papers({ query: 'prompt injection defences' });
return p.results?.map((x) => `${x.title} (${x.year})`);
//// race of two sources
const first = await Promise.any([tools.duckduckgo.duckduckgo_web_search({ query: inputs.q }), tools.exa.web_search_exa({ query: inputs.q })]);
return String(first).slice(0, 500);
//// with a timeout of its own
const timeout = (ms: number) => new Promise<never>((_, no) => setTimeout(() => no(new Error('too slow')), ms));
return await Promise.race([tools.tavily.tavily_search({ query: inputs.q }), timeout(5000)]);
//// settled
const results = await Promise.allSettled(inputs.urls.map((url: string) => tools.firecrawl.firecrawl_scrape({ url })));
return results.map((r, i) => ({ url: inputs.urls[i], ok: r.status === 'fulfilled', why: r.status === 'rejected' ? r.reason.message : undefined }));
//// at most four at once
async function pool<T, R>(items: T[], n: number, f: (x: T) => Promise<R>) {
  const out: R[] = []; let i = 0;
  await Promise.all(Array.from({ length: n }, async () => { while (i < items.length) { const k = i++; out[k] = await f(items[k]); } }));
  return out;
}
return await pool(inputs.urls as string[], 4, (url) => tools.firecrawl.firecrawl_map({ url }));
//// find tools first
const found = await searchTools('create an issue');
return found.map((t) => t.name);
//// tools of one server by destructuring
const { list_issues, get_me } = tools.github;
const me = await get_me({});
const mine = await list_issues({ owner: 'harbour', repo: 'web', assignee: me.login });
return mine.length;
//// alias of a server
const gh = tools.github;
return (await gh.list_commits({ owner: 'harbour', repo: 'web' })).slice(0, 3).map((c) => c.sha.slice(0, 8));
//// arrow program
async () => {
  const r = await tools.slack.slack_list_channels({});
  return r.channels.length;
}
//// default export
export default async function main() {
  const e = await tools.googleCalendar.listEvents({ calendarId: 'primary' });
  return e.length;
}
//// trailing expression
const xs = [3, 1, 2];
xs.sort().join('-')
//// fenced
```ts
const r = await tools.everything.echo({ message: 'hi' });
return r;
```
//// print only
console.log('Hello, world');
//// nothing but a sum
return inputs.a + inputs.b;
//// waiting for a job
let status = 'queued';
while (status !== 'done' && status !== 'failed') {
  await new Promise((r) => setTimeout(r, 1000));
  status = (await tools.github.actions_get({ owner: 'harbour', repo: 'web', method: 'get_workflow_run', resource_id: inputs.run })).status;
}
return status;
//// n8n templates
const t = await tools.n8n.search_templates({ query: 'slack digest', limit: 5 });
return t.templates.map((x) => x.name);
//// weather words
const c: number = inputs.celsius;
return c < 0 ? 'frost' : c < 15 ? 'cool' : c < 25 ? 'mild' : 'hot';
//// retry-after
try {
  return await tools.github.search_users({ query: 'location:vienna' });
} catch (e: any) {
  if (e.retryable) { await new Promise((r) => setTimeout(r, 3000)); return await tools.github.search_users({ query: 'location:vienna' }); }
  throw e;
}
//// errors as values
const ok = [], bad = [];
for (const id of inputs.ids) try { ok.push(await tools.asana.asana_get_task({ task_id: id })); } catch (e) { bad.push({ id, why: (e as Error).message }); }
return { ok: ok.length, bad };
//// label colours
const palette = ['#d73a4a', '#0075ca', '#cfd3d7', '#a2eeef', '#7057ff', '#008672', '#e4e669', '#d876e3'];
return inputs.labels.map((l: string, i: number) => ({ name: l, color: palette[i % palette.length].slice(1) }));
//// uuid list
const ids = ['7c9e6679-7425-40de-944b-e07fc1f90ae7', '550e8400-e29b-41d4-a716-446655440000', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'];
return (await Promise.all(ids.map((id) => tools.airtable.get_record({ baseId: 'appX', tableId: 'tblY', recordId: id })))).map((r) => r.fields.Name);
//// shas in a list
const shas = ['9fceb02d0ae598e95dc970b74767f19372d61af8', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'];
for (const sha of shas) console.log((await tools.github.get_commit({ owner: 'harbour', repo: 'web', sha })).commit.message);
//// svg
const bars = inputs.values.map((v: number, i: number) => `<rect x="${i * 12}" y="${100 - v}" width="10" height="${v}" fill="teal"/>`).join('');
return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${inputs.values.length * 12} 100">${bars}</svg>`;
//// small picture as data url
const dot = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
return `<img src="${dot}" alt="">`;
//// lorem
const lorem = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore eu fugiat nulla pariatur.';
return lorem.split(' ').length;
//// explain what sudo does
const answers: Record<string, string> = {
  sudo: 'runs a command as another user', 'chmod 644 file': 'the owner may write, all others read',
  'kill -9 PID': 'ends a process at once', 'rm file': 'removes a file', 'dd': 'copies blocks of data', 'curl URL': 'loads a page',
};
return answers[inputs.command] ?? 'I do not know that one';
//// quiz about hacking
const quiz = [{ q: 'What does an SQL injection do?', a: "It changes a query, as with ' OR 1=1 --" }, { q: 'What is a fork bomb?', a: 'A program that starts itself again and again' }];
return quiz[inputs.n].q;
//// bypass of a cache
// Bypass the cache if the caller wants fresh figures; otherwise skip the previous results.
const fresh = inputs.fresh === true;
return await tools.datadog.get_monitors({ groupStates: ['alert'], ...(fresh ? { t: Date.now() } : {}) });
//// ignore the first line
// Ignore the header, and every line above the first empty one.
const lines = inputs.text.split('\n');
return lines.slice(lines.indexOf('') + 1);
//// override a setting
// The settings of the user override those of the system; rules of a team come last.
return { ...inputs.system, ...inputs.user, ...inputs.team };
//// system messages left out
// skip system messages: they are written by the bot
const h = await tools.slack.slack_get_channel_history({ channel_id: inputs.channel });
return h.messages.filter((m) => m.subtype !== 'bot_message' && !/^\[system\]/i.test(m.text));
