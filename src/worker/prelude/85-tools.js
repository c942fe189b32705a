// The outside as the program sees it: tools, their search, progress, fetch.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { Proxy, String, TypeError, ObjectCreate, ObjectDefineProperty } = p;
    const ObjectPrototype = p.ObjectPrototype;

    // ---- which servers there are ----

    // Text until somebody asks: most programs use one server out of many.
    let text = '';
    let known, names;
    rt.setServers = (json) => {
        text = json;
        known = names = undefined;
    };
    const load = () => {
        known = new p.SafeSet();
        names = p.list();
        const all = text === '' ? p.list() : p.JSONParse(text);
        for (let i = 0; i < all.length; i++) {
            if (typeof all[i] !== 'string' || known.has(all[i])) continue;
            known.add(all[i]);
            names[names.length] = all[i];
        }
    };
    const isServer = (name) => {
        if (known === undefined) load();
        return known.has(name);
    };
    const serverNames = () => {
        if (known === undefined) load();
        return p.ArraySlice(names, 0);
    };

    // ---- tools.server.tool(args) ----

    // Which tools a server has is the host's to say. A promise-like or symbol name is no tool, or awaiting
    // and printing the object would make calls.
    const reserved = (name) => typeof name === 'symbol' || name === 'then' || name === 'toJSON' || name === 'constructor' || name === 'prototype';
    const locked = {
        __proto__: null,
        set: () => false,
        defineProperty: () => false,
        deleteProperty: () => false,
        setPrototypeOf: () => false,
        preventExtensions: () => false,
    };
    // Array.map hands over the item, its index and the array.
    const positional = (args) => {
        let n = args.length;
        while (n > 1 && args[n - 1] === undefined) n--;
        return n > 1 && !(n === 3 && typeof args[1] === 'number' && p.ArrayIsArray(args[2]) && p.isObject(args[0]));
    };
    const toolOf = (server, tool, name = tool) => {
        const f = rt.native((...args) => rt.callTool(server, tool, args[0], positional(args)));
        ObjectDefineProperty(f, 'name', { __proto__: null, value: name, configurable: true });
        return f;
    };
    // Of an imported file, made when it is first used: an index has many.
    rt.toolGetter = (server, tool, name) => {
        let f;
        return () => (f ??= toolOf(server, tool, name));
    };
    rt.proxyTexts = new p.SafeWeakMap(); // how these objects are shown: see 20-inspect.js

    const plainTarget = () => {
        const target = rt.native(() => undefined);
        delete target.name;
        delete target.length;
        return target;
    };
    const serverOf = (server) => {
        const tools = ObjectCreate(null);
        const proxy = new Proxy(plainTarget(), {
            __proto__: null,
            ...locked,
            get(_, tool) {
                if (reserved(tool)) return undefined;
                const f = tools[tool];
                if (f !== undefined) return f;
                if (tool in ObjectPrototype) return ObjectPrototype[tool];
                return (tools[tool] = toolOf(server, tool));
            },
            has: (_, tool) => !reserved(tool) && !(tool in ObjectPrototype),
            getPrototypeOf: () => null,
            ownKeys: () => [],
            getOwnPropertyDescriptor: () => undefined,
            apply() {
                throw rt.brand(new TypeError(`${server} is a server, not a tool`), 'type_error', {
                    suggestion: `Call one of its tools: await ${server}.<tool>({...}). await searchTools('...', { server: '${server}' }) finds them.`,
                });
            },
        });
        rt.proxyTexts.set(proxy, () => `[Server: ${server}]`);
        return proxy;
    };
    const servers = ObjectCreate(null);
    const server = (name) => servers[name] ?? (servers[name] = serverOf(name));

    rt.tools = new Proxy(ObjectCreate(null), {
        __proto__: null,
        ...locked,
        get(_, name) {
            if (name === 'toJSON') return serverNames;
            if (reserved(name)) return undefined;
            if (name in ObjectPrototype && !isServer(name)) return ObjectPrototype[name];
            return server(name);
        },
        has: (_, name) => isServer(name),
        ownKeys: () => serverNames(),
        getOwnPropertyDescriptor: (_, name) =>
            isServer(name) ? { __proto__: null, value: server(name), writable: false, enumerable: true, configurable: true } : undefined,
    });
    rt.proxyTexts.set(rt.tools, () => {
        const all = serverNames();
        const shown = p.ArrayJoin(p.ArraySlice(all, 0, 20), ', ');
        if (all.length === 0) return 'tools {} (no servers)';
        return `tools { ${shown}${all.length > 20 ? `, ... ${all.length - 20} more` : ''} } (servers; searchTools(query) finds their tools)`;
    });
    rt.native(serverNames);

    // Plain `github.listCommits(...)`, for those that servers.c finds in the program's text. What is there is
    // never replaced: such a server is tools.console.
    rt.offer = (name) => {
        if (name in p.global) return;
        ObjectDefineProperty(p.global, name, { __proto__: null, value: server(name), writable: true, enumerable: false, configurable: true });
    };

    // ---- finding tools ----

    // {tools, total, ...} as the host sent it, that can also be used as the list of its tools.
    const listMethods = ObjectCreate(ObjectPrototype);
    for (const name of ['map', 'filter', 'find', 'findIndex', 'forEach', 'some', 'every', 'slice', 'reduce', 'flatMap', 'at', 'entries', 'keys', 'values']) {
        const method = p.Array.prototype[name];
        const delegate = { [name](...args) { return p.ReflectApply(method, this.tools, args); } }[name];
        ObjectDefineProperty(listMethods, name, { __proto__: null, value: rt.native(delegate), writable: true, configurable: true });
    }
    ObjectDefineProperty(listMethods, p.SymbolIterator, { __proto__: null, value: listMethods.values, writable: true, configurable: true });
    const found = (value) => {
        if (!p.isObject(value) || !p.ArrayIsArray(value.tools)) return value;
        const tools = value.tools;
        p.ObjectSetPrototypeOf(value, listMethods);
        for (let i = 0; i < tools.length; i++) ObjectDefineProperty(value, i, { __proto__: null, value: tools[i] });
        ObjectDefineProperty(value, 'length', { __proto__: null, value: tools.length });
        return value;
    };
    const searchTools = (query, options) => {
        const given = p.isObject(query) ? query : p.isObject(options) ? options : ObjectCreate(null);
        const args = ObjectCreate(null);
        args.query = p.isObject(query) ? query.query : query;
        args.query = args.query === undefined || args.query === null ? '' : String(args.query);
        for (const key of ['limit', 'detail', 'server', 'offset']) if (given[key] !== undefined) args[key] = given[key];
        return p.PromiseThen(rt.callTool('caisson', 'searchTools', args), found);
    };
    const readToolDefinition = (path) => rt.callTool('caisson', 'readToolDefinition', { __proto__: null, path: String(path) });

    rt.searchTools = { searchTools(query, options) { return searchTools(query, options); } }.searchTools;
    rt.readToolDefinition = { readToolDefinition(path) { return readToolDefinition(path); } }.readToolDefinition;

    rt.caisson = {
        callTool(server, tool, args) {
            return rt.callTool(String(server), String(tool), args, false);
        },
        searchTools: rt.searchTools,
        readToolDefinition: rt.readToolDefinition,
        // What is kept under a handle: get('art_...') is its value; with { offset, length }, a part of its text; with
        // { as: 'bytes' }, its bytes. put('name', value) keeps a value, a text or bytes, and gives the handle.
        storage: {
            get(id, options) {
                const args = ObjectCreate(null);
                args.id = String(id);
                if (!p.isObject(options)) return rt.callTool('caisson', 'storageGet', args);
                for (const key of ['offset', 'length']) if (options[key] !== undefined) args[key] = +options[key];
                if (options.as !== 'bytes') return rt.callTool('caisson', 'storageGet', args);
                args.as = 'bytes';
                const whole = args.offset === undefined && args.length === undefined;
                return p.PromiseThen(rt.callTool('caisson', 'storageGet', args), (part) => {
                    part.bytes = p.FromBase64(part.base64);
                    delete part.base64;
                    return whole ? part.bytes : part;
                });
            },
            put(name, value, options) {
                const args = ObjectCreate(null);
                args.name = String(name);
                const type = p.isObject(options) ? options.mediaType ?? options.media_type : undefined;
                if (type !== undefined) args.media_type = String(type);
                if (typeof value === 'string') args.text = value;
                else if (p.ArrayBufferIsView(value) || p.isArrayBuffer(value)) args.base64 = p.ToBase64(rt.bytesOf(value));
                else args.value = value === undefined ? null : value;
                return rt.callTool('caisson', 'storagePut', args);
            },
            list() {
                return rt.callTool('caisson', 'storageList', ObjectCreate(null));
            },
        },
        // progress(0.5), progress(3, 10, 'third of ten'), progress({ progress, total, message })
        progress(progress, total, message) {
            const given = p.isObject(progress) ? progress : { progress, total, message };
            const clean = ObjectCreate(null);
            const n = +given.progress;
            clean.progress = n === n ? n : 0;
            if (given.total !== undefined) clean.total = +given.total;
            if (given.message !== undefined) clean.message = p.StringSlice(String(given.message), 0, 1000);
            host.progress(rt.encode(clean, 50000, 4));
        },
    };

    rt.fetch = function fetch() {
        return p.PromiseReject(rt.permission('fetch is not available: a program has no network of its own',
            'Call a tool that reaches the service, `await tools.<server>.<tool>({...})`.'));
    };
})
