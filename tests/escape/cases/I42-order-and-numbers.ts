// Sorted by placeholder or by size, values must give away nothing: the same list in another order gets placeholders in that order.
const M = 'ESC' + 'APED:I42';
const p: any = await tools.fixture.pii({});
const made = (list: string[]) => tools.fixture.echo({ value: list }) as Promise<any>;
const low = ['aaron', 'low.example'].join('@'), high = ['zoe', 'high.example'].join('@'), long = ['z'.repeat(40), 'much.longer.example'].join('@');
const one = (await made([high, low, long])).value, two = (await made([long, p.email, high])).value;
const number = (s: string) => Number(String(s).replace(/\D/g, ''));
const out: string[] = [JSON.stringify(one), JSON.stringify(two)];
if (new Set(one).size !== one.length) out.push(M + ' two values, one placeholder');
if (one.every((s: string) => /^\[/.test(s)) && !(number(one[0]) < number(one[1]) && number(one[1]) < number(one[2]))) out.push(M + ' not in the order of sight');
if (two[1] !== p.email) out.push('a known value got another placeholder');
return out.join('\n');
