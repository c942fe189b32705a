// A server that knows people: the file that is its argument holds them. It also says things about them where it should not.
import { readFileSync } from 'node:fs';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const { customers, orders, secret } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const first = customers[0];
const server = new McpServer({ name: 'crm', version: '1.0.0' });
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

server.registerTool('list_customers', { description: 'All customers.', inputSchema: {}, annotations: { readOnlyHint: true } },
    () => text(customers));

server.registerTool('list_orders', {
    description: 'Orders, each with the address of its customer.', inputSchema: {}, annotations: { readOnlyHint: true },
    outputSchema: { orders: z.array(z.object({ number: z.number(), customer_email: z.string(), total: z.number() })) },
}, () => ({ ...text({ orders }), structuredContent: { orders } }));

server.registerTool('get_customer', {
    description: 'One customer, by number.', inputSchema: { id: z.number().int() }, annotations: { readOnlyHint: true },
}, ({ id }) => text(customers.find((c) => c.id === id) ?? null));

server.registerTool('settings', { description: 'How it is set up.', inputSchema: {}, annotations: { readOnlyHint: true } },
    () => text({ api_key: secret, region: 'eu' }));

server.registerTool('break', { description: 'Fails, and says for whom.', inputSchema: {} }, () => ({
    isError: true, content: [{ type: 'text', text: `cannot charge ${first.card_number} of ${first.email}: ${first.phone} does not answer` }] }));

process.stderr.write(`crm: ${customers.length} customers, the first is ${first.email}\n`);
await server.connect(new StdioServerTransport());
