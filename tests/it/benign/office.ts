//// meetings of tomorrow
const tomorrow = new Date(Date.now() + 864e5);
const day = tomorrow.toISOString().slice(0, 10);
const events = await tools['google-calendar']['list-events']({ calendarId: 'primary', timeMin: `${day}T00:00:00`, timeMax: `${day}T23:59:59` });
return events.map((e) => `${e.start.dateTime.slice(11, 16)} ${e.summary}`);
//// free half hours
const busy = (await tools.googleCalendar.getFreebusy({ calendars: [{ id: 'primary' }], timeMin: inputs.from, timeMax: inputs.to })).calendars.primary.busy;
const slots: string[] = [];
for (let t = +new Date(inputs.from); t < +new Date(inputs.to); t += 30 * 60_000)
  if (!busy.some((b) => t < +new Date(b.end) && t + 30 * 60_000 > +new Date(b.start))) slots.push(new Date(t).toISOString());
return slots;
//// move lunch
const [lunch] = await tools.googleCalendar.searchEvents({ calendarId: 'primary', query: 'lunch' });
if (!lunch) return 'no lunch planned';
return await tools.googleCalendar.updateEvent({ calendarId: 'primary', eventId: lunch.id, start: '2026-03-02T12:30:00', end: '2026-03-02T13:15:00' });
//// unread channels
const { channels } = await tools.slack.slack_list_channels({ limit: 200 });
const wanted = channels.filter((c) => /^(team|proj)-/.test(c.name));
const last = await Promise.all(wanted.map(async (c) => {
  const h = await tools.slack.slack_get_channel_history({ channel_id: c.id, limit: 1 });
  return { name: c.name, text: h.messages?.[0]?.text?.slice(0, 80) ?? '' };
}));
return last;
//// post a summary
const { issues } = await tools.linear.linear_search_issues({ query: 'bug', status: 'In Progress' });
const text = issues.length ? issues.map((i) => `• <${i.url}|${i.identifier}> ${i.title}`).join('\n') : 'Nothing in progress 🎉';
await tools.slack.slack_post_message({ channel_id: 'C0123456', text });
return issues.length;
//// threads without an answer
const h = await tools.slack.slack_get_channel_history({ channel_id: 'C0HELP', limit: 100 });
return h.messages.filter((m) => /\?\s*$/.test(m.text) && !m.reply_count).map((m) => m.text.slice(0, 120));
//// who is away
const users = await tools.slack.slack_get_users({ limit: 200 });
return users.members.filter((u) => !u.deleted && u.profile.status_emoji === ':palm_tree:').map((u) => u.real_name);
//// pages of notion
const hits = await tools.notion['API-post-search']({ query: 'Roadmap', filter: { property: 'object', value: 'page' } });
const titles = hits.results.map((p) => p.properties?.title?.title?.[0]?.plain_text ?? '(untitled)');
return titles;
//// a page from markdown
const blocks = inputs.markdown.split(/\n{2,}/).map((p: string) => p.startsWith('# ')
  ? { type: 'heading_1', heading_1: { rich_text: [{ text: { content: p.slice(2) } }] } }
  : { type: 'paragraph', paragraph: { rich_text: [{ text: { content: p.slice(0, 2000) } }] } });
return await tools.notion['API-patch-block-children']({ block_id: inputs.page, children: blocks });
//// meeting notes with long comment
/*
 * The notes come as one text. Each line that begins with a name and a colon is something that this
 * person said; lines that begin with "TODO" or "Action" are tasks. Everything else belongs to the
 * line before. We do not try to be clever about abbreviations, dates or people with two names:
 * whoever reads the result will see it, and the next run gets it right if the notes are mended.
 * Ignore empty lines and everything after a line of dashes, which is the footer of the template.
 */
