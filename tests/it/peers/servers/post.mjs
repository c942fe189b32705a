// A server that sends messages: each is a line of the file that is its argument. It answers with what it was given.
import { appendFileSync, existsSync } from 'node:fs';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'post', version: '1.0.0' });
const note = (tool, args) => appendFileSync(process.argv[2], JSON.stringify({ tool, ...args }) + '\n');

server.registerTool('send', {
    description: 'Send a message.',
    inputSchema: {
        to: z.string().email(), subject: z.string(), body: z.string().max(2000),
        meta: z.record(z.string(), z.any()).optional(),
    },
}, (args) => {
    note('send', args);
    return { content: [{ type: 'text', text: JSON.stringify({ sent: true, to: args.to, preview: args.body.slice(0, 200) }) }] };
});

server.registerTool('echo', { description: 'Gives back its argument.', inputSchema: { value: z.any() }, annotations: { readOnlyHint: true } },
    (args) => {
        note('echo', args);
        return { content: [{ type: 'text', text: JSON.stringify(args) }] };
    });

server.registerTool('refuse', { description: 'Fails, and says whom it was to reach.', inputSchema: { to: z.string() } }, (args) => {
    note('refuse', args);
    return { isError: true, content: [{ type: 'text', text: `no such mailbox: ${args.to}` }] };
});

// Answers when the file that is its second argument is there.
server.registerTool('wait', { description: 'Waits.', inputSchema: {}, annotations: { readOnlyHint: true } }, async () => {
    note('wait', {});
    while (!existsSync(process.argv[3])) await new Promise((r) => setTimeout(r, 20));
    return { content: [{ type: 'text', text: '{"waited":true}' }] };
});

await server.connect(new StdioServerTransport());
