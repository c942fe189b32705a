// Puts the runtime in place, and hands C its entries.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const g = p.global;
    const { ObjectDefineProperty, ReflectOwnKeys, ObjectGetOwnPropertyDescriptor, FunctionToString } = p;

    const place = (name, value) => {
        if (value !== undefined) ObjectDefineProperty(g, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
    };

    const timers = ReflectOwnKeys(rt.timers);
    for (let i = 0; i < timers.length; i++) place(timers[i], rt.timers[timers[i]]);
    place('console', rt.console);
    place('performance', rt.performance);
    place('tools', rt.tools);
    place('caisson', rt.caisson);
    place('searchTools', rt.searchTools);
    place('readToolDefinition', rt.readToolDefinition);
    place('ToolError', rt.ToolError);
    place('fetch', rt.fetch);
    place('Deno', rt.Deno);
    for (const name of [
        'Event', 'EventTarget', 'CustomEvent', 'AbortController', 'AbortSignal', 'DOMException', 'TextEncoder', 'TextDecoder',
        'atob', 'btoa', 'URL', 'URLSearchParams', 'structuredClone', 'crypto', 'Buffer',
    ])
        place(name, rt[name]);
    place('inputs', {});
    place('state', {});
    rt.define(Math, { random: rt.random });

    // Shared memory would be a clock, and what the engine has for its own tests is nobody's business.
    for (const name of ['SharedArrayBuffer', 'WebAssembly', '$vm', 'createGlobalObject', 'print', 'debug', 'gc', 'readline'])
        delete g[name];

    // ---- functions of the runtime show no source ----

    const source = FunctionToString;
    rt.functionSource = (f) => (rt.natives.has(f) ? 'function' : p.StringSlice(source(f), 0, 200));
    const toString = {
        toString() {
            if (typeof this === 'function' && rt.natives.has(this)) {
                const d = ObjectGetOwnPropertyDescriptor(this, 'name');
                const name = d && typeof d.value === 'string' ? d.value : '';
                return `function ${name}() {\n    [native code]\n}`;
            }
            return source(this);
        },
    }.toString;
    rt.native(toString);
    rt.define(p.Function.prototype, { toString });

    const seen = new p.SafeSet();
    const mark = (o) => {
        if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) return;
        seen.add(o);
        if (typeof o === 'function') rt.natives.add(o);
        const keys = ReflectOwnKeys(o);
        for (let i = 0; i < keys.length; i++) {
            if (keys[i] === 'length' || keys[i] === 'name') continue;
            const d = ObjectGetOwnPropertyDescriptor(o, keys[i]);
            if ('value' in d) mark(d.value);
            else {
                mark(d.get);
                mark(d.set);
            }
        }
    };
    seen.add(rt.prim);
    for (const o of [
        rt.console, rt.performance, p.ObjectGetPrototypeOf(rt.performance), rt.timers, rt.caisson, rt.ToolError, rt.fetch, rt.Deno, rt.fs,
        rt.Stats, rt.Dirent, rt.random, rt.Event, rt.EventTarget, rt.CustomEvent, rt.AbortController, rt.AbortSignal, rt.DOMException,
        rt.TextEncoder, rt.TextDecoder, rt.atob, rt.btoa, rt.URL, rt.URLSearchParams, rt.structuredClone, rt.crypto, rt.Buffer,
        rt.path, rt.util, rt.nodeCrypto, rt.nodeBuffer,
    ])
        mark(o);
    if (rt.runtimeObjects) for (let i = 0; i < rt.runtimeObjects.length; i++) mark(rt.runtimeObjects[i]);

    rt.begin = (inputs, state, servers, argumentBytes, depth) => {
        place('inputs', inputs);
        place('state', state);
        rt.setServers(servers);
        rt.setCallLimits(argumentBytes, depth);
        rt.setInputs(inputs);
    };

    rt.encodeState = (bytes, depth) => rt.encode(g.state, bytes, depth, rt.STATE);

    // Everything once, in the zygote: lazily made parts of the engine and code caches; ICU too, which takes a while, if thorough.
    let warmed = 1000000; // indices that no module of a program has
    rt.warm = (thorough) => {
        const index = warmed++;
        const data = { a: [1, 2.5, -3], b: 'text', c: null, d: new Map([['k', { v: 1 }]]), e: new Set([1]), f: new Date(0), g: 10n, h: /x/g, i: [undefined], j: new Uint8Array(3) };
        rt.inspect(data);
        rt.format(['%s %d %j', 'a', 1, { b: 2 }, data]);
        rt.encode(data, 100000, 64);
        rt.describe(new TypeError('x'));
        try {
            null.x;
        } catch (e) {
            rt.describe(e);
            rt.errorText(e);
        }
        rt.console.log('warm', data);
        rt.begin({ a: 1 }, {}, '["warm"]', 1000, 8);
        rt.seed(1, 2, 3, 4);
        rt.random();
        JSON.parse(JSON.stringify({ a: [1, { b: 'c' }], d: true }));
        const words = 'the quick brown fox'.split(' ').map((w) => w.toUpperCase()).filter((w) => w.length > 3).sort().join('-');
        words.replace(/[A-Z]+/g, (m) => m.toLowerCase()).match(/(\w)-(\w)/);
        new Date(2020, 1, 1).toISOString();
        if (thorough) {
            new Date(0).toLocaleDateString('en-US');
            new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).format(1234.5);
            new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(0);
            (1234.5).toLocaleString();
            ['b', 'a'].sort((x, y) => x.localeCompare(y));
        }
        class Base { #x = 1; get x() { return this.#x; } static of() { return new this(); } }
        class Derived extends Base { y = 2; }
        Derived.of().x;
        const gen = function* () { yield* [1, 2, 3]; };
        let sum = 0;
        for (const n of gen()) sum += n;
        const { a, ...rest } = data;
        void [...a, ...Object.entries(rest), sum, Object.groupBy([1, 2], (n) => n % 2)];
        // The whole way of a program, but for the frames.
        const work = async () => {
            await 0;
            const all = await Promise.all([1, 2, 3].map(async (n) => n * 2));
            await Promise.allSettled([Promise.reject(new Error('x')), rt.fetch().catch(() => 0)]);
            for await (const n of (async function* () { yield 1; })()) sum += n;
            return all;
        };
        PromiseThen(work(), (v) => rt.encode(v, 1000, 8));
        rt.instantiate(index, 'warm', async ($ns, $export, $go) => {
            $export({ x: () => 1 }, []);
            await $go();
            return 1;
        }, [], false);
        rt.link([index]);
        rt.go(index);
        rt.warmCalls(thorough ? 250 : 1);
    };
    const PromiseThen = p.PromiseThen;
})
