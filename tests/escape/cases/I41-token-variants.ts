const p: any = await tools.fixture.pii({});
const out: string[] = [];
for (const t of [p.email, p.iban, p.name] as string[]) {
  const bare = t.replace(/^\[|\]$/g, '');
  const forms = [t.toLowerCase(), bare, bare.toLowerCase(), ' ' + t + ' ', '[' + t + ']', '\uff3b' + bare + '\uff3d', t.split('').join('\u200b'), t.split('').join('\u2060'),
    '[\u200b' + bare + ']', '\\[' + bare + '\\]', encodeURIComponent(t), t.replace('_', '\u005f'), t.replace('_', '-'), t.normalize('NFKD'), t.replace(/\d+/, '0$&'), t.replace(/\d+/, '+$&'),
    t.replace(/[A-Z]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)), t.replace('E', '\u0395').replace('A', '\u0391'), '&#91;' + bare + '&#93;', t + '\u0000', '\u202e' + t];
  for (const f of forms) for (const a of [{ value: f }, { [f]: f }, { value: JSON.stringify([f]) }])
    try { out.push(JSON.stringify(await tools.fixture.echo(a as any))); } catch (e: any) { out.push('refused: ' + e?.message); }
}
return out.join('\n').slice(0, 50000);
