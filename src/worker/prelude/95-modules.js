// Modules: namespaces, exports, and the turn of each body. modules.c decides the order.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { ObjectCreate, ObjectDefineProperty, ObjectKeys, PromiseThen, Promise, String } = p;

    const records = new p.SafeMap();
    const record = (index) => {
        let m = records.get(index);
        if (m === undefined) {
            const ns = ObjectCreate(null);
            ObjectDefineProperty(ns, p.SymbolToStringTag, { __proto__: null, value: 'Module' });
            m = { __proto__: null, index, ns, own: new p.SafeMap(), stars: p.list(), deps: p.list(), start: undefined, isIndex: false };
            records.set(index, m);
        }
        return m;
    };

    let inputs;
    rt.setInputs = (value) => {
        inputs = value;
    };

    const importer = (index) =>
        rt.native((specifier) =>
            new Promise((resolve, reject) => {
                const text = typeof specifier === 'string' ? specifier : String(specifier);
                host.importModule(index, text, resolve, reject);
            }));

    rt.instantiate = (index, name, fn, deps, callable) => {
        const m = record(index);
        m.isIndex = p.StringStartsWith(name, '/mcp-servers/') && p.StringEndsWith(name, '/index.ts');
        const spaces = [];
        for (let i = 0; i < deps.length; i++) {
            m.deps[i] = deps[i];
            spaces[i] = record(deps[i]).ns;
        }
        const turn = new Promise((resolve) => {
            m.start = resolve;
        });
        const declare = rt.native((getters, stars) => {
            const keys = ObjectKeys(getters);
            for (let i = 0; i < keys.length; i++) m.own.set(keys[i], rt.native(getters[keys[i]]));
            if (stars) for (let i = 0; i < stars.length; i++) m.stars[m.stars.length] = m.deps[stars[i]];
        });
        const go = rt.native(() => turn);
        const meta = ObjectCreate(null);
        meta.url = 'file://' + (name === 'program.ts' ? '/workspace/program.ts' : name);
        let done = fn(spaces, declare, go, importer(index), meta);
        // What a program exports as default, or a bare function, is called with the inputs.
        if (callable) done = PromiseThen(done, (f) => (typeof f === 'function' ? f(inputs) : f));
        PromiseThen(done, (value) => host.settled(index, true, value), (error) => host.settled(index, false, error));
    };
    rt.go = (index) => {
        record(index).start();
    };
    rt.namespaceOf = (index) => record(index).ns;

    // Own exports, then those of `export *`; a name that two stars give differently is nobody's.
    const exportsOf = (m, seen) => {
        if (seen.has(m)) return new p.SafeMap();
        seen.add(m);
        const all = new p.SafeMap();
        const clash = new p.SafeSet();
        for (let i = 0; i < m.stars.length; i++) {
            exportsOf(record(m.stars[i]), seen).forEach((get, name) => {
                if (name === 'default' || clash.has(name)) return;
                const other = all.get(name);
                if (other !== undefined && other !== get) {
                    clash.add(name);
                    all.delete(name);
                } else all.set(name, get);
            });
        }
        m.own.forEach((get, name) => all.set(name, get));
        seen.delete(m);
        return all;
    };
    rt.link = (indices) => {
        for (let i = 0; i < indices.length; i++) {
            const m = record(indices[i]);
            const all = exportsOf(m, new p.SafeSet());
            const names = p.list();
            all.forEach((_, name) => {
                names[names.length] = name;
            });
            p.ArraySort(names);
            for (let k = 0; k < names.length; k++)
                ObjectDefineProperty(m.ns, names[k], { __proto__: null, get: all.get(names[k]), enumerable: true });
            // `import github from 'mcp-servers/github'` is what people write, too.
            if (m.isIndex && !all.has('default'))
                ObjectDefineProperty(m.ns, 'default', { __proto__: null, value: m.ns });
            p.ObjectPreventExtensions(m.ns);
        }
    };
    rt.exportsOf = (index) => {
        return p.ArrayJoin(p.ObjectGetOwnPropertyNames(record(index).ns), ', ');
    };

    // The file of a tool: see wrapper.c.
    rt.wrapper = (index, name, server, tool) => {
        const m = record(index);
        const get = rt.native(rt.toolGetter(server, tool, name));
        m.own.set(name, get);
        m.own.set('default', get);
    };

    // A module of the runtime: an object's properties, and the object itself as default.
    rt.builtin = (index, name) => {
        const m = record(index);
        const object = rt.builtins[name]();
        const keys = ObjectKeys(object);
        for (let i = 0; i < keys.length; i++) {
            const value = object[keys[i]];
            m.own.set(keys[i], rt.native(() => value));
        }
        if (!m.own.has('default')) m.own.set('default', rt.native(() => object));
    };
})
