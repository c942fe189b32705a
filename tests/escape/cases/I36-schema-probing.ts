// The schema of `strict` has a pattern. Values of any length and alphabet must be answered alike before the call is made.
const M = 'ESC' + 'APED:I36';
const p: any = await tools.fixture.pii({});
const answers = new Set<string>();
for (const t of [p.name, p.email, p.iban])
  for (const a of [{ code: t }, { code: t, extra: 1 }, { code: [t] }, {}]) {
    try { answers.add(JSON.stringify(a).replace(t, 'T') + ' -> ' + JSON.stringify(await tools.fixture.strict(a))); }
    catch (e: any) { answers.add(JSON.stringify(a).replace(t, 'T') + ' -> ' + String(e?.message).split(t).join('T')); }
  }
// IBANs and names may be sent; whatever is said has one form for each shape of the argument.
return answers.size > 4 + 2 ? M + '\n' + [...answers].join('\n') : [...answers].join('\n');
