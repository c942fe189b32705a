// Runs the program of a Node guest, and says how it ended. The counterpart of driver.py: main(inputs)
// or the default export is called, unless the program calls main() itself.
'use strict';
const fs = require('node:fs');
const Module = require('node:module');
const vm = require('node:vm');

const BRIDGE = Number(process.env.CAISSON_BRIDGE || 3);
const HEAD = 24;
const CALL = 7, RESULT = 9, LOG = 10, PROGRESS = 11, DONE = 12;
const LEVELS = { debug: 0, info: 1, warn: 2, error: 3 };
const CODES = { 1: 'MISSING', 2: 'DENIED', 3: 'LIMIT', 4: 'INVALID', 5: 'FAILED' };
const TYPES = { MISSING: 'permission_error', DENIED: 'permission_error', LIMIT: 'resource_error', INVALID: 'validation_error' };
const typeOf = new WeakMap(); // of a ToolError, for the report
const inputs = JSON.parse(fs.readFileSync('/caisson/inputs.json', 'utf8') || '{}');
const before = fs.existsSync('/caisson/state.json') ? fs.readFileSync('/caisson/state.json', 'utf8') : undefined; // only in a session

class ToolError extends Error {
  constructor(message, { code = 'FAILED', server, tool, retryable = false, suggestion } = {}) {
    super(message);
    this.name = 'ToolError';
    Object.assign(this, { server, tool, code, retryable, suggestion });
  }
}

// JSON {message, retryable?, suggestion?, type?}; anything else is the message itself.
function failure(status, payload, server, tool) {
  let said;
  try {
    said = payload.startsWith('{') ? JSON.parse(payload) : undefined;
  } catch {
    // not JSON after all
  }
  if (typeof said?.message !== 'string') said = { message: payload };
  const code = CODES[status] || 'FAILED';
  const error = new ToolError(said.message, { code, server, tool, retryable: said.retryable === true, suggestion: said.suggestion });
  typeOf.set(error, said.type || TYPES[code] || 'upstream_error');
  return error;
}

function frame(kind, id, body) {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt16LE(kind, 4);
  head.writeUInt16LE(3, 6);
  head.writeBigUInt64LE(id, 8);
  return Buffer.concat([head, body]);
}

function text(value) {
  const bytes = Buffer.from(String(value), 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length, 0);
  return Buffer.concat([length, bytes]);
}

// The bridge blocks, and one program speaks at a time: simple, and in order.
function send(bytes) {
  for (let at = 0; at < bytes.length;) at += fs.writeSync(BRIDGE, bytes, at);
}

function receive(count) {
  const out = Buffer.alloc(count);
  for (let at = 0; at < count;) {
    const n = fs.readSync(BRIDGE, out, at, count - at, null);
    if (n === 0) throw new Error('the bridge is closed');
    at += n;
  }
  return out;
}

let next = 1n;
const caisson = {
  inputs,
  ToolError,
  async call(server, tool, args = {}) {
    if (args === null || typeof args !== 'object' || Array.isArray(args)) {
      throw failure(4, JSON.stringify({
        message: `the arguments must be one object with names, not ${Array.isArray(args) ? 'an array' : `a ${typeof args}`}`,
        suggestion: `Write ${server}.${tool}({ name: value, ... }).`,
      }), server, tool);
    }
    const id = next++;
    send(frame(CALL, id, Buffer.concat([text(server), text(tool), text(JSON.stringify(args))])));
    for (;;) {
      const head = receive(HEAD);
      const body = receive(head.readUInt32LE(0));
      if (head.readUInt16LE(4) !== RESULT || head.readBigUInt64LE(8) !== id) continue;
      const payload = body.toString('utf8', 5, 5 + body.readUInt32LE(1));
      if (body[0] !== 0) throw failure(body[0], payload, server, tool);
      return payload ? JSON.parse(payload) : undefined;
    }
  },
  callTool: (server, tool, args) => caisson.call(server, tool, args),
  searchTools: (query = '', options = {}) => caisson.call('caisson', 'searchTools', { query: String(query), ...options }).then(listed),
  readToolDefinition: (path) => caisson.call('caisson', 'readToolDefinition', { path: String(path) }),
  storage: {
    async get(id, { offset, length, as } = {}) {
      const part = await caisson.call('caisson', 'storageGet', { id: String(id), offset, length, as });
      if (as !== 'bytes') return part;
      const { base64, ...rest } = part;
      const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
      return offset === undefined && length === undefined ? bytes : { ...rest, bytes };
    },
    put(name, value, { mediaType } = {}) {
      const args = { name: String(name), media_type: mediaType };
      if (typeof value === 'string') args.text = value;
      else if (ArrayBuffer.isView(value)) args.base64 = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
      else if (value instanceof ArrayBuffer) args.base64 = Buffer.from(value).toString('base64');
      else args.value = value ?? null;
      return caisson.call('caisson', 'storagePut', args);
    },
    list: () => caisson.call('caisson', 'storageList'),
  },
  progress(progress, total, message) {
    send(frame(PROGRESS, 0n, text(JSON.stringify({ progress, total, message }))));
  },
  log(level, message) {
    send(frame(LOG, 0n, Buffer.concat([Buffer.from([LEVELS[level] ?? 1]), text(message)])));
  },
};

// The answer of a search can be used as the list of its tools.
function listed(answer) {
  const tools = answer?.tools ?? [];
  Object.defineProperty(answer, 'length', { value: tools.length });
  Object.defineProperty(answer, Symbol.iterator, { value: () => tools[Symbol.iterator]() });
  return answer;
}