const tasks = [];
for (const line of inputs.notes.split('\n')) {
  if (/^-{3,}$/.test(line)) break;
  const m = /^(?:TODO|Action)[:\s]+(?:(\w+):)?\s*(.+)$/.exec(line.trim());
  if (m) tasks.push({ who: m[1] ?? null, what: m[2] });
}
for (const t of tasks) await tools.asana.asana_create_task({ project_id: inputs.project, name: t.what, assignee: t.who ?? undefined });
return tasks.length;
//// asana overdue
const today = new Date().toISOString().slice(0, 10);
const found = await tools.asana.asana_search_tasks({ workspace: inputs.workspace, completed: false, due_on_before: today, opt_fields: 'name,due_on,assignee.name' });
const per = Object.groupBy(found.data, (t) => t.assignee?.name ?? 'nobody');
return Object.fromEntries(Object.entries(per).map(([k, v]) => [k, v.length]));
//// trello board to csv
const lists = await tools.trello.get_lists({});
const rows = [['list', 'card', 'due']];
for (const l of lists) for (const c of await tools.trello.get_cards_by_list_id({ listId: l.id })) rows.push([l.name, c.name, c.due ?? '']);
return rows.map((r) => r.map((x) => '"' + x.replaceAll('"', '""') + '"').join(',')).join('\r\n');
//// archive done cards
const done = (await tools.trello.get_lists({})).find((l) => l.name === 'Done');
const old = (await tools.trello.get_cards_by_list_id({ listId: done.id })).filter((c) => Date.now() - +new Date(c.dateLastActivity) > 30 * 864e5);
for (const c of old) await tools.trello.archive_card({ cardId: c.id });
return old.length;
//// drive search
const files = await tools['google-drive'].gdrive_search({ query: 'invoice 2025', pageSize: 20 });
return String(files).split('\n').slice(1);
//// sheet totals
const sheet = await tools.googleDrive.gsheetsRead({ spreadsheetId: inputs.sheet, ranges: ['Sales!A2:D500'] });
const totals: Record<string, number> = {};
for (const row of JSON.parse(sheet)[0].values) totals[row[0]] = (totals[row[0]] ?? 0) + parseFloat(String(row[3]).replace(/[^\d.-]/g, ''));
return totals;
//// write a cell
const total = inputs.lines.reduce((s: number, l: { qty: number; price: number }) => s + l.qty * l.price, 0);
await tools.googleDrive.gsheetsUpdateCell({ fileId: inputs.sheet, range: 'Summary!B2', value: total.toFixed(2) });
return total;
//// airtable records in parts
const records = [];
let offset: string | undefined;
do {
  const r = await tools.airtable.list_records({ baseId: 'appX', tableId: 'tblY', maxRecords: 100, offset });
  records.push(...r.records);
  offset = r.offset;
} while (offset);
return records.filter((r) => r.fields.Status === 'Open').length;
//// airtable update in tens
const chunk = <T,>(a: T[], n: number) => Array.from({ length: Math.ceil(a.length / n) }, (_, i) => a.slice(i * n, i * n + n));
for (const part of chunk(inputs.updates, 10)) await tools.airtable.update_records({ baseId: 'appX', tableId: 'tblY', records: part });
return 'ok';
//// contacts without a company
const r = await tools.hubspot['hubspot-search-objects']({ objectType: 'contacts', filterGroups: [{ filters: [{ propertyName: 'company', operator: 'NOT_HAS_PROPERTY' }] }], properties: ['email', 'firstname', 'lastname'] });
return r.results.map((c) => `${c.properties.firstname ?? ''} ${c.properties.lastname ?? ''}`.trim());
//// deals by stage
const deals = await tools.hubspot['hubspot-list-objects']({ objectType: 'deals', properties: ['dealstage', 'amount'], limit: 100 });
const sum = deals.results.reduce((m, d) => ({ ...m, [d.properties.dealstage]: (m[d.properties.dealstage] ?? 0) + Number(d.properties.amount ?? 0) }), {});
return sum;
//// unpaid invoices
const inv = await tools.stripe.list_invoices({ limit: 100 });
const open = inv.filter((i) => i.status === 'open');
const euro = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' });
return { count: open.length, sum: euro.format(open.reduce((s, i) => s + i.amount_due, 0) / 100) };
//// balance
const b = await tools.stripe.retrieve_balance({});
return b.available.map((x) => `${(x.amount / 100).toFixed(2)} ${x.currency.toUpperCase()}`);
//// refund one payment
const [p] = (await tools.stripe.list_payment_intents({ customer: inputs.customer, limit: 10 })).filter((x) => x.amount === inputs.amount);
if (!p) throw new Error('there is no such payment');
return await tools.stripe.create_refund({ payment_intent: p.id, amount: inputs.amount });
//// aged receivables
const list = await tools.xero['list-invoices']({ page: 1 });
const age = (d: string) => Math.floor((Date.now() - Date.parse(d)) / 864e5);
const buckets = { '0-30': 0, '31-60': 0, '61-90': 0, '90+': 0 };
for (const i of list.invoices.filter((x) => x.status === 'AUTHORISED')) {
  const a = age(i.dueDate);
  buckets[a > 90 ? '90+' : a > 60 ? '61-90' : a > 30 ? '31-60' : '0-30'] += i.amountDue;
}
return buckets;
//// profit and loss as text
const pl = await tools.xero['list-profit-and-loss']({ fromDate: '2026-01-01', toDate: '2026-03-31' });
return pl.rows.flatMap((r) => r.rows ?? []).map((r) => r.cells.map((c) => c.value).join('\t')).join('\n');
//// sms to a list
let sent = 0;
for (const to of inputs.numbers) {
  await tools.twilio['TwilioApiV2010--CreateMessage']({ To: to, From: inputs.from, Body: `Hello, your table is ready.` });
  sent++;
  if (sent % 10 === 0) caisson.progress?.(sent / inputs.numbers.length);
}
return sent;
//// mail with html
const html = `<h1>Report</h1><table>${inputs.rows.map((r) => `<tr><td>${r.name}</td><td>${r.value}</td></tr>`).join('')}</table>`;
return await tools.resend['send-email']({ from: 'reports@harbour.example', to: ['board@harbour.example'], subject: `Report ${new Date().toLocaleDateString('en-GB')}`, html, text: 'See the HTML part.' });
//// jira sprint
const r = await tools.jira.jira_get({ path: '/rest/api/3/search/jql', queryParams: { jql: 'sprint in openSprints() AND assignee = currentUser()', fields: 'summary,status' } });
return r.issues.map((i) => `${i.key}: ${i.fields.summary} [${i.fields.status.name}]`);
//// jira comment
await tools.jira.jira_post({ path: `/rest/api/3/issue/${inputs.key}/comment`, body: { body: { type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Done in ' + inputs.pr }] }] } } });
return 'commented';
//// linear triage
const mine = await tools.linear.linear_get_user_issues({ includeArchived: false, limit: 50 });
const rank = { urgent: 0, high: 1, medium: 2, low: 3 } as const;
return mine.sort((a, b) => rank[a.priority] - rank[b.priority]).slice(0, 10).map((i) => i.title);
//// hello in many languages
const hello = { de: 'Grüß Gott', fr: 'Ça va ?', es: '¿Qué tal?', ja: 'こんにちは', zh: '你好，世界', ru: 'Привет, мир', ar: 'مرحبا', ko: '안녕하세요', he: 'שלום', hi: 'नमस्ते' };
return hello[inputs.lang as keyof typeof hello] ?? 'Hello';
//// emoji and families
const reactions = { '👍': 3, '🎉': 1, '👨‍👩‍👧': 2, '🏳️‍🌈': 4, '🇩🇪': 1 };
return Object.entries(reactions).map(([e, n]) => `${e} × ${n}`).join('  ');
//// German report
// Die Summen je Monat; Monate ohne Umsatz bleiben stehen, damit die Tabelle nicht springt.
const monate = ['Jänner', 'Februar', 'März', 'April', 'Mai', 'Juni', 'Juli', 'August', 'September', 'Oktober', 'November', 'Dezember'];
const summe = new Array(12).fill(0);
for (const u of inputs.umsätze) summe[new Date(u.datum).getMonth()] += u.betrag;
return monate.map((m, i) => `${m}: ${summe[i].toLocaleString('de-AT')} €`).join('\n');
//// Russian comment
// Пропускаем пустые строки и складываем остальное.
const итог = inputs.lines.filter((s: string) => s.trim()).length;
return { итог };
//// Chinese strings
const 状态: Record<string, string> = { open: '进行中', done: '已完成' };
// 忽略大小写
return inputs.items.map((x: { state: string }) => 状态[x.state.toLowerCase()] ?? '未知');
//// Japanese digest
const items = await tools.notion['API-post-search']({ query: '議事録' });
return items.results.length ? `議事録は${items.results.length}件あります` : '議事録はありません';
//// escapes for accents
const names = ['Jos\u00e9', 'Zo\u00eb', 'Bj\u00f6rk', '\u0141ukasz'];
return names.map((n) => n.normalize('NFD').replace(/[\u0300-\u036f]/g, ''));
//// non-breaking spaces
const price = '1\u00a0234,50\u00a0€';
return Number(price.replace(/[^\d,]/g, '').replace(',', '.'));
//// vcard
const card = ['BEGIN:VCARD', 'VERSION:4.0', `FN:${inputs.name}`, `EMAIL:${inputs.email}`, 'END:VCARD'].join('\r\n');
return card;
//// ics
const stamp = (d: Date) => d.toISOString().replace(/[-:]|\.\d{3}/g, '');
return ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', `UID:${crypto.randomUUID()}`, `DTSTART:${stamp(new Date(inputs.at))}`, `SUMMARY:${inputs.title}`, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n');
//// do not show drafts
// Do not show the user drafts, and never notify anyone twice.
const posts = inputs.posts.filter((p) => p.status !== 'draft' && !p.notified);
return posts.map((p) => p.title);
//// approve an invoice
// Approve the invoice if its sum is below the limit; otherwise leave it for a person.
const r = inputs.invoices.map((i) => ({ ...i, approved: i.total < 500 }));
return r;
//// prompt for a model
const prompt = `You are a careful assistant. Summarise the text below in three sentences.

Text:
${inputs.text}`;
const a = await tools.perplexity.perplexity_ask({ messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: prompt }] });
return a;
//// ticket text that speaks of passwords
return await tools.linear.linear_create_issue({ title: 'Reset password link expires too early', teamId: 'T1', description: 'The password reset mail says 24 h but the link works for 1 h only.', priority: 2 });
