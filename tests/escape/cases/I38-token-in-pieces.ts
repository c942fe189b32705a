// What was filled in for one call comes back cut, joined or wrapped.
const p: any = await tools.fixture.pii({});
const out: string[] = [];
for (const parts of [[p.email, ''], ['x', p.email, 'y'], [p.email, p.email], ['<', p.email, '>'], [p.name, p.email], p.email.split('')])
  try { out.push(JSON.stringify(await tools.fixture.join({ parts }))); } catch (e: any) { out.push('refused: ' + e?.message); }
return out.join('\n');
