// Tells what is done to it: one line in the file PROBE_LOG for each start, call, cancellation and end. Its tools are
// what a test needs to see a client's manners.
//
//     node probe.mjs [--stubborn] [anything, so that the process can be found]
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const note = (...words) => process.env.PROBE_LOG && appendFileSync(process.env.PROBE_LOG, words.join(' ') + '\n');
const server = new McpServer({ name: 'probe', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
const json = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

if (process.argv.includes('--stubborn')) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => note('ignored', signal));
    process.stdout.on('error', () => {});
    setInterval(() => {}, 1000);
}

let underWay = 0, most = 0;
server.registerTool('wait', {
    description: 'Waits so many milliseconds, or until it is cancelled.',
    inputSchema: { ms: z.number(), label: z.string().optional() }, annotations: { readOnlyHint: true },
}, async ({ ms, label = '' }, { signal }) => {
    const from = Date.now();
    most = Math.max(most, ++underWay);
    note('call', label);
    const cancelled = await new Promise((resolve) => {
        setTimeout(() => resolve(false), ms);
        signal.addEventListener('abort', () => resolve(true));
    });
    underWay--;
    note(cancelled ? 'cancelled' : 'done', label);
    return json({ from, to: Date.now(), most });
});

server.registerTool('grow', {
    description: 'From now on there is one more tool, with this name.', inputSchema: { name: z.string() }, annotations: { destructiveHint: false },
}, ({ name }) => {
    server.registerTool(name, { description: `The tool ${name}, which was not there before.`, inputSchema: {} }, () => json(name));
    return json(true);
});

server.registerTool('shape', {
    description: 'Answers the JSON that it is given, as text.', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true },
}, ({ text }) => ({ content: [{ type: 'text', text }] }));

server.registerTool('media', {
    description: 'Answers one block of every kind.', inputSchema: {}, annotations: { readOnlyHint: true },
}, () => ({ content: [
    { type: 'text', text: 'all kinds' },
    { type: 'audio', data: Buffer.from('a sound').toString('base64'), mimeType: 'audio/wav' },
    { type: 'image', data: Buffer.from('a picture').toString('base64'), mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///note.txt', mimeType: 'text/plain', text: 'a note' } },
    { type: 'resource_link', uri: 'file:///far.bin', name: 'far.bin', mimeType: 'application/octet-stream' },
] }));

server.registerTool('take', {
    description: 'Says what is in the blocks that it is given.', inputSchema: { blocks: z.array(z.any()) }, annotations: { readOnlyHint: true },
}, ({ blocks }) => json(blocks.map((b) => [b.type, b.mimeType ?? b.resource?.mimeType ?? '',
    b.data ? Buffer.from(b.data, 'base64').toString() : b.text ?? b.resource?.text ?? b.uri])));

server.registerTool('crash', { description: 'Ends this server without an answer.', inputSchema: {} }, () => process.exit(3));

note('start', process.pid);
process.on('exit', () => note('exit', process.pid));
await server.connect(new StdioServerTransport());
