// A server of the newest revision over stdio, written with the official SDK. `modern.mjs strict` serves that
// revision alone; otherwise older clients are served too.
import { McpServer, acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (t) => ({ content: [{ type: 'text', text: t }] });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

serveStdio(() => {
  const server = new McpServer({ name: 'modern', version: '3.1.4' },
    { capabilities: { tools: { listChanged: true } }, instructions: 'Ask nicely.' });

  server.registerTool('add', {
    description: 'Adds two numbers.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  }, async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }));

  server.registerTool('slow', {
    description: 'Reports progress, then answers.',
    inputSchema: z.object({ steps: z.number(), ms: z.number() }),
  }, async ({ steps, ms }, ctx) => {
    const token = ctx.mcpReq._meta?.progressToken;
    for (let i = 1; i <= steps; i++) {
      await sleep(ms);
      if (token !== undefined)
        await ctx.mcpReq.notify({
          method: 'notifications/progress', params: { progressToken: token, progress: i, total: steps },
        });
    }
    return text('done');
  });

  server.registerTool('deploy', {
    description: 'Asks before it does anything.',
    inputSchema: z.object({ env: z.string() }),
  }, async ({ env }, ctx) => {
    const answered = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', z.object({ confirm: z.boolean() }));
    if (ctx.mcpReq.inputResponses?.confirm && !answered)
      return text('not deployed');
    if (!answered)
      return inputRequired({
        inputRequests: {
          confirm: inputRequired.elicit({
            message: `Deploy to ${env}?`, requestedSchema: z.object({ confirm: z.boolean() }),
          }),
        },
        requestState: `state for "${env}" \u2028 /=`,
      });
    return text(`deployed to ${env} with ${JSON.stringify(ctx.mcpReq.requestState())}`);
  });

  let grown = 0;
  server.registerTool('grow', { description: 'Adds a tool.', inputSchema: z.object({}) }, async () => {
    const name = `grown_${++grown}`;
    server.registerTool(name, { description: 'New.', inputSchema: z.object({}) }, async () => text('new'));
    return text(name);
  });
  return server;
}, { legacy: process.argv[2] === 'strict' ? 'reject' : 'serve' });
