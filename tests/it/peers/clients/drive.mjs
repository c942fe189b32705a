// An official client, driven line by line: what a test wants comes on stdin, what happens goes to stdout.
//
//     node drive.mjs old|legacy|modern stdio COMMAND ARGS...
//     node drive.mjs old|legacy|modern http URL [KEY]
//
// `old` is the SDK 1.x; the others are the client 2.x, which speaks either era. A line of stdin is {id, do, params?, progress?,
// log?}; `do` is the name of a method of the client, or "answers": [...] for what is asked from now on, or "abort" with the id of
// another one. Environment: DRIVE_CAPABILITIES, JSON, what it can do. Lines of stdout: {id, result} or {id, error}, and {event, params}.
import readline from 'node:readline';

const [kind, transport, ...rest] = process.argv.slice(2);
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
const event = (name) => (message) => say({ event: name, params: message.params ?? message });
const capabilities = process.env.DRIVE_CAPABILITIES ? JSON.parse(process.env.DRIVE_CAPABILITIES)
    : { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const info = { name: 'drive', version: '1' };
let answers = [];

// An answer with `after` takes its time; if it is cancelled meanwhile, that is an event.
async function ask(name, message, extra) {
    say({ event: name, params: message.params });
    const answer = answers.shift();
    if (answer === undefined) return { action: 'decline' };
    const { after, ...rest } = answer;
    const signal = extra?.signal ?? extra?.mcpReq?.signal;
    signal?.addEventListener('abort', () => say({ event: 'withdrawn', params: {} }));
    if (after) await new Promise((done) => setTimeout(done, after));
    return rest;
}

async function old() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(info, { capabilities });
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, event('log'));
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, event('updated'));
    client.setNotificationHandler(types.ResourceListChangedNotificationSchema, event('resources changed'));
    if (capabilities.elicitation) client.setRequestHandler(types.ElicitRequestSchema, (m, extra) => ask('elicit', m, extra));
    if (capabilities.sampling) client.setRequestHandler(types.CreateMessageRequestSchema, (m, extra) => ask('sample', m, extra));
    return [client, StdioClientTransport, StreamableHTTPClientTransport];
}

async function current() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = kind === 'modern' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client(info, { capabilities, versionNegotiation: { mode } });
    client.setNotificationHandler('notifications/message', event('log'));
    client.setNotificationHandler('notifications/resources/updated', event('updated'));
    client.setNotificationHandler('notifications/resources/list_changed', event('resources changed'));
    if (capabilities.elicitation) client.setRequestHandler('elicitation/create', (m, extra) => ask('elicit', m, extra));
    if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', (m, extra) => ask('sample', m, extra));
    return [client, StdioClientTransport, StreamableHTTPClientTransport];
}

const [client, Stdio, Http] = await (kind === 'old' ? old() : current());
const headers = rest[1] ? { Authorization: `Bearer ${rest[1]}` } : {};
client.onerror = (e) => say({ event: 'trouble', params: String(e) });
const way = transport === 'stdio'
    ? new Stdio({ command: rest[0], args: rest.slice(1), env: process.env, stderr: 'inherit' })
    : new Http(new URL(rest[0]), { requestInit: { headers } });
await client.connect(way);
say({ event: 'ready', params: { instructions: client.getInstructions(), capabilities: client.getServerCapabilities(),
    server: client.getServerVersion(), pid: way.pid } });

// One call as a task of the older protocol: what comes until its end.
async function task(params, options) {
    const seen = [];
    for await (const message of client.experimental.tasks.callToolStream(params, undefined, { ...options, task: { ttl: 60000 } })) {
        say({ event: 'task', params: message });
        seen.push(message);
    }
    return seen;
}

const controllers = new Map();

async function perform({ id, do: what, params = {}, progress, log }) {
    const controller = new AbortController();
    const options = { timeout: 60000, signal: controller.signal };
    controllers.set(id, controller);
    if (progress) options.onprogress = event('progress');
    if (log && kind === 'modern') params._meta = { ...params._meta, 'io.modelcontextprotocol/logLevel': log };
    try {
        if (what === 'answers') answers = params;
        if (what === 'abort') controllers.get(params).abort('enough');
        const result = what === 'answers' || what === 'abort' ? null : what === 'task' ? await task(params, options)
            : what === 'setLoggingLevel' ? await client.setLoggingLevel(params)
            : what === 'callTool' && kind === 'old' ? await client.callTool(params, undefined, options)
            : await client[what](params, options);
        say({ id, result });
    } catch (e) {
        say({ id, error: { code: e.code, message: String(e.message), data: e.data } });
    }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => perform(JSON.parse(line))).on('close', async () => {
    await client.close();
    process.exit(0);
});
