// Behaves like Slack's MCP server. `SLACK_DIES=1`: it ends at its first call, as a server does that crashed.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

import { channels, messages, people } from './data.mjs';

const server = new McpServer({ name: 'slack', version: '1.4.0' }, { instructions: 'Channels, messages and people of the workspace.' });
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const alive = (handler) => (args) => {
    if (process.env.SLACK_DIES) process.exit(3);
    return handler(args);
};

server.registerTool('slack_list_channels', {
    description: 'List public channels of the workspace.', inputSchema: { limit: z.number().int().optional() }, annotations: { readOnlyHint: true },
}, alive(({ limit = 100 }) => text({ ok: true, channels: channels.slice(0, limit) })));

server.registerTool('slack_get_channel_history', {
    description: 'Get recent messages of a channel.', inputSchema: { channel_id: z.string().describe('Id of the channel, like C0100'), limit: z.number().int().max(200).optional() }, annotations: { readOnlyHint: true },
}, alive(({ channel_id, limit = 10 }) => {
    const list = messages[channel_id];
    if (!list) return { content: [{ type: 'text', text: 'channel_not_found' }], isError: true };
    return text({ ok: true, messages: list.slice(0, limit), has_more: list.length > limit });
}));

server.registerTool('slack_post_message', {
    description: 'Post a message to a channel.', inputSchema: { channel_id: z.string(), text: z.string() }, annotations: { destructiveHint: false, openWorldHint: true },
}, alive(({ channel_id, text: said }) => text({ ok: true, channel: channel_id, message: { text: said } })));

server.registerTool('slack_get_users', {
    description: 'List the people of the workspace with their profiles.', inputSchema: {}, annotations: { readOnlyHint: true },
}, alive(() => text({ ok: true, members: people.map((p) => ({ id: `U${p.id}`, name: p.login, profile: { real_name: p.name, email: p.email } })) })));

await server.connect(new StdioServerTransport());
