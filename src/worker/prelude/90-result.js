// From a value to JSON: results, arguments of tools. docs/runtime.md has the table of what becomes
// what.
//
// In two steps. First a walker of our own makes a plain copy: it stops at a size, at a depth, at a
// cycle, knows the path to the place, and reads each property once. Then the engine's own
// JSON.stringify, which is fast, meets nothing but plain data.
(function (rt) {
    'use strict';
    const p = rt.prim;
    const { JSONStringify, ObjectKeys, ArrayIsArray, ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, ReflectApply, ReflectOwnKeys, String,
        ObjectPrototype, isObject } = p;
    const ArrayPrototype = p.Array.prototype;
    const identifier = /^[A-Za-z_$][\w$]*$/;
    const RESULT = 'the result';
    const STATE = (rt.STATE = '`state`'); // stricter: the next program finds it as it was left, or not at all
    const NOTHING = {}; // what JSON has no word for: undefined, functions, symbols

    // May the copies be ordinary arrays? Not if a program put indices or toJSON on the prototypes.
    const arraysAreClean = () => {
        if (ObjectGetPrototypeOf(ArrayPrototype) !== ObjectPrototype || 'toJSON' in ArrayPrototype) return false;
        const first = (o) => p.StringCharCodeAt(String(ReflectOwnKeys(o)[0]), 0); // indices come first
        const isDigit = (c) => c >= 48 && c <= 57;
        return !isDigit(first(ArrayPrototype)) && !isDigit(first(ObjectPrototype));
    };

    // One copy at a time, so its state is in plain variables: this is the hottest code of the runtime.
    let what, bytes, depth, left, steps, clean;
    let level = 0; // containers that are open
    const open = p.list(); // they themselves, outermost first
    const path = p.list(); // path[i]: under which key open[i] stands
    let at; // the key that is being read

    const where = () => {
        let s = '$';
        const add = (k) => {
            if (k === undefined) return;
            s += typeof k === 'number' ? `[${k}]` : p.RegExpTest(identifier, k) ? '.' + k : `[${JSONStringify(p.StringSlice(k, 0, 100))}]`;
        };
        for (let i = 0; i < level && s.length < 200; i++) add(path[i]);
        add(at);
        return p.StringSlice(s, 0, 300);
    };
    const tooLarge = () => {
        const limit = what === RESULT ? 'result' : what === STATE ? 'state' : 'arguments';
        const advice =
            what === RESULT ? 'Return less: a summary, the first rows, or write the data to a file in /workspace.'
            : what === STATE ? 'Keep less in `state`: large data belongs into a file in /workspace.'
            : 'Send less with one call: only what the tool needs, or several calls with a part each.';
        return rt.limitError(`${what} is larger than ${bytes} bytes (at ${where()})`, limit, bytes, 'bytes', advice);
    };

    const tooDeep = () =>
        rt.limitError(`${what} is nested more than ${depth} levels deep (at ${where()})`, 'json_depth', depth, 'levels',
            'Use a flatter value: the fields that are needed, or a list with references.');
    const cyclic = () =>
        rt.invalid(`${what} refers to itself at ${where()}`,
            'Use a copy with the fields that are needed, without the reference back.');

    // What would come back as something else is not kept silently.
    const lossy = (kind, advice) => rt.invalid(`${what} cannot be kept: ${kind} at ${where()} has no JSON form`, advice);
    const lossyObject = (o) => {
        if (p.isDate(o)) return lossy('a Date', 'Keep a text: date.toISOString().');
        if (p.isMap(o)) return lossy('a Map', 'Keep a plain object: Object.fromEntries(map).');
        if (p.isSet(o)) return lossy('a Set', 'Keep an array: [...set].');
        if (p.ArrayBufferIsView(o) || p.isArrayBuffer(o)) return lossy('an array of bytes', 'Keep an array, Array.from(bytes), or write a file in /workspace.');
        return lossy('an object of a class', 'Keep a plain object with its fields: { ...object }.');
    };

    // `n` is the least that this will take.
    const charge = (n) => {
        if ((left -= n) < 0 || --steps < 0) throw tooLarge();
    };

    const copyOf = (v, key) => {
        at = key;
        switch (typeof v) {
            case 'string':
                charge(v.length + 2);
                return v;
            case 'number':
                charge(1);
                if (what === STATE && v - v !== 0) throw lossy(String(v), 'Keep null, or a text.');
                return v;
            case 'boolean':
                charge(4);
                return v;
            case 'object':
                if (v !== null) return object(v, key);
                charge(4);
                return null;
            case 'function':
                return object(v, key);
            case 'bigint':
                if (what === STATE) throw lossy('a BigInt', 'Keep a text: String(n).');
                return copyOf(p.BigIntToString(v), key);
            default:
                if (what === STATE && v !== undefined) throw lossy('a symbol', 'Keep a text.');
                charge(0);
                return NOTHING;
        }
    };

    const object = (o, key) => {
        const f = o.toJSON;
        if (what === STATE && (typeof o === 'function' || typeof f === 'function'))
            throw typeof o === 'function' ? lossy('a function', 'Keep data: what the function needs, and define it anew in each program.') : lossyObject(o);
        if (typeof f === 'function' && !p.isDate(o)) {
            const v = ReflectApply(f, o, [key === undefined ? '' : String(key)]);
            if (!isObject(v)) return copyOf(v, key);
            o = v;
            at = key;
        }
        if (typeof o === 'function') return NOTHING;
        for (let i = 0; i < level; i++) if (open[i] === o) throw cyclic();
        if (level >= depth) throw tooDeep();
        open[level] = o;
        path[level++] = key;
        at = undefined;
        const copy = ArrayIsArray(o) ? array(o) : container(o);
        level--;
        return copy;
    };

    const list = () => {
        if (clean === undefined) clean = arraysAreClean();
        return clean ? [] : p.list();
    };

    const array = (o) => {
        const out = list();
        const length = o.length;
        charge(2);
        for (let i = 0; i < length; i++) {
            at = i;
            out[i] = item(o[i], i);
        }
        return out;
    };

    const item = (v, i) => {
        charge(1);
        const copy = copyOf(v, i);
        if (copy !== NOTHING) return copy;
        if (what === STATE) throw lossy('undefined in an array', 'Keep null.');
        charge(4);
        return null;
    };

    const members = (o) => {
        const keys = ObjectKeys(o);
        const out = { __proto__: null };
        charge(2);
        for (let i = 0; i < keys.length; i++) {
            const k = (at = keys[i]);
            put(out, k, o[k]);
        }
        return out;
    };

    const put = (out, k, v) => {
        const copy = copyOf(v, k);
        if (copy === NOTHING) return;
        charge(k.length + 4);
        out[k] = copy;
    };

    const container = (o) => {
        const prototype = ObjectGetPrototypeOf(o);
        if (prototype === ObjectPrototype || prototype === null) return members(o);
        if (what === STATE) throw lossyObject(o);
        if (p.isDate(o)) {
            const t = p.DateGetTime(o);
            return copyOf(t !== t ? null : p.DateToISOString(o));
        }
        if (p.isMap(o)) return map(o);
        if (p.isSet(o)) return set(o);
        if (p.ArrayBufferIsView(o) || p.isArrayBuffer(o)) return bytesOf(o);
        if (p.isError(o)) return errorOf(o);
        if (p.isRegExp(o)) return copyOf(p.RegExpToString(o));
        if (p.isNumberObject(o)) return copyOf(p.NumberValueOf(o));
        if (p.isStringObject(o)) return copyOf(p.StringValueOf(o));
        if (p.isBooleanObject(o)) return copyOf(p.BooleanValueOf(o));
        if (p.isBigIntObject(o)) return copyOf(p.BigIntValueOf(o));
        return members(o);
    };

    // An object if all keys are strings, else pairs.
    const map = (o) => {
        let plain = true;
        p.MapForEach(o, (_, k) => {
            if (typeof k !== 'string') plain = false;
        });
        const out = plain ? { __proto__: null } : list();
        let i = 0;
        charge(2);
        p.MapForEach(o, (v, k) => {
            if (plain) return put(out, k, v);
            const pair = list();
            open[level] = undefined;
            path[level++] = i;
            pair[0] = item(k, 0);
            pair[1] = item(v, 1);
            level--;
            out[i++] = pair;
        });
        return out;
    };

    const set = (o) => {
        const out = list();
        let i = 0;
        charge(2);
        p.SetForEach(o, (v) => {
            out[i] = item(v, i);
            i++;
        });
        return out;
    };

    // Numbers for typed arrays, base64 for raw buffers.
    const bytesOf = (o) => {
        if (p.isTypedArray(o)) {
            const out = list();
            const length = p.TypedArrayLength(o);
            charge(2);
            for (let i = 0; i < length; i++) out[i] = item(o[i], i);
            return out;
        }
        const view = p.isDataView(o)
            ? new p.Uint8Array(p.DataViewBuffer(o), p.DataViewByteOffset(o), p.DataViewByteLength(o))
            : new p.Uint8Array(o);
        if (view.length > left) throw tooLarge();
        return copyOf(p.ToBase64(view));
    };

    const errorOf = (o) => {
        const d = rt.describe(o);
        const out = { __proto__: null };
        put(out, 'name', d.name);
        put(out, 'message', d.message);
        const keys = ObjectKeys(o);
        for (let i = 0; i < keys.length; i++) {
            const k = (at = keys[i]);
            if (k !== 'name' && k !== 'message' && k !== 'stack' && k !== 'line' && k !== 'column' && k !== 'sourceURL') put(out, k, o[k]);
        }
        const cause = ObjectGetOwnPropertyDescriptor(o, 'cause');
        if (cause && !cause.enumerable && 'value' in cause) put(out, 'cause', cause.value);
        return out;
    };

    // What a getter, a trap or a toJSON threw becomes an error with the place; ours stay what they are.
    const readable = (e) => {
        if (p.isObject(e) && rt.isBranded(e)) return e;
        const place = where();
        const text = p.isError(e) ? p.StringSlice(rt.describe(e).message, 0, 500) : rt.inspect(e);
        return rt.invalid(`${what} cannot be read at ${place}: ${text}`);
    };

    // A getter of the value may itself make a call, and so come back here: the outer copy's state is kept.
    let busy = false;
    const nested = (value, n, d, name) => {
        const saved = { __proto__: null, what, bytes, depth, left, steps, clean, level, at, open: p.ArraySlice(open, 0, level), path: p.ArraySlice(path, 0, level) };
        try {
            return start(value, n, d, name);
        } finally {
            ({ what, bytes, depth, left, steps, clean, level, at } = saved);
            for (let i = 0; i < level; i++) {
                open[i] = saved.open[i];
                path[i] = saved.path[i];
            }
        }
    };
    const start = (value, n, d, name) => {
        what = name;
        bytes = left = n;
        depth = d;
        steps = n + 1000000; // members that leave nothing behind cost as well
        clean = undefined;
        level = 0;
        try {
            return copyOf(value, undefined);
        } catch (e) {
            throw readable(e);
        }
    };

    rt.encode = (value, n, d, name = RESULT) => {
        let copy;
        if (busy) copy = nested(value, n, d, name);
        else {
            busy = true;
            try {
                copy = start(value, n, d, name);
            } finally {
                busy = false;
            }
        }
        if (name === STATE && (!isObject(copy) || copy === NOTHING || ArrayIsArray(copy)))
            throw rt.invalid('`state` must stay an object', 'Keep the value in a field: state = { value: ... }.');
        if (copy !== NOTHING) return JSONStringify(copy);
        if (value === undefined) return 'null';
        throw rt.invalid(`${name} is a ${typeof value}, which has no JSON form; return data instead`);
    };
})
