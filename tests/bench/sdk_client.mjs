// The official SDK's own client: what the same calls cost without Caisson. Run it from tests/it/peers, where its packages are.
//
//     node sdk_client.mjs SERVER.mjs ROUNDS     prints  sequential MS, parallel MS  (medians for 100 calls)
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(process.cwd() + '/'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');

const [path, rounds] = process.argv.slice(2);
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [path] }));
const call = async (i) => JSON.parse((await client.callTool({ name: 'echo', arguments: { i, text: 'some text' } })).content[0].text).i;
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const sequential = [], parallel = [];
for (let round = 0; round < +rounds; round++) {
    let start = performance.now();
    for (let i = 0; i < 100; i++) if ((await call(i)) !== i) throw new Error('wrong');
    sequential.push(performance.now() - start);
    start = performance.now();
    await Promise.all(Array.from({ length: 100 }, (_, i) => call(i)));
    parallel.push(performance.now() - start);
}
console.log(`sequential ${median(sequential).toFixed(2)}\nparallel ${median(parallel).toFixed(2)}`);
await client.close();
