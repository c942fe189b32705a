// Requests to the host and their promises; a tool call and what can go wrong with it.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { Error, Promise, Proxy, String, TypeError, ObjectCreate, ObjectDefineProperty, ObjectSetPrototypeOf, ReflectGet } = p;
    const [OK, MISSING, DENIED, LIMIT, INVALID] = [0, 1, 2, 3, 4];
    const WARN = 2;

    // Requests under way: id -> how to settle. `fail` makes the error from the host's answer.
    const waiting = new p.SafeMap();
    const begin = (id, entry, reject) => {
        if (id === -2) reject(rt.limitError('the message to the host is too large', 'message', 16777216, 'bytes', 'Send it in parts.'));
        else if (id < 0) reject(rt.limitError('too many calls are under way', 'calls', 20000, 'calls', 'Await some of them before making more.'));
        else waiting.set(id, entry);
    };
    rt.request = (id, fail) =>
        new Promise((resolve, reject) => {
            begin(id, { __proto__: null, resolve, reject, fail, server: '', tool: '', at: undefined }, reject);
        });
    rt.settle = (id, status, payload) => {
        const w = waiting.get(id);
        if (w === undefined) return;
        waiting.delete(id);
        if (status === OK) w.resolve(payload);
        else w.reject(w.fail(status, payload, w));
    };

    // ---- what the host says when a call failed ----

    let argumentBytes = 10 * 1024 * 1024;
    let depth = 100;
    rt.setCallLimits = (bytes, levels) => {
        argumentBytes = bytes;
        depth = levels;
    };

    const types = ['syntax_error', 'type_error', 'runtime_error', 'timeout_error', 'resource_error', 'permission_error', 'validation_error', 'upstream_error'];
    const typeOf = (status) => {
        if (status === DENIED || status === MISSING) return 'permission_error';
        if (status === LIMIT) return 'resource_error';
        return status === INVALID ? 'validation_error' : 'upstream_error';
    };
    const codes = ['OK', 'MISSING', 'DENIED', 'LIMIT', 'INVALID', 'FAILED'];

    // JSON {message, retryable?, suggestion?, type?, limit?}; anything else is the message itself.
    const read = (payload) => {
        const text = String(payload);
        if (p.StringCharCodeAt(text, 0) === 123) {
            try {
                const v = p.JSONParse(text);
                if (typeof v.message === 'string') return ObjectSetPrototypeOf(v, null);
            } catch {
                // not JSON after all
            }
        }
        return { __proto__: null, message: text };
    };
    const toolFailed = (status, payload, call) => {
        const said = read(payload);
        const suggestion = typeof said.suggestion === 'string' ? said.suggestion : undefined;
        const error = new rt.ToolError(said.message, {
            __proto__: null, code: codes[status] || 'FAILED', server: call.server, tool: call.tool,
            retryable: said.retryable === true, suggestion,
        });
        // The place of the call, not of the answer.
        ObjectDefineProperty(error, 'stack', { __proto__: null, value: call.at.stack, writable: true, configurable: true });
        const type = p.ArrayIncludes(types, said.type) ? said.type : typeOf(status);
        return rt.brand(error, type, { suggestion, limit: typeof said.limit === 'string' ? said.limit : undefined, tool: `${call.server}.${call.tool}` });
    };

    // ---- the promise of a call ----

    // What is read from it other than a promise's own methods was meant for its value: `await` is missing.
    const infoOf = new p.SafeWeakMap();
    const PromisePrototype = Promise.prototype;
    const unawaited = (promise, key) => {
        const call = infoOf.get(promise);
        const name = call === undefined ? 'the call' : `${call.server}.${call.tool}(...)`;
        const what =
            key === p.SymbolIterator ? `${name} is a promise, which cannot be iterated`
            : key === 'toString' ? `${name} is a promise, which has no text`
            : key === 'toJSON' ? `${name} is a promise, which has no JSON form`
            : `${name} is a promise: it has no '${p.StringSlice(String(key), 0, 60)}'`;
        return rt.brand(new TypeError(`${what}; an \`await\` is missing before the call`), 'type_error', {
            suggestion: `Write \`await\` before ${name}, or \`await Promise.all([...])\` around several calls.`,
            awaits: call === undefined ? undefined : call.tool,
        });
    };
    const behind = new Proxy(ObjectCreate(PromisePrototype), {
        __proto__: null,
        get(target, key, receiver) {
            if (key === p.SymbolIterator || (typeof key === 'string' && (key === 'toString' || !(key in PromisePrototype)))) throw unawaited(receiver, key);
            return ReflectGet(target, key, receiver);
        },
        set: (target, key, value, receiver) => {
            ObjectDefineProperty(receiver, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
            return true;
        },
    });
    const CallPromise = class Promise_ extends Promise {};
    const methods = ObjectCreate(behind);
    for (const key of ['constructor', 'then', 'catch', 'finally', p.SymbolToStringTag])
        ObjectDefineProperty(methods, key, p.ObjectGetOwnPropertyDescriptor(PromisePrototype, key));
    // A class's own prototype cannot be replaced, but where it leads to can.
    ObjectSetPrototypeOf(CallPromise.prototype, methods);
    delete CallPromise.prototype.constructor;

    const wrongArguments = (server, tool, given, more) => {
        const what =
            more ? 'several values'
            : p.ArrayIsArray(given) ? 'an array'
            : typeof given === 'string' ? `the text ${rt.quote(p.StringSlice(given, 0, 40))}`
            : `a ${typeof given}`;
        const error = new rt.ToolError(`the arguments must be one object with names, not ${what}`,
            { __proto__: null, code: 'INVALID', server, tool, retryable: false, suggestion: undefined });
        const suggestion = `Write ${server}.${tool}({ name: value, ... }); readToolDefinition('${server}/${tool}') shows the names.`;
        error.suggestion = suggestion;
        return p.PromiseReject(rt.brand(error, 'validation_error', { suggestion, tool: `${server}.${tool}` }));
    };

    let send = host.call;
    // Calls that go nowhere, in the zygote: the way of a call is then compiled before the first program.
    rt.warmCalls = async (times) => {
        let id = 0;
        for (let i = 0; i < times; i++) {
            send = () => ++id;
            const promise = rt.tools.warm.call({ i, text: 'text', list: [i, { a: null }] });
            send = host.call;
            rt.settle(id, OK, { i });
            await promise;
        }
    };

    rt.callTool = (server, tool, args, more) => {
        let json = '{}';
        if (args !== undefined && args !== null) {
            if (more || typeof args !== 'object' || p.ArrayIsArray(args)) return wrongArguments(server, tool, args, more);
            try {
                json = rt.encode(args, argumentBytes, depth, 'the argument');
            } catch (e) {
                return p.PromiseReject(e);
            }
        }
        const call = { __proto__: null, resolve: undefined, reject: undefined, fail: toolFailed, server, tool, at: new Error() };
        const promise = new CallPromise((resolve, reject) => {
            call.resolve = resolve;
            call.reject = reject;
            begin(send(server, tool, json), call, reject);
        });
        infoOf.set(promise, call);
        return promise;
    };

    // ---- calls that nobody waited for ----

    rt.unfinished = () => {
        const names = p.list();
        waiting.forEach((call) => {
            const name = `${call.server}.${call.tool}`;
            if (call.tool !== '' && !p.ArrayIncludes(names, name)) names[names.length] = name;
        });
        if (names.length > 0)
            host.log(WARN, `The program ended without waiting for ${p.ArrayJoin(p.ArraySlice(names, 0, 5), ', ')}${names.length > 5 ? ', ...' : ''}: ` +
                'put `await` before such calls. They are given a moment to finish.', true);
    };
    rt.late = (id, status, payload) => {
        const call = waiting.get(id);
        waiting.delete(id);
        if (call === undefined || call.tool === '' || status === OK) return;
        host.log(WARN, `${call.server}.${call.tool} failed after the program's end: ${p.StringSlice(read(payload).message, 0, 1000)}`, true);
    };
})
