// If the host gives a value the token that it has already, whoever guesses the value gets that token and knows.
const M = 'ESC' + 'APED:I34';
const right = ['CANARY', '7f3a@example.test'].join('-'), wrong = ['CANARY', '7f3b@example.test'].join('-');
const p: any = await tools.fixture.pii({});
const seen: string[] = [];
const look = async (guess: string) => {
  const parts: any[] = [];
  for (const a of [{ value: guess }, { value: [guess, p.email] }, { value: 'to ' + guess + ' and ' + p.email }, { [guess]: 1 }, { value: JSON.stringify({ guess }) }])
    try { parts.push(JSON.stringify(await tools.fixture.echo(a))); } catch (e: any) { parts.push('refused: ' + e?.message); }
  return parts;
};
const a = await look(right), b = await look(wrong);
for (let i = 0; i < a.length; i++) {
  const own = (s: string) => s.split(p.email).length;
  if (own(a[i]) !== own(b[i])) seen.push(M + ' echo ' + i);
  const shape = (s: string) => s.replace(/7f3[ab]/g, '').replace(/\d+/g, '#');
  if (shape(a[i]) !== shape(b[i])) seen.push(M + ' shape ' + i);
}
return seen.join('\n') || 'nothing to tell them apart';
