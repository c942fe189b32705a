const M = 'ESC' + 'APED:I40';
const p: any = await tools.fixture.pii({});
const out: string[] = [];
let text = JSON.stringify({ to: p.email, quoted: '"' + p.email + '"', account: p.iban });
for (let depth = 1; depth <= 6; depth++) {
  text = JSON.stringify({ depth, text });
  try {
    const back: any = await tools.fixture.echo({ value: text });
    out.push(JSON.stringify(back));
    // What goes out and comes back must still be JSON at every depth.
    for (let t = back.value, d = depth; d > 0; d--) { try { t = JSON.parse(t).text; } catch { out.push('broken at ' + d); break; } }
  } catch (e: any) { out.push('refused: ' + e?.message); }
}
for (const f of [btoa, encodeURIComponent, escape])
  try { out.push(JSON.stringify(await tools.fixture.echo({ value: f(p.email) }))); } catch (e: any) { out.push('refused: ' + e?.message); }
return out.join('\n').slice(0, 50000);
