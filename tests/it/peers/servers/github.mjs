// Behaves like GitHub's MCP server: results are JSON in a text block, and there is no output schema.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

import { commits, people, random } from './data.mjs';

const server = new McpServer({ name: 'github', version: '2.1.0' }, { instructions: 'Repositories, commits, issues and pull requests.' });
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const failed = (message) => ({ content: [{ type: 'text', text: message }], isError: true });

const known = new Map();
const history = (owner, repo) => {
    const name = `${owner}/${repo}`;
    if (owner !== 'harbour') return null;
    if (!known.has(name)) known.set(name, commits(owner, repo));
    return known.get(name);
};
const issues = [];

const repository = { owner: z.string().describe('Account that owns the repository'), repo: z.string().describe('Name of the repository') };

server.registerTool('list_commits', {
    title: 'List commits', description: 'Get the list of commits of a branch of a repository. Newest first.',
    inputSchema: {
        ...repository, sha: z.string().optional().describe('Branch, tag or commit to start from'),
        since: z.string().optional().describe('Only commits after this date (ISO 8601)'),
        per_page: z.number().int().min(1).max(1000).optional().describe('Results per page (default 30)'),
        page: z.number().int().min(1).optional(),
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
}, ({ owner, repo, since, per_page = 30, page = 1 }) => {
    let list = history(owner, repo);
    if (!list) return failed(`Not Found: repository ${owner}/${repo}`);
    if (since) list = list.filter((c) => c.commit.author.date >= since);
    return text(list.slice((page - 1) * per_page, page * per_page));
});

server.registerTool('get_commit', {
    description: 'Get one commit with its statistics.', inputSchema: { ...repository, sha: z.string() }, annotations: { readOnlyHint: true },
}, ({ owner, repo, sha }) => {
    const found = history(owner, repo)?.find((c) => c.sha.startsWith(sha));
    return found ? text(found) : failed(`Not Found: commit ${sha}`);
});

server.registerTool('search_repositories', {
    description: 'Find repositories by name, description or topic.',
    inputSchema: { query: z.string().describe('Search words'), perPage: z.number().int().optional() }, annotations: { readOnlyHint: true },
}, ({ query }) => text({ total_count: 2, items: ['harbour/web', 'harbour/api'].map((full_name) => ({ full_name, description: `about ${query}`, stargazers_count: 42 })) }));

server.registerTool('list_issues', {
    description: 'List issues of a repository.',
    inputSchema: { ...repository, state: z.enum(['open', 'closed', 'all']).optional(), labels: z.array(z.string()).optional() },
    annotations: { readOnlyHint: true },
}, ({ state = 'open' }) => text(issues.filter((i) => state === 'all' || i.state === state)));

server.registerTool('create_issue', {
    description: 'Create a new issue in a repository.',
    inputSchema: { ...repository, title: z.string().min(1), body: z.string().optional(), labels: z.array(z.string()).optional(), assignees: z.array(z.string()).optional() },
    annotations: { destructiveHint: false, idempotentHint: false },
}, ({ title, body = '', labels = [], assignees = [] }) => {
    const issue = { number: issues.length + 1, title, body, labels, assignees, state: 'open' };
    issues.push(issue);
    return text(issue);
});

server.registerTool('create-pull-request', {
    description: 'Open a pull request from one branch into another.',
    inputSchema: { ...repository, title: z.string(), head: z.string(), base: z.string(), draft: z.boolean().optional() },
    annotations: { destructiveHint: false },
}, ({ title, head, base, draft = false }) => text({ number: 77, title, head: { ref: head }, base: { ref: base }, draft, state: 'open' }));

server.registerTool('delete_branch', {
    description: 'Delete a branch.', inputSchema: { ...repository, branch: z.string() }, annotations: { destructiveHint: true },
}, ({ branch }) => text({ deleted: branch }));

const flaky = random(3);
server.registerTool('get_user', {
    description: 'Get a user by login.', inputSchema: { login: z.string() }, annotations: { readOnlyHint: true },
}, ({ login }) => {
    if (login === 'busy') return failed('API rate limit exceeded; try again in 60 s');
    const found = people.find((p) => p.login === login);
    return found ? text({ ...found, followers: Math.floor(flaky() * 100) }) : failed(`Not Found: user ${login}`);
});

await server.connect(new StdioServerTransport());
