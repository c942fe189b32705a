// What a gateway without a zygote does: a fresh jailed process per program, and a bridge to a warm MCP server over its pipes.
//
//     node bridged.mjs SERVER.mjs ROUNDS COMMAND ARGS...     prints the median milliseconds, the program's last line, and the median
//                                                            milliseconds that the server alone takes for the same call
//
// The program asks with one line {call, arguments} on stdout, gets the tool's text on stdin, and prints its result.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(process.cwd() + '/'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');

const [server, rounds, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));

let wish;
const once = () =>
    new Promise((resolve, reject) => {
        const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        let out = '', asked = false;
        child.stdout.setEncoding('utf8').on('data', async (part) => {
            out += part;
            const end = out.indexOf('\n');
            if (asked || end < 0) return;
            asked = true;
            wish = JSON.parse(out.slice(0, end));
            const answer = await client.callTool({ name: wish.call, arguments: wish.arguments });
            child.stdin.end(answer.content[0].text);
        });
        child.on('close', (status) => (status === 0 ? resolve(out.trim().split('\n').pop()) : reject(new Error(`status ${status}: ${out}`))));
    });

await once();
const times = [];
let last;
for (let i = 0; i < +rounds; i++) {
    const start = performance.now();
    last = await once();
    times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
console.log(times[times.length >> 1].toFixed(2));
console.log(last);
await client.close();

// The server alone: from the request's last byte to the answer's, with nobody parsing it.
const alone = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
let arrived;
alone.stdout.on('data', (part) => part[part.length - 1] === 10 && arrived());
const ask = (message) => new Promise((resolve) => {
    arrived = resolve;
    alone.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) + '\n');
});
await ask({ method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } });
alone.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
const own = [];
for (let i = 0; i <= +rounds; i++) {
    const start = performance.now();
    await ask({ method: 'tools/call', params: { name: wish.call, arguments: wish.arguments } });
    if (i) own.push(performance.now() - start);
}
alone.stdin.end();
own.sort((a, b) => a - b);
console.log(own[own.length >> 1].toFixed(2));
