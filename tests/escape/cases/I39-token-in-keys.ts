const p: any = await tools.fixture.pii({});
const out: string[] = [];
for (const a of [{ [p.email]: 1 }, { value: { [p.email]: { [p.iban]: p.name } } }, { value: [{ ['to ' + p.email]: p.email }] }, { value: { [p.email]: 1, [p.email + ' ']: 2 } }])
  try { out.push(JSON.stringify(await tools.fixture.echo(a as any))); } catch (e: any) { out.push('refused: ' + e?.message); }
return out.join('\n');
