//// open pull requests into slack
const prs = await tools.github.list_pull_requests({ owner: 'harbour', repo: 'web', state: 'open' });
const text = prs.map((p) => `• #${p.number} ${p.title} (${p.user.login})`).join('\n') || 'none';
await tools.slack.slack_post_message({ channel_id: 'C0TEAM', text });
return prs.length;
//// sentry issues become tickets
const issues = await tools.sentry.search_issues({ organizationSlug: 'harbour', naturalLanguageQuery: 'new errors today' });
for (const i of issues.slice(0, 5)) await tools.linear.linear_create_issue({ title: i.title, teamId: 'T1', description: i.permalink });
return 'ok';
//// calendar into a message
const e = await tools.googleCalendar.listEvents({ calendarId: 'primary', timeMin: inputs.from, timeMax: inputs.to });
await tools.slack.slack_post_message({ channel_id: inputs.me, text: e.map((x) => `${x.start.dateTime} ${x.summary}`).join('\n') });
return e.length;
//// search results into a page
const r = await tools.braveSearch.braveWebSearch({ query: inputs.topic });
const children = r.web.results.slice(0, 5).map((x) => ({ type: 'bulleted_list_item', bulleted_list_item: { rich_text: [{ text: { content: x.title, link: { url: x.url } } }] } }));
return await tools.notion['API-patch-block-children']({ block_id: inputs.page, children });
//// customers of a sheet into the crm
const sheet = JSON.parse(await tools.googleDrive.gsheetsRead({ spreadsheetId: inputs.sheet }));
const inputsOf = sheet[0].values.slice(1).map(([firstname, lastname, email]) => ({ properties: { firstname, lastname, email } }));
return await tools.hubspot['hubspot-batch-create-objects']({ objectType: 'contacts', inputs: inputsOf });
//// invoices into a table
const inv = await tools.stripe.list_invoices({ limit: 50 });
for (const i of inv) await tools.airtable.create_record({ baseId: 'appX', tableId: 'tblInvoices', fields: { Number: i.number, Total: i.total / 100, Due: i.due_date } });
return inv.length;
//// orders of a database into a sheet
const rows = await tools.postgres.query({ sql: 'SELECT day, sum(total) AS total FROM orders GROUP BY day ORDER BY day DESC LIMIT 7' });
for (const [i, r] of rows.entries()) await tools.googleDrive.gsheetsUpdateCell({ fileId: inputs.sheet, range: `A${i + 2}`, value: String(r.total) });
return rows.length;
//// file into an issue
const { content } = await tools.filesystem.read_text_file({ path: '/srv/web/bug.md' });
const [title, ...body] = content.split('\n');
return await tools.github.create_issue({ owner: 'harbour', repo: 'web', title: title.replace(/^# /, ''), body: body.join('\n') });
//// readme into files
const f = await tools.github.get_file_contents({ owner: 'harbour', repo: 'web', path: 'README.md' });
await tools.filesystem.write_file({ path: '/srv/docs/web.md', content: atob(f.content) });
return true;
//// jira into notion
const j = await tools.jira.jira_get({ path: '/rest/api/3/search/jql', queryParams: { jql: 'project = WEB AND statusCategory = Done' } });
return await tools.notion['API-post-page']({ parent: { page_id: inputs.page }, properties: { title: [{ text: { content: `Done: ${j.issues.length}` } }] } });
//// asana into the calendar
const tasks = await tools.asana.asana_get_my_tasks({ workspace: inputs.workspace });
for (const t of tasks.data.filter((x) => x.due_on)) await tools.googleCalendar.createEvent({ calendarId: 'primary', summary: t.name, start: t.due_on + 'T09:00:00', end: t.due_on + 'T09:30:00' });
return tasks.data.length;
//// logs into a note
const logs = await tools.datadog.get_logs({ query: 'status:error', from: inputs.from, to: inputs.to });
await tools.memory.add_observations({ observations: [{ entityName: 'incident', contents: logs.logs.slice(0, 3).map((l) => l.message) }] });
return logs.logs.length;
//// flags of pull requests
const flags = await tools.launchdarkly['list-feature-flags']({ request: { projectKey: 'web' } });
const code = await tools.github.search_code({ query: 'useFlag repo:harbour/web' });
const used = new Set(code.items.flatMap((i) => i.text_matches?.flatMap((m) => m.fragment.match(/useFlag\('([\w-]+)'/)?.[1] ?? []) ?? []));
return flags.items.map((f) => f.key).filter((k) => !used.has(k));
//// places into trello
const p = await tools.googleMaps.mapsSearchPlaces({ query: 'venue for 80 people in Graz' });
for (const x of p.places.slice(0, 5)) await tools.trello.add_card_to_list({ listId: inputs.list, name: x.name, description: x.formatted_address });
return 'added';
//// papers into the graph
const papers = await tools.firecrawl.firecrawl_research_search_papers({ query: inputs.topic });
await tools.memory.create_entities({ entities: papers.results.map((x) => ({ name: x.title, entityType: 'paper', observations: [x.abstract.slice(0, 300)] })) });
return papers.results.length;
//// commits into a report and a mail
const c = await tools.github.list_commits({ owner: 'harbour', repo: 'web' });
const html = '<ul>' + c.slice(0, 10).map((x) => `<li>${x.commit.message.split('\n')[0]}</li>`).join('') + '</ul>';
return await tools.resend['send-email']({ from: 'ci@harbour.example', to: ['team@harbour.example'], subject: 'This week', html });
//// pods into a channel
const pods = await tools.kubernetes.pods_list({});
await tools.slack.slack_post_message({ channel_id: 'C0OPS', text: '```' + String(pods).slice(0, 3000) + '```' });
return 'posted';
//// fact sheet from two sources
const [a, b] = await Promise.all([tools.exa.web_search_exa({ query: inputs.company }), tools.tavily.tavily_search({ query: inputs.company + ' revenue' })]);
return { titles: a.results.map((x) => x.title), answer: b.answer };
//// balance into a message
const b = await tools.stripe.retrieve_balance({});
await tools.slack.slack_post_message({ channel_id: 'C0FIN', text: `Available: ${b.available.map((x) => x.amount / 100 + ' ' + x.currency).join(', ')}` });
return 'posted';
//// deals into a sheet
const d = await tools.hubspot['hubspot-list-objects']({ objectType: 'deals', properties: ['dealname', 'amount'] });
for (const [i, x] of d.results.entries()) await tools.googleDrive.gsheetsUpdateCell({ fileId: inputs.sheet, range: `B${i + 2}`, value: x.properties.amount });
return d.results.length;
//// mongo into postgres
const docs = await tools.mongodb.find({ database: 'app', collection: 'users', filter: {}, limit: 100 });
for (const u of docs) await tools.postgres.query({ sql: 'INSERT INTO users(id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING', params: [u._id, u.name] });
return docs.length;
//// design colours into code
const data = await tools.figma.get_figma_data({ fileKey: inputs.key });
const css = [...new Set(JSON.stringify(data).match(/#[0-9a-f]{6}/gi))].map((c, i) => `  --c${i}: ${c};`).join('\n');
return await tools.github.create_or_update_file({ owner: 'harbour', repo: 'web', path: 'colours.css', branch: 'main', message: 'style: colours of the design', content: `:root {\n${css}\n}\n` });
//// tests that fail into an issue
const t = await tools.circleci.get_job_test_results({ projectSlug: 'gh/harbour/web', branch: 'main' });
const failed = String(t).split('\n').filter((l) => /FAIL/.test(l));
if (failed.length) await tools.github.create_issue({ owner: 'harbour', repo: 'web', title: `${failed.length} tests fail`, body: failed.join('\n') });
return failed.length;
//// weather of a page into a text message
const w = await tools.firecrawl.firecrawl_scrape({ url: 'https://weather.example/graz', formats: ['markdown'] });
const line = w.markdown.split('\n').find((l) => /today/i.test(l)) ?? 'no forecast';
return await tools.twilio['TwilioApiV2010--CreateMessage']({ To: inputs.to, From: inputs.from, Body: line });
//// duplicates between two trackers
const [gh, li] = await Promise.all([tools.github.list_issues({ owner: 'harbour', repo: 'web' }), tools.linear.linear_search_issues({ query: '' })]);
const titles = new Set(li.issues.map((x) => x.title.toLowerCase()));
return gh.filter((x) => titles.has(x.title.toLowerCase())).map((x) => x.number);
//// objects of a bucket into an index
const o = await tools.gcpStorage.listObjects({ bucket_name: 'docs' });
return await tools.pinecone['upsert-records']({ name: 'docs', namespace: 'bucket', records: o.map((x) => ({ _id: x.name, chunk_text: x.name })) });
//// meeting into tasks
const [m] = await tools.googleCalendar.searchEvents({ calendarId: 'primary', query: 'retro' });
for (const line of (m?.description ?? '').split('\n').filter((l) => l.startsWith('- '))) await tools.asana.asana_create_task({ project_id: inputs.project, name: line.slice(2) });
return m?.summary;
//// prices of a page into a table
const page = await tools.exa.web_fetch_exa({ urls: [inputs.url] });
const price = Number(/€\s?(\d+)/.exec(page.results[0].text)?.[1] ?? NaN);
return await tools.airtable.create_record({ baseId: 'appX', tableId: 'tblPrices', fields: { URL: inputs.url, Price: price, At: new Date().toISOString() } });
//// thread into a ticket
const t = await tools.slack.slack_get_thread_replies({ channel_id: inputs.channel, thread_ts: inputs.ts });
return await tools.jira.jira_post({ path: '/rest/api/3/issue', body: { fields: { project: { key: 'SUP' }, issuetype: { name: 'Task' }, summary: t.messages[0].text.slice(0, 100) } } });
//// contacts into a campaign
const c = await tools.hubspot['hubspot-search-objects']({ objectType: 'contacts', query: 'newsletter', properties: ['email'] });
for (const x of c.results) await tools.resend['create-contact']({ email: x.properties.email, audienceId: inputs.audience });
return c.results.length;
