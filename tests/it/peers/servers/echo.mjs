// The least server that the official SDK can be: for measuring what a call costs.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
server.registerTool('echo', { description: 'Says what it is told.', inputSchema: { i: z.number(), text: z.string() }, annotations: { readOnlyHint: true } },
    (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }));
await server.connect(new StdioServerTransport());
