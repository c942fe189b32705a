// console, timers, queueMicrotask, performance, Math.random.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { StringReplaceAll, StringPadEnd, StringRepeat, StringSlice, ReflectApply, TypeError, String } = p;
    const [DEBUG, INFO, WARN, ERROR] = [0, 1, 2, 3];

    let indent = '';
    const counts = new p.SafeMap();
    const marks = new p.SafeMap();

    const write = (level, text) => {
        if (indent !== '') text = indent + StringReplaceAll(text, '\n', '\n' + indent);
        host.log(level, text);
    };
    // Formatting may be slow, or run into an agent's getter: not for lines that nobody will see.
    const print = (level, args) => {
        if (host.logOpen()) write(level, rt.format(args));
    };
    const labelOf = (label) => (label === undefined ? 'default' : String(label));
    const elapsed = (label) => {
        const ms = host.now() - marks.get(label);
        return `${label}: ${p.NumberToFixed(ms, 1)}ms`;
    };

    // A value's columns: own enumerable data properties of an object, else the value itself.
    const cell = (v) => rt.inspect(v, { __proto__: null, depth: 0, compact: true });
    const rowsOf = (data) => {
        const rows = p.list();
        const add = (k, v) => {
            if (rows.length < 200) rows[rows.length] = { __proto__: null, k, v };
        };
        if (p.isMap(data)) p.MapForEach(data, (v, k) => add(cell(k), v));
        else if (p.isSet(data)) {
            let i = 0;
            p.SetForEach(data, (v) => add(String(i++), v));
        } else {
            const keys = p.ObjectKeys(data);
            for (let i = 0; i < keys.length && i < 200; i++) add(keys[i], data[keys[i]]);
        }
        return rows;
    };
    const table = (data, only) => {
        const rows = rowsOf(data);
        const columns = p.list();
        const known = new p.SafeMap();
        const column = (name) => {
            if (!known.has(name) && columns.length < 30) {
                known.set(name, columns.length);
                columns[columns.length] = name;
            }
        };
        let values = false;
        if (only) for (let i = 0; i < only.length; i++) column(String(only[i]));
        const cells = p.list();
        for (let r = 0; r < rows.length; r++) {
            const v = rows[r].v;
            const line = new p.SafeMap();
            if (p.isObject(v) && typeof v !== 'function') {
                const keys = p.ObjectKeys(v);
                for (let i = 0; i < keys.length && i < 30; i++) {
                    if (!only) column(keys[i]);
                    if (known.has(keys[i])) line.set(keys[i], cell(v[keys[i]]));
                }
            } else {
                values = true;
                line.set(table, cell(v)); // a key no column can have
            }
            cells[cells.length] = line;
        }
        const heads = p.list();
        heads[0] = '(index)';
        for (let i = 0; i < columns.length; i++) heads[i + 1] = columns[i];
        if (values) heads[heads.length] = 'Values';
        const textAt = (r, c) => {
            if (c === 0) return rows[r].k;
            if (c <= columns.length) return cells[r].get(columns[c - 1]) ?? '';
            return cells[r].get(table) ?? '';
        };
        const widths = p.list();
        for (let c = 0; c < heads.length; c++) {
            widths[c] = heads[c].length;
            for (let r = 0; r < rows.length; r++) widths[c] = p.MathMax(widths[c], textAt(r, c).length);
        }
        const rule = (left, mid, right) => {
            let s = left;
            for (let c = 0; c < heads.length; c++) s += (c ? mid : '') + StringRepeat('─', widths[c] + 2);
            return s + right;
        };
        const line = (get) => {
            let s = '│';
            for (let c = 0; c < heads.length; c++) s += ' ' + StringPadEnd(get(c), widths[c]) + ' │';
            return s;
        };
        let out = rule('┌', '┬', '┐') + '\n' + line((c) => heads[c]) + '\n' + rule('├', '┼', '┤');
        for (let r = 0; r < rows.length; r++) out += '\n' + line((c) => textAt(r, c));
        return out + '\n' + rule('└', '┴', '┘');
    };

    const methods = {
        debug(...args) {
            print(DEBUG, args);
        },
        log(...args) {
            print(INFO, args);
        },
        info(...args) {
            print(INFO, args);
        },
        warn(...args) {
            print(WARN, args);
        },
        error(...args) {
            print(ERROR, args);
        },
        trace(...args) {
            if (!host.logOpen()) return;
            const e = new p.Error(rt.format(args));
            e.name = 'Trace';
            write(ERROR, rt.errorText(e));
        },
        dir(value, options) {
            if (host.logOpen()) write(INFO, rt.inspect(value, options));
        },
        dirxml(...args) {
            print(INFO, args);
        },
        table(data, only) {
            if (!host.logOpen()) return;
            if (!p.isObject(data)) print(INFO, [data]);
            else write(INFO, table(data, p.ArrayIsArray(only) ? only : undefined));
        },
        group(...args) {
            if (args.length > 0) print(INFO, args);
            if (indent.length < 40) indent += '  ';
        },
        groupCollapsed(...args) {
            if (args.length > 0) print(INFO, args);
            if (indent.length < 40) indent += '  ';
        },
        groupEnd() {
            indent = StringSlice(indent, 2);
        },
        count(label) {
            label = labelOf(label);
            const n = (counts.get(label) ?? 0) + 1;
            counts.set(label, n);
            write(INFO, `${label}: ${n}`);
        },
        countReset(label) {
            label = labelOf(label);
            if (!counts.delete(label)) write(WARN, `Count for '${label}' does not exist`);
        },
        time(label) {
            label = labelOf(label);
            if (marks.has(label)) write(WARN, `Label '${label}' already exists for console.time()`);
            else marks.set(label, host.now());
        },
        timeLog(label, ...args) {
            label = labelOf(label);
            if (!marks.has(label)) write(WARN, `No such label '${label}' for console.timeLog()`);
            else write(INFO, elapsed(label) + (args.length ? ' ' + rt.format(args) : ''));
        },
        timeEnd(label) {
            label = labelOf(label);
            if (!marks.has(label)) write(WARN, `No such label '${label}' for console.timeEnd()`);
            else {
                write(INFO, elapsed(label));
                marks.delete(label);
            }
        },
        assert(ok, ...args) {
            if (ok) return;
            if (typeof args[0] === 'string') args[0] = 'Assertion failed: ' + args[0];
            else args = p.ArrayConcat(['Assertion failed'], args);
            print(ERROR, args);
        },
    };
    const console = {};
    rt.define(console, methods, true);
    p.ObjectDefineProperty(console, p.SymbolToStringTag, { __proto__: null, value: 'console', configurable: true });
    rt.console = console;

    // A promise that failed while nobody listened. The program goes on; the line says where to look.
    rt.rejected = (promise, reason) => {
        const text = p.isError(reason) ? rt.errorText(reason) : rt.inspect(reason);
        host.log(ERROR, 'Unhandled rejection (is an `await` missing?): ' + text, true);
    };

    // ---- timers ----

    const timers = new p.SafeMap();
    const set = (name, fn, delay, args, repeat) => {
        if (typeof fn !== 'function') throw new TypeError(`${name} needs a function, not ${fn === null ? 'null' : typeof fn}`);
        const id = host.timer(delay, repeat);
        if (id < 0) throw rt.limitError('too many timers are pending', 'timers', 100000, 'timers', 'Await some of them before setting more.');
        timers.set(id, { __proto__: null, fn, args, repeat });
        return id;
    };
    const clear = (id) => {
        id = p.isObject(id) ? NaN : +id;
        if (timers.delete(id)) host.cancel(id);
    };
    rt.fire = (id) => {
        const t = timers.get(id);
        if (t === undefined) return;
        if (!t.repeat) timers.delete(id);
        try {
            ReflectApply(t.fn, undefined, t.args);
        } catch (e) {
            rt.uncaught(e);
        }
    };
    // An exception in a callback ends the program, as it does everywhere else.
    rt.uncaught = (e) => host.settled(0, false, e);

    rt.timers = {
        setTimeout(fn, delay, ...args) {
            return set('setTimeout', fn, p.MathMax(0, +delay || 0), args, false);
        },
        setInterval(fn, delay, ...args) {
            return set('setInterval', fn, p.MathMax(0, +delay || 0), args, true);
        },
        setImmediate(fn, ...args) {
            return set('setImmediate', fn, -1, args, false);
        },
        clearTimeout(id) {
            clear(id);
        },
        clearInterval(id) {
            clear(id);
        },
        clearImmediate(id) {
            clear(id);
        },
        queueMicrotask(fn) {
            if (typeof fn !== 'function') throw new TypeError('queueMicrotask needs a function');
            p.PromiseThen(p.PromiseResolve(), () => {
                try {
                    fn();
                } catch (e) {
                    rt.uncaught(e);
                }
            });
        },
    };

    // The clock moves at events only (design, principle 5), and never finer than 0.1 ms.
    rt.performance = p.ObjectCreate({
        now() {
            return p.MathFloor((host.now() - host.origin()) * 10) / 10;
        },
        get timeOrigin() {
            return p.MathFloor(host.origin() * 10) / 10;
        },
        mark() {},
        measure() {},
        toJSON() {
            return { timeOrigin: rt.performance.timeOrigin };
        },
    });

    // xoshiro128**: fast in the engine, seeded per execution, so that a replay sees the same numbers.
    let s0 = 1, s1 = 2, s2 = 3, s3 = 4;
    const imul = p.MathImul;
    const next = () => {
        const r = imul(s1, 5);
        const out = imul((r << 7) | (r >>> 25), 9) >>> 0;
        const t = s1 << 9;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = (s3 << 11) | (s3 >>> 21);
        return out;
    };
    rt.seed = (a, b, c, d) => {
        s0 = a | 0;
        s1 = b | 0;
        s2 = c | 0;
        s3 = d | 0 || 1;
    };
    rt.random = () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
})
