// structuredClone.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { ObjectKeys, ObjectGetOwnPropertyDescriptor, ObjectDefineProperty, ArrayIsArray } = p;

    const DEPTH = 2000;
    const typed = { __proto__: null };
    for (const name of ['Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array',
        'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array']) typed[name] = p[name];
    if (p.global.Float16Array) typed.Float16Array = p.global.Float16Array;
    const errors = { __proto__: null };
    for (const name of ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError']) errors[name] = p[name];

    const fail = (what) => new rt.DOMException(`${what} could not be cloned.`, 'DataCloneError');
    const put = (o, k, value) => ObjectDefineProperty(o, k, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

    const buffer = (b, seen) => {
        let copy = seen.get(b);
        if (copy === undefined) seen.set(b, (copy = p.ArrayBufferSlice(b, 0)));
        return copy;
    };

    const clone = (v, seen, depth) => {
        if (typeof v === 'symbol') throw fail(p.SymbolToString(v));
        if (typeof v === 'function') throw fail(p.StringSlice(rt.inspect(v), 0, 100));
        if (!p.isObject(v)) return v;
        const known = seen.get(v);
        if (known !== undefined) return known;
        if (depth > DEPTH) throw new p.RangeError('structuredClone: the value is nested too deeply');
        const keep = (copy) => (seen.set(v, copy), copy);

        if (host.proxyTarget(v) !== undefined) throw fail('#<Proxy>');
        if (ArrayIsArray(v)) {
            const copy = keep([]);
            copy.length = v.length;
            return members(v, copy, seen, depth);
        }
        if (p.isDate(v)) return keep(new p.Date(p.DateGetTime(v)));
        if (p.isRegExp(v)) return keep(new p.RegExp(p.RegExpSource(v), p.RegExpFlags(v)));
        if (p.isMap(v)) {
            const copy = keep(new p.Map());
            const entries = p.list();
            p.MapForEach(v, (value, k) => {
                entries[entries.length] = k;
                entries[entries.length] = value;
            });
            for (let i = 0; i < entries.length; i += 2) p.MapSet(copy, clone(entries[i], seen, depth + 1), clone(entries[i + 1], seen, depth + 1));
            return copy;
        }
        if (p.isSet(v)) {
            const copy = keep(new p.Set());
            const entries = p.list();
            p.SetForEach(v, (value) => {
                entries[entries.length] = value;
            });
            for (let i = 0; i < entries.length; i++) p.SetAdd(copy, clone(entries[i], seen, depth + 1));
            return copy;
        }
        if (p.isArrayBuffer(v)) return buffer(v, seen);
        if (p.isTypedArray(v)) {
            const C = typed[p.TypedArrayTag(v)] || p.Uint8Array;
            return keep(new C(buffer(p.TypedArrayBuffer(v), seen), p.TypedArrayByteOffset(v), p.TypedArrayLength(v)));
        }
        if (p.isDataView(v)) return keep(new p.DataView(buffer(p.DataViewBuffer(v), seen), p.DataViewByteOffset(v), p.DataViewByteLength(v)));
        if (p.isError(v)) return error(v, keep, seen, depth);
        if (p.isNumberObject(v)) return keep(new p.Number(p.NumberValueOf(v)));
        if (p.isStringObject(v)) return keep(new p.String(p.StringValueOf(v)));
        if (p.isBooleanObject(v)) return keep(new p.Boolean(p.BooleanValueOf(v)));
        if (p.isBigIntObject(v)) return keep(p.Object(p.BigIntValueOf(v)));
        if (p.isPromise(v) || p.isWeakMap(v) || p.isWeakSet(v) || p.isWeakRef(v) || p.isSymbolObject(v)) throw fail(p.StringSlice(rt.inspect(v), 0, 100));
        return members(v, keep({}), seen, depth);
    };

    const members = (v, copy, seen, depth) => {
        const keys = ObjectKeys(v);
        for (let i = 0; i < keys.length; i++) put(copy, keys[i], clone(v[keys[i]], seen, depth + 1));
        return copy;
    };

    // The name decides the kind; message, stack and cause come along.
    const error = (v, keep, seen, depth) => {
        let name = v.name;
        if (typeof name !== 'string') name = 'Error';
        const C = errors[name] || p.Error;
        const message = ObjectGetOwnPropertyDescriptor(v, 'message');
        const copy = keep(message && 'value' in message ? new C(p.String(message.value)) : new C());
        const own = (k, value) => ObjectDefineProperty(copy, k, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
        if (typeof v.stack === 'string') own('stack', v.stack);
        if (ObjectGetOwnPropertyDescriptor(v, 'cause')) own('cause', clone(v.cause, seen, depth + 1));
        return copy;
    };

    rt.structuredClone = function structuredClone(value, options) {
        if (arguments.length === 0) throw new p.TypeError('structuredClone needs a value');
        if (p.isObject(options) && options.transfer && options.transfer.length > 0)
            throw new rt.DOMException('Transferring is not supported; leave out `transfer`.', 'DataCloneError');
        return clone(value, new p.SafeMap(), 0);
    };
})
