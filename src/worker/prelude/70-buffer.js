// Buffer: the useful part of node's, as a Uint8Array.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, TypeError, RangeError, Uint8Array, StringToLowerCase, StringCharCodeAt, ObjectSetPrototypeOf } = p;

    const encodingOf = (name) => {
        const e = name === undefined || name === null ? 'utf8' : StringToLowerCase(String(name));
        switch (e) {
            case 'utf8':
            case 'utf-8':
                return 'utf8';
            case 'latin1':
            case 'binary':
                return 'latin1';
            case 'ucs2':
            case 'ucs-2':
            case 'utf16le':
            case 'utf-16le':
                return 'utf16le';
            case 'hex':
            case 'base64':
            case 'base64url':
            case 'ascii':
                return e;
            default: {
                const error = new TypeError(`Unknown encoding: ${name}`);
                error.code = 'ERR_UNKNOWN_ENCODING';
                throw error;
            }
        }
    };

    const base64 = /[^A-Za-z0-9+/\-_]/g;
    const encode = (text, encoding) => {
        switch (encodingOf(encoding)) {
            case 'utf8':
                return host.encode(text);
            case 'hex': {
                let n = 0;
                while (n + 1 < text.length && p.RegExpTest(/^[0-9a-fA-F]{2}$/, p.StringSlice(text, n, n + 2))) n += 2;
                return p.FromHex(p.StringSlice(text, 0, n));
            }
            case 'base64':
            case 'base64url': {
                const end = p.StringIndexOf(text, '=');
                let s = p.StringReplace(end < 0 ? text : p.StringSlice(text, 0, end), base64, '');
                s = p.StringReplaceAll(p.StringReplaceAll(s, '-', '+'), '_', '/');
                if (s.length % 4 === 1) s = p.StringSlice(s, 0, -1);
                return p.FromBase64(s, { __proto__: null, lastChunkHandling: 'loose' });
            }
            case 'utf16le': {
                const b = new Uint8Array(text.length * 2);
                for (let i = 0; i < text.length; i++) {
                    const c = StringCharCodeAt(text, i);
                    b[2 * i] = c;
                    b[2 * i + 1] = c >> 8;
                }
                return b;
            }
            default: {
                const b = new Uint8Array(text.length);
                for (let i = 0; i < text.length; i++) b[i] = StringCharCodeAt(text, i);
                return b;
            }
        }
    };
    const decode = (bytes, encoding) => {
        switch (encodingOf(encoding)) {
            case 'utf8':
                return host.decode(bytes, false);
            case 'hex':
                return p.ToHex(bytes);
            case 'base64':
                return p.ToBase64(bytes);
            case 'base64url':
                return p.ToBase64(bytes, { __proto__: null, alphabet: 'base64url', omitPadding: true });
            case 'utf16le': {
                const units = new p.Uint16Array(bytes.length >> 1);
                for (let i = 0; i < units.length; i++) units[i] = bytes[2 * i] | (bytes[2 * i + 1] << 8);
                return rt.fromUnits(units, units.length);
            }
            case 'ascii': {
                const units = new p.Uint16Array(bytes);
                for (let i = 0; i < units.length; i++) units[i] &= 0x7f;
                return rt.fromUnits(units, units.length);
            }
            default:
                return rt.fromUnits(new p.Uint16Array(bytes), bytes.length);
        }
    };

    // The same bytes, seen as a Buffer.
    const asBuffer = (bytes) => ObjectSetPrototypeOf(bytes, Buffer.prototype);
    const sizeOf = (size) => {
        if (typeof size !== 'number') throw new TypeError(`the size must be a number, not ${typeof size}`);
        if (!(size >= 0 && size <= 0x7fffffff)) throw new RangeError(`the size is out of range: ${size}`);
        return p.MathTrunc(size);
    };

    class Buffer extends Uint8Array {
        static from(value, encodingOrOffset, length) {
            if (typeof value === 'string') return asBuffer(encode(value, encodingOrOffset));
            if (p.isArrayBuffer(value)) return asBuffer(new Uint8Array(value, encodingOrOffset, length));
            if (p.isTypedArray(value)) return asBuffer(new Uint8Array(value));
            if (p.ArrayIsArray(value)) return asBuffer(new Uint8Array(value));
            if (p.isObject(value)) {
                if (value.type === 'Buffer' && p.ArrayIsArray(value.data)) return asBuffer(new Uint8Array(value.data));
                if (p.isStringObject(value)) return asBuffer(encode(p.StringValueOf(value), encodingOrOffset));
                if (typeof value.length === 'number') return asBuffer(new Uint8Array(value));
            }
            throw new TypeError(`Buffer.from takes a string, bytes or an array, not ${value === null ? 'null' : typeof value}`);
        }
        static alloc(size, fill, encoding) {
            const b = asBuffer(new Uint8Array(sizeOf(size)));
            return fill === undefined || fill === 0 ? b : b.fill(fill, 0, b.length, encoding);
        }
        static allocUnsafe(size) {
            return asBuffer(new Uint8Array(sizeOf(size)));
        }
        static isBuffer(value) {
            return p.isObject(value) && p.ObjectIsPrototypeOf(Buffer.prototype, value);
        }
        static isEncoding(name) {
            try {
                encodingOf(name);
                return typeof name === 'string';
            } catch {
                return false;
            }
        }
        static byteLength(value, encoding) {
            if (typeof value === 'string') return encode(value, encoding).length;
            return rt.bytesOf(value).length;
        }
        static concat(list, total) {
            let n = 0;
            for (let i = 0; i < list.length; i++) n += p.TypedArrayLength(list[i]);
            if (total !== undefined) n = sizeOf(total);
            const out = new Uint8Array(n);
            let at = 0;
            for (let i = 0; i < list.length && at < n; i++) {
                const part = p.TypedArrayLength(list[i]) > n - at ? p.TypedArraySubarray(list[i], 0, n - at) : list[i];
                p.TypedArraySet(out, part, at);
                at += p.TypedArrayLength(part);
            }
            return asBuffer(out);
        }
        static compare(a, b) {
            const n = p.MathMin(a.length, b.length);
            for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
            return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
        }

        toString(encoding, start = 0, end = this.length) {
            start = p.MathMax(0, start | 0);
            end = p.MathMin(this.length, end);
            if (start >= end) return '';
            const part = start === 0 && end === this.length ? this : p.TypedArraySubarray(this, start, end);
            return decode(part, encoding);
        }
        toJSON() {
            const data = [];
            for (let i = 0; i < this.length; i++) data[i] = this[i];
            return { type: 'Buffer', data };
        }
        equals(other) {
            return Buffer.compare(this, other) === 0;
        }
        compare(other) {
            return Buffer.compare(this, other);
        }
        slice(start, end) {
            return asBuffer(p.TypedArraySubarray(this, start, end));
        }
        subarray(start, end) {
            return asBuffer(p.TypedArraySubarray(this, start, end));
        }
        write(text, offset = 0, length, encoding) {
            if (typeof offset === 'string') [encoding, offset] = [offset, 0];
            else if (typeof length === 'string') [encoding, length] = [length, undefined];
            let bytes = encode(String(text), encoding);
            const room = p.MathMin(this.length - offset, length ?? Infinity);
            if (bytes.length > room) bytes = p.TypedArraySubarray(bytes, 0, room);
            p.TypedArraySet(this, bytes, offset);
            return bytes.length;
        }
        fill(value, start = 0, end = this.length, encoding) {
            if (typeof start === 'string') [encoding, start, end] = [start, 0, this.length];
            if (typeof value === 'number') {
                p.TypedArrayFill(this, value & 255, start, end);
                return this;
            }
            const bytes = typeof value === 'string' ? encode(value, encoding) : rt.bytesOf(value);
            for (let i = start; i < end; i++) this[i] = bytes.length === 0 ? 0 : bytes[(i - start) % bytes.length];
            return this;
        }
        copy(target, at = 0, start = 0, end = this.length) {
            let part = p.TypedArraySubarray(this, start, end);
            const room = target.length - at;
            if (part.length > room) part = p.TypedArraySubarray(part, 0, p.MathMax(0, room));
            p.TypedArraySet(target, part, at);
            return part.length;
        }
        indexOf(value, from = 0, encoding) {
            if (typeof from === 'string') [encoding, from] = [from, 0];
            const find = typeof value === 'number' ? new Uint8Array([value]) : typeof value === 'string' ? encode(value, encoding) : rt.bytesOf(value);
            if (from < 0) from = p.MathMax(0, this.length + from);
            outer: for (let i = from; i + find.length <= this.length; i++) {
                for (let k = 0; k < find.length; k++) if (this[i + k] !== find[k]) continue outer;
                return i;
            }
            return -1;
        }
        includes(value, from, encoding) {
            return this.indexOf(value, from, encoding) >= 0;
        }
    }

    // readUInt16LE and the like: name, bytes, DataView's method.
    const view = (b) => new p.DataView(p.TypedArrayBuffer(b), p.TypedArrayByteOffset(b), p.TypedArrayByteLength(b));
    const numbers = [
        ['Int8', 1], ['UInt8', 1, 'Uint8'], ['Int16', 2], ['UInt16', 2, 'Uint16'], ['Int32', 4], ['UInt32', 4, 'Uint32'],
        ['Float', 4, 'Float32'], ['Double', 8, 'Float64'], ['BigInt64', 8], ['BigUInt64', 8, 'BigUint64'],
    ];
    for (const [name, bytes, dataView = name] of numbers) {
        const get = p.uncurry(p.DataView.prototype['get' + dataView]);
        const set = p.uncurry(p.DataView.prototype['set' + dataView]);
        for (const order of bytes === 1 ? [''] : ['LE', 'BE']) {
            rt.define(Buffer.prototype, {
                ['read' + name + order]: { f(offset = 0) { return get(view(this), offset, order === 'LE'); } }.f,
                ['write' + name + order]: { f(value, offset = 0) { set(view(this), offset, value, order === 'LE'); return offset + bytes; } }.f,
            });
        }
    }
    p.ObjectDefineProperty(Buffer, 'poolSize', { __proto__: null, value: 8192, writable: true });

    rt.Buffer = Buffer;
    rt.asBuffer = asBuffer;
    rt.nodeBuffer = {
        Buffer,
        kMaxLength: 0x7fffffff,
        constants: { MAX_LENGTH: 0x7fffffff, MAX_STRING_LENGTH: 0x1fffffe8 },
        isUtf8: (b) => host.decode(rt.bytesOf(b), true) !== undefined,
        atob: rt.atob,
        btoa: rt.btoa,
    };
})
