// TextEncoder, TextDecoder, atob, btoa.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, TypeError, RangeError, Uint8Array, StringCharCodeAt, StringFromCharCode, ReflectApply } = p;

    // Any kind of bytes as a Uint8Array over the same memory.
    rt.bytesOf = (data, what = 'the data') => {
        if (p.ArrayBufferIsView(data)) {
            if (p.TypedArrayTag(data) === 'Uint8Array') return data;
            if (p.isTypedArray(data)) return new Uint8Array(p.TypedArrayBuffer(data), p.TypedArrayByteOffset(data), p.TypedArrayByteLength(data));
            return new Uint8Array(p.DataViewBuffer(data), p.DataViewByteOffset(data), p.DataViewByteLength(data));
        }
        if (p.isArrayBuffer(data)) return new Uint8Array(data);
        throw new TypeError(`${what} must be an ArrayBuffer or a view of one, not ${data === null ? 'null' : typeof data}`);
    };

    class TextEncoder {
        get encoding() {
            return 'utf-8';
        }
        encode(text = '') {
            return host.encode(String(text));
        }
        encodeInto(text, into) {
            text = String(text);
            const room = p.TypedArrayLength(into);
            let read = 0;
            let written = 0;
            while (read < text.length) {
                let c = p.StringCodePointAt(text, read);
                if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
                const n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
                if (written + n > room) break;
                if (n === 1) into[written] = c;
                else {
                    for (let i = n - 1, rest = c; i >= 0; i--, rest >>>= 6)
                        into[written + i] = i === 0 ? rest | (n === 2 ? 0xc0 : n === 3 ? 0xe0 : 0xf0) : 0x80 | (rest & 0x3f);
                }
                written += n;
                read += n === 4 ? 2 : 1;
            }
            return { read, written };
        }
    }

    const labels = {
        __proto__: null,
        'utf-8': 'utf-8', utf8: 'utf-8', 'unicode-1-1-utf-8': 'utf-8',
        'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', 'ucs-2': 'utf-16le', unicode: 'utf-16le',
        'utf-16be': 'utf-16be',
        latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', ascii: 'windows-1252', 'us-ascii': 'windows-1252', 'windows-1252': 'windows-1252',
        cp1252: 'windows-1252', l1: 'windows-1252',
    };
    // Where windows-1252 differs from the first 256 code points.
    const windows = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
        0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
    ];
    const fromUnits = (units, length) => {
        let s = '';
        for (let i = 0; i < length; i += 4096)
            s += ReflectApply(StringFromCharCode, undefined, p.TypedArraySubarray(units, i, p.MathMin(i + 4096, length)));
        return s;
    };

    // How many bytes at the end begin a UTF-8 character that is not complete.
    const unfinished = (b) => {
        const n = b.length;
        for (let back = 1; back <= 3 && back <= n; back++) {
            const c = b[n - back];
            if ((c & 0xc0) === 0x80) continue;
            const need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
            if (need <= back) return 0;
            // A second byte that cannot follow makes it an error now, not a character to come.
            if (back >= 2) {
                const d = b[n - back + 1];
                if ((c === 0xe0 && d < 0xa0) || (c === 0xed && d > 0x9f) || (c === 0xf0 && d < 0x90) || (c === 0xf4 && d > 0x8f)) return 0;
            }
            return c < 0xf5 ? back : 0;
        }
        return 0;
    };

    class TextDecoder {
        #encoding;
        #fatal;
        #ignoreBOM;
        #rest = new Uint8Array(0);
        #seen = false; // something was decoded: a BOM is only one at the start
        constructor(label = 'utf-8', options = {}) {
            const name = labels[p.StringToLowerCase(p.StringTrim(String(label)))];
            if (name === undefined) throw new RangeError(`the encoding '${label}' is not supported; there are utf-8, utf-16le, utf-16be and latin1`);
            this.#encoding = name;
            this.#fatal = !!(options && options.fatal);
            this.#ignoreBOM = !!(options && options.ignoreBOM);
        }
        get encoding() {
            return this.#encoding;
        }
        get fatal() {
            return this.#fatal;
        }
        get ignoreBOM() {
            return this.#ignoreBOM;
        }
        decode(data, options) {
            const stream = !!(options && options.stream);
            let bytes = data === undefined ? new Uint8Array(0) : rt.bytesOf(data);
            if (this.#rest.length > 0) {
                const joined = new Uint8Array(this.#rest.length + bytes.length);
                p.TypedArraySet(joined, this.#rest);
                p.TypedArraySet(joined, bytes, this.#rest.length);
                bytes = joined;
            }
            this.#rest = new Uint8Array(0);
            if (stream) {
                const keep = this.#encoding === 'utf-8' ? unfinished(bytes) : this.#encoding === 'windows-1252' ? 0 : this.#unfinished16(bytes);
                if (keep > 0) {
                    this.#rest = p.TypedArraySlice(bytes, bytes.length - keep);
                    bytes = p.TypedArraySubarray(bytes, 0, bytes.length - keep);
                }
            }
            let text;
            if (this.#encoding === 'utf-8') {
                text = host.decode(bytes, this.#fatal);
                if (text === undefined) throw this.#invalid();
            } else if (this.#encoding === 'windows-1252') {
                const units = new p.Uint16Array(bytes.length);
                for (let i = 0; i < bytes.length; i++) units[i] = bytes[i] >= 0x80 && bytes[i] < 0xa0 ? windows[bytes[i] - 0x80] : bytes[i];
                text = fromUnits(units, units.length);
            } else text = this.#decode16(bytes);
            if (!this.#ignoreBOM && !this.#seen && this.#encoding !== 'windows-1252' && StringCharCodeAt(text, 0) === 0xfeff) text = p.StringSlice(text, 1);
            if (text !== '') this.#seen = true;
            if (!stream) this.#seen = false;
            return text;
        }
        #invalid() {
            this.#seen = false;
            const e = new TypeError(`the bytes are not valid ${this.#encoding}`);
            e.code = 'ERR_ENCODING_INVALID_ENCODED_DATA';
            return e;
        }
        #unfinished16(bytes) {
            const odd = bytes.length % 2;
            const n = bytes.length - odd;
            const high = this.#encoding === 'utf-16le' ? n - 1 : n - 2;
            return n >= 2 && (bytes[high] & 0xfc) === 0xd8 ? odd + 2 : odd;
        }
        #decode16(bytes) {
            const n = bytes.length >> 1;
            const low = this.#encoding === 'utf-16le' ? 0 : 1;
            const units = new p.Uint16Array(n);
            for (let i = 0; i < n; i++) units[i] = bytes[2 * i + low] | (bytes[2 * i + 1 - low] << 8);
            const text = fromUnits(units, n) + (bytes.length % 2 ? '\ufffd' : '');
            const well = p.StringToWellFormed(text);
            if (this.#fatal && (well !== text || bytes.length % 2)) throw this.#invalid();
            return well;
        }
    }

    rt.atob = function atob(text) {
        if (arguments.length === 0) throw new TypeError('atob needs a string');
        let bytes;
        try {
            bytes = p.FromBase64(String(text));
        } catch {
            throw new rt.DOMException('The string is not correctly encoded base64.', 'InvalidCharacterError');
        }
        return fromUnits(new p.Uint16Array(bytes), bytes.length);
    };
    rt.btoa = function btoa(text) {
        if (arguments.length === 0) throw new TypeError('btoa needs a string');
        text = String(text);
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) {
            const c = StringCharCodeAt(text, i);
            if (c > 255) throw new rt.DOMException('btoa takes characters up to U+00FF; encode the text with TextEncoder first.', 'InvalidCharacterError');
            bytes[i] = c;
        }
        return p.ToBase64(bytes);
    };
    rt.fromUnits = fromUnits;
    for (const C of [TextEncoder, TextDecoder]) {
        p.ObjectDefineProperty(C.prototype, p.SymbolToStringTag, { __proto__: null, value: C.name, configurable: true });
        rt[C.name] = C;
    }
})
