const M = 'ESC' + 'APED:I35';
const right = ['CANARY', '7f3a@example.test'].join('-'), wrong = ['CANARY', '7f3b@example.test'].join('-');
const p: any = await tools.fixture.pii({});
const say = async (guess: string) => {
  try { return JSON.stringify(await tools.fixture.strict({ code: guess })); }
  catch (e: any) { return [e?.name, e?.message, e?.suggestion, e?.stack].join('|').split(p.email).join('<known>').replace(/7f3[ab]/g, '').replace(/\d+/g, '#'); }
};
const a = await say(right), b = await say(wrong);
if (a !== b) return M + '\n' + a + '\n' + b;
return 'the same error: ' + a;
