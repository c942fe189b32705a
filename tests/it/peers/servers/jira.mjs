// Behaves like Jira's MCP server: every tool has an output schema and answers with structured content.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

import { tickets } from './data.mjs';

const server = new McpServer({ name: 'jira', version: '0.9.2' }, { instructions: 'Issues of the project HAR.' });
const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });
const failed = (message) => ({ content: [{ type: 'text', text: message }], isError: true });

const issue = z.object({
    key: z.string(),
    fields: z.object({
        summary: z.string(), status: z.object({ name: z.string() }), priority: z.object({ name: z.string() }),
        assignee: z.object({ accountId: z.string(), displayName: z.string() }).nullable(), created: z.string(), labels: z.array(z.string()), storyPoints: z.number(),
    }),
});

// `status = "Done" AND labels = billing`: as much of JQL as the tests use.
const matches = (jql) => {
    const terms = jql.split(/\s+AND\s+/i).filter(Boolean).map((t) => /^\s*(\w+)\s*(!?=)\s*"?([^"]*?)"?\s*$/.exec(t));
    if (terms.some((t) => t === null)) return null;
    const get = (t, field) => ({ status: [t.fields.status.name], priority: [t.fields.priority.name], labels: t.fields.labels,
        assignee: [t.fields.assignee?.displayName ?? 'EMPTY'], project: ['HAR'] })[field.toLowerCase()] ?? [];
    return (t) => terms.every(([, field, op, value]) => get(t, field).includes(value) === (op === '='));
};

server.registerTool('jira_search', {
    title: 'Search issues', description: 'Search Jira issues with JQL.',
    inputSchema: { jql: z.string().describe('For example: status = "Done" AND labels = billing'), maxResults: z.number().int().min(1).max(500).optional(), startAt: z.number().int().min(0).optional() },
    outputSchema: { total: z.number(), issues: z.array(issue) }, annotations: { readOnlyHint: true },
}, ({ jql, maxResults = 50, startAt = 0 }) => {
    const fits = matches(jql);
    if (!fits) return failed(`Error in the JQL query: ${jql}`);
    const found = tickets.filter(fits);
    return answer({ total: found.length, issues: found.slice(startAt, startAt + maxResults) });
});

server.registerTool('jira_get_issue', {
    description: 'Get one issue by its key.', inputSchema: { issueKey: z.string().regex(/^[A-Z]+-\d+$/).describe('For example HAR-101') }, outputSchema: issue.shape, annotations: { readOnlyHint: true },
}, ({ issueKey }) => {
    const found = tickets.find((t) => t.key === issueKey);
    return found ? answer(found) : failed(`Issue does not exist: ${issueKey}`);
});

server.registerTool('jira_add_comment', {
    description: 'Add a comment to an issue.', inputSchema: { issueKey: z.string(), comment: z.string().max(2000) }, outputSchema: { id: z.string(), created: z.boolean() }, annotations: { destructiveHint: false },
}, ({ issueKey, comment }) => answer({ id: `${issueKey}-${comment.length}`, created: true }));

await server.connect(new StdioServerTransport());
