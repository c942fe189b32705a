// From a value to JSON: results, arguments of tools. docs/runtime.md has the table of what becomes
// what.
//
// A walker of our own instead of JSON.stringify, because it has to stop in the middle: at a size, at
// a depth, at a cycle, and with the path to the place. Each property is read once.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { JSONStringify, ObjectKeys, ArrayIsArray, ObjectGetOwnPropertyDescriptor, NumberIsFinite, ReflectApply, String } = p;

    class Encoder {
        constructor(bytes, depth) {
            this.bytes = bytes;
            this.depth = depth;
            this.left = bytes;
            this.steps = bytes + 1000000; // members that leave nothing behind cost as well
            this.path = p.list();
            this.open = new p.SafeSet();
            this.out = '';
        }

        where() {
            let s = '$';
            for (let i = 0; i < this.path.length && i < 50; i++) {
                const k = this.path[i];
                s += typeof k === 'number' ? `[${k}]` : /^[A-Za-z_$][\w$]*$/.test(k) ? '.' + k : `[${JSONStringify(p.StringSlice(k, 0, 100))}]`;
            }
            return s;
        }

        put(text) {
            this.left -= text.length;
            if (this.left < 0) this.tooLarge();
            this.out += text;
        }

        tooLarge() {
            throw rt.limitError(`the result is larger than ${this.bytes} bytes (at ${this.where()})`, 'result', this.bytes, 'bytes',
                'Return less: a summary, the first rows, or write the data to a file in /workspace.');
        }

        // True if something was written; false for what JSON has no word for (undefined, functions).
        value(v, key) {
            if (--this.steps < 0) this.tooLarge();
            if (p.isObject(v)) {
                v = this.toJSON(v, key);
                if (p.isObject(v)) return typeof v === 'function' ? false : this.object(v);
            }
            switch (typeof v) {
                case 'string':
                    if (v.length > this.left) this.tooLarge();
                    this.put(JSONStringify(v));
                    return true;
                case 'number':
                    this.put(NumberIsFinite(v) ? p.NumberToString(v) : 'null');
                    return true;
                case 'boolean':
                    this.put(v ? 'true' : 'false');
                    return true;
                case 'bigint':
                    this.put('"' + p.BigIntToString(v) + '"');
                    return true;
                case 'object':
                    this.put('null');
                    return true;
                default:
                    return false;
            }
        }

        toJSON(v, key) {
            let f;
            try {
                f = v.toJSON;
                if (typeof f !== 'function' || p.isDate(v)) return v;
                return ReflectApply(f, v, [String(key)]);
            } catch (e) {
                throw this.failed(e);
            }
        }

        failed(e) {
            if (p.isObject(e) && e === this.error) return e;
            const text = p.isError(e) ? p.StringSlice(rt.describe(e).message, 0, 500) : rt.inspect(e);
            this.error = rt.invalid(`the result cannot be read at ${this.where()}: ${text}`);
            return this.error;
        }

        object(o) {
            if (this.open.has(o)) throw rt.invalid(`the result refers to itself at ${this.where()}`);
            if (this.path.length >= this.depth)
                throw rt.invalid(`the result is nested more than ${this.depth} levels deep (at ${p.StringSlice(this.where(), 0, 200)})`);
            this.open.add(o);
            this.container(o);
            this.open.delete(o);
            return true;
        }

        container(o) {
            if (ArrayIsArray(o)) return this.array(o);
            if (host.proxyTarget(o) !== undefined) return this.members(o);
            if (p.isDate(o)) {
                const t = p.DateGetTime(o);
                return this.put(t !== t ? 'null' : '"' + p.DateToISOString(o) + '"');
            }
            if (p.isMap(o)) return this.map(o);
            if (p.isSet(o)) return this.set(o);
            if (p.ArrayBufferIsView(o) || p.isArrayBuffer(o)) return this.bytesOf(o);
            if (p.isError(o)) return this.errorOf(o);
            if (p.isRegExp(o)) return this.put(JSONStringify(p.RegExpToString(o)));
            if (p.isNumberObject(o)) return this.value(p.NumberValueOf(o), '');
            if (p.isStringObject(o)) return this.value(p.StringValueOf(o), '');
            if (p.isBooleanObject(o)) return this.value(p.BooleanValueOf(o), '');
            if (p.isBigIntObject(o)) return this.value(p.BigIntValueOf(o), '');
            return this.members(o);
        }

        item(v, i) {
            const depth = this.path.length;
            this.path[depth] = i;
            if (!this.value(v, i)) this.put('null');
            this.path.length = depth;
        }

        array(o) {
            const length = this.read(o, 'length');
            this.put('[');
            for (let i = 0; i < length; i++) {
                if (i > 0) this.put(',');
                this.item(this.read(o, i), i);
            }
            this.put(']');
        }

        read(o, k) {
            try {
                return o[k];
            } catch (e) {
                this.path[this.path.length] = k;
                throw this.failed(e);
            }
        }

        // `"key":value`, or nothing if the value has no JSON.
        member(k, v, first) {
            const depth = this.path.length;
            this.path[depth] = k;
            const mark = this.out;
            const left = this.left;
            this.put((first ? '' : ',') + JSONStringify(k) + ':');
            const written = this.value(v, k);
            if (!written) {
                this.out = mark;
                this.left = left;
            }
            this.path.length = depth;
            return written;
        }

        members(o) {
            let keys;
            try {
                keys = ObjectKeys(o);
            } catch (e) {
                throw this.failed(e);
            }
            this.put('{');
            let first = true;
            for (let i = 0; i < keys.length; i++) if (this.member(keys[i], this.read(o, keys[i]), first)) first = false;
            this.put('}');
        }

        map(o) {
            let plain = true;
            p.MapForEach(o, (_, k) => {
                if (typeof k !== 'string') plain = false;
            });
            let first = true;
            let i = 0;
            this.put(plain ? '{' : '[');
            p.MapForEach(o, (v, k) => {
                if (plain) {
                    if (this.member(k, v, first)) first = false;
                    return;
                }
                if (i > 0) this.put(',');
                const depth = this.path.length;
                this.path[depth] = i++;
                this.put('[');
                this.item(k, 0);
                this.put(',');
                this.item(v, 1);
                this.put(']');
                this.path.length = depth;
            });
            this.put(plain ? '}' : ']');
        }

        set(o) {
            let i = 0;
            this.put('[');
            p.SetForEach(o, (v) => {
                if (i > 0) this.put(',');
                this.item(v, i++);
            });
            this.put(']');
        }

        // Numbers for typed arrays, base64 for raw buffers.
        bytesOf(o) {
            if (p.isTypedArray(o)) {
                const length = p.TypedArrayLength(o);
                this.put('[');
                for (let i = 0; i < length; i++) {
                    if (i > 0) this.put(',');
                    this.value(o[i], i);
                }
                return this.put(']');
            }
            const view = p.isDataView(o)
                ? new p.Uint8Array(p.DataViewBuffer(o), p.DataViewByteOffset(o), p.DataViewByteLength(o))
                : new p.Uint8Array(o);
            if (view.length > this.left) this.tooLarge();
            this.put('"' + p.ToBase64(view) + '"');
        }

        errorOf(o) {
            const d = rt.describe(o);
            this.put('{"name":' + JSONStringify(d.name) + ',"message":' + JSONStringify(d.message));
            const keys = ObjectKeys(o);
            for (let i = 0; i < keys.length; i++) {
                const k = keys[i];
                if (k !== 'name' && k !== 'message' && k !== 'stack' && k !== 'line' && k !== 'column' && k !== 'sourceURL')
                    this.member(k, this.read(o, k), false);
            }
            const cause = ObjectGetOwnPropertyDescriptor(o, 'cause');
            if (cause && !cause.enumerable && 'value' in cause) this.member('cause', cause.value, false);
            this.put('}');
        }
    }

    rt.encode = (value, bytes, depth) => {
        const e = new Encoder(bytes, depth);
        if (e.value(value, '')) return e.out;
        if (value === undefined) return 'null';
        throw rt.invalid(`the result is a ${typeof value}, which has no JSON form; return data instead`);
    };
})