// tools.github.listCommits({...})
const isTool = (name) => typeof name === 'string' && !['then', 'toJSON', 'constructor', 'prototype'].includes(name);
const tools = new Proxy({}, {
  get: (_, server) => isTool(server) ? new Proxy({}, {
    get: (__, tool) => isTool(tool) ? (args) => caisson.call(server, tool, args) : undefined,
  }) : undefined,
});

let ended = false;
function done(outcome, json, kept = '') {
  ended = true;
  send(frame(DONE, 0n, Buffer.concat([Buffer.from([outcome]), text(json), Buffer.alloc(4), text(kept)])));
}

class StateError extends TypeError {
  constructor(message) {
    super('`state` ' + message);
    this.name = 'StateError';
    this.suggestion = 'Keep plain objects, arrays, texts, finite numbers, booleans and null.';
    typeOf.set(this, 'validation_error');
  }
}

// What would come back as something else is not kept silently.
function check(value, path, parents) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return;
  const kind = typeof value === 'number' ? String(value) : typeof value === 'object' ? `a ${value.constructor?.name ?? 'object'}` : `a ${typeof value}`;
  const proto = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  const plain = Array.isArray(value) || proto === Object.prototype || proto === null;
  if (!plain || typeof value.toJSON === 'function') throw new StateError(`cannot be kept: ${kind} at ${path} has no JSON form`);
  if (parents.includes(value)) throw new StateError(`refers to itself at ${path}`);
  if (parents.length >= 100) throw new StateError(`is nested more than 100 levels deep (at ${path.slice(0, 200)})`);
  const inner = [...parents, value];
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) check(value[i], `${path}[${i}]`, inner);
  else for (const [key, item] of Object.entries(value)) if (item !== undefined) check(item, `${path}.${key.slice(0, 100)}`, inner);
}

// The state as JSON; empty if it is what it was, or nobody keeps it.
function kept() {
  if (before === undefined) return '';
  const state = globalThis.state;
  if (state === null || typeof state !== 'object' || Array.isArray(state)) throw new StateError('must stay an object');
  check(state, '$', []);
  const now = JSON.stringify(state);
  return now === before ? '' : now;
}

function failed(error, source) {
  console.error(error instanceof Error ? error.stack : error);
  process.exitCode = 1;
  done(1, JSON.stringify(describe(error, source)));
}

function describe(error, source) {
  const isError = error instanceof Error;
  const stack = isError ? String(error.stack) : '';
  const at = /\/caisson\/program\.[cm]js:(\d+)(?::(\d+))?/.exec(stack);
  const line = at ? Number(at[1]) : null;
  let column = at && at[2] ? Number(at[2]) : null;
  const syntax = isError && error.name === 'SyntaxError' && /^\/caisson\/program/.test(stack);
  const row = line ? source.split('\n')[line - 1] : undefined;
  if (syntax && column === null) {
    const mark = stack.split('\n')[2] || '';
    column = mark.includes('^') ? mark.indexOf('^') + 1 : null;
  }
  return {
    type: syntax ? 'syntax_error' : typeOf.get(error) ?? 'runtime_error',
    suggestion: error instanceof ToolError || error instanceof StateError ? error.suggestion : undefined,
    name: isError ? error.name : 'Error',
    message: ((error instanceof ToolError ? `${error.server}.${error.tool}: ` : '')
      + (isError ? error.message : String(error))).slice(0, 8192),
    line,
    column,
    snippet: row === undefined ? null
      : row.slice(0, 400) + (column ? '\n' + ' '.repeat(column - 1) + '^' : ''),
    stack: stack.split('\n').filter((s) => s.includes('/caisson/program')).join('\n')
      .replaceAll(/(file:\/\/)?\/caisson\/program\.[cm]js/g, 'program.js').slice(0, 8192),
  };
}

// CommonJS first; what only a module may contain then decides for a module.
async function load(source) {
  try {
    return loadCommon(source);
  } catch (error) {
    const modules = /import statement|Unexpected token 'export'|await is only valid|import\.meta/;
    if (!(error instanceof SyntaxError) || !modules.test(error.message)) throw error;
  }
  const space = await import('/caisson/program.mjs');
  return space.default ?? space.main ?? space.__caisson_main;
}

function loadCommon(source) {
  const run = vm.compileFunction(
    source + '\n;typeof main === "function" && (module.__main = main);',
    ['exports', 'require', 'module', '__filename', '__dirname'],
    {
      filename: '/caisson/program.cjs',
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
  const module = { exports: {} };
  run(module.exports, Module.createRequire('/workspace/program.js'), module,
    '/workspace/program.js', '/workspace');
  const exported = module.exports;
  return typeof exported === 'function' ? exported
    : exported?.default ?? exported?.main ?? module.__main;
}

async function drive() {
  globalThis.inputs = inputs;
  globalThis.state = before === undefined ? {} : JSON.parse(before);
  globalThis.caisson = caisson;
  globalThis.tools = tools;
  globalThis.ToolError = ToolError;
  globalThis.searchTools = caisson.searchTools;
  globalThis.readToolDefinition = caisson.readToolDefinition;
  const source = fs.readFileSync('/caisson/program.cjs', 'utf8');
  // A program without a value of its own is over when the process is.
  process.on('exit', (code) => {
    if (code !== 0 || ended) return;
    try {
      const state = kept();
      if (state) done(2, '', state);
    } catch (error) {
      failed(error, source);
    }
  });
  try {
    const main = await load(source);
    const own = /^(?:await\s+)?(?:\(\s*)?main\s*\(/m.test(source);
    if (main !== undefined && !own) {
      const value = typeof main === 'function' ? await main(inputs) : await main;
      const json = JSON.stringify(value === undefined ? null : value);
      done(0, json, kept());
    }
  } catch (error) {
    failed(error, source);
  }
}

drive();
