// The bridge as the program sees it: tools, files' promises, progress, fetch.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { Promise, Proxy, String, ObjectCreate } = p;
    const ARGUMENT_BYTES = 15 * 1024 * 1024;
    const DEPTH = 128;
    const [OK, MISSING, DENIED, LIMIT, INVALID] = [0, 1, 2, 3, 4];

    // Requests under way: id -> how to settle. `fail` makes the error from the host's answer.
    const waiting = new p.SafeMap();
    rt.request = (id, fail) =>
        new Promise((resolve, reject) => {
            if (id === -2) reject(rt.limitError('the message to the host is too large', 'message', 16777216, 'bytes', 'Send it in parts.'));
            else if (id < 0) reject(rt.limitError('too many calls are under way', 'calls', 20000, 'calls', 'Await some of them before making more.'));
            else waiting.set(id, { __proto__: null, resolve, reject, fail });
        });
    rt.settle = (id, status, payload) => {
        const w = waiting.get(id);
        if (w === undefined) return;
        waiting.delete(id);
        if (status === OK) w.resolve(payload);
        else w.reject(w.fail(status, payload));
    };

    const typeOf = (status) => {
        if (status === DENIED) return 'permission_error';
        if (status === LIMIT) return 'resource_error';
        if (status === INVALID) return 'validation_error';
        return status === MISSING ? 'runtime_error' : 'upstream_error';
    };
    const codes = ['OK', 'MISSING', 'DENIED', 'LIMIT', 'INVALID', 'FAILED'];
    const toolFailed = (server, tool) => (status, message) => {
        const error = new rt.ToolError(`${server}.${tool}: ${message}`, { __proto__: null, code: codes[status] || 'FAILED', server, tool });
        return rt.brand(error, typeOf(status));
    };

    const callTool = (server, tool, args) => {
        server = String(server);
        tool = String(tool);
        let json;
        try {
            json = args === undefined ? '{}' : rt.encode(args, ARGUMENT_BYTES, DEPTH, 'the argument');
        } catch (e) {
            return p.PromiseReject(e);
        }
        return rt.request(host.call(server, tool, json), toolFailed(server, tool));
    };

    // tools.server.tool(args): names are not known here, the host decides about them. A promise-like
    // or symbol name is not a tool, or awaiting and printing the object would make calls.
    const reserved = (name) => typeof name === 'symbol' || name === 'then' || name === 'toJSON' || name === 'constructor' || name === 'prototype';
    const locked = {
        __proto__: null,
        set: () => false,
        defineProperty: () => false,
        deleteProperty: () => false,
        setPrototypeOf: () => false,
    };
    const serverOf = (server) => {
        const known = new p.SafeMap();
        return new Proxy(ObjectCreate(null), {
            __proto__: null,
            ...locked,
            get(_, tool) {
                if (reserved(tool)) return undefined;
                let f = known.get(tool);
                if (f === undefined) {
                    f = rt.native((args) => callTool(server, tool, args));
                    p.ObjectDefineProperty(f, 'name', { __proto__: null, value: tool, configurable: true });
                    known.set(tool, f);
                }
                return f;
            },
        });
    };
    const servers = new p.SafeMap();
    rt.tools = new Proxy(ObjectCreate(null), {
        __proto__: null,
        ...locked,
        get(_, server) {
            if (reserved(server)) return undefined;
            let s = servers.get(server);
            if (s === undefined) servers.set(server, (s = serverOf(server)));
            return s;
        },
    });

    rt.caisson = {
        callTool(server, tool, args) {
            return callTool(server, tool, args);
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
