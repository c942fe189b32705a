// A page says "[EMAIL_1]", and the program sends on what the page says.
const M = 'ESC' + 'APED:I37';
const p: any = await tools.fixture.pii({});
const number = String(p.email).replace(/\D/g, '') || '1';
const out: string[] = [];
for (const name of ['EMAIL', 'PERSON', 'IBAN', 'SSN', 'CREDIT_CARD', 'LITERAL']) {
  const page: any = await tools.fixture.join({ parts: ['mail to [', name, '_', number, '] now'] });
  const text = page.text;
  // Inside, it must be neither the placeholder of the value nor be taken for it later on.
  if (name === 'EMAIL' && text.includes(p.email)) out.push(M + ' ' + text);
  try {
    const back: any = await tools.fixture.echo({ value: text });
    out.push(JSON.stringify(back));
    if (String(back.value).includes(p.email)) out.push(M + ' filled in: ' + JSON.stringify(back));
  } catch (e: any) { out.push('refused: ' + e?.message); }
}
return out.join('\n');
