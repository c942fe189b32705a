// node:path, node:util, node:crypto, node:buffer, node:fs/promises as modules.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, TypeError, StringSlice, StringLastIndexOf, StringSplit, ArrayPush, ArrayPop, ArrayJoin, ReflectApply } = p;

    // ---- node:path (posix) ----

    const need = (path, name = 'path') => {
        if (typeof path !== 'string') {
            const e = new TypeError(`The "${name}" argument must be of type string. Received ${path === null ? 'null' : typeof path}`);
            e.code = 'ERR_INVALID_ARG_TYPE';
            throw e;
        }
        return path;
    };
    const collapse = (path, absolute) => {
        const out = [];
        const parts = StringSplit(path, '/');
        for (let i = 0; i < parts.length; i++) {
            const s = parts[i];
            if (s === '' || s === '.') continue;
            if (s === '..') {
                if (out.length > 0 && out[out.length - 1] !== '..') ArrayPop(out);
                else if (!absolute) ArrayPush(out, s);
            } else ArrayPush(out, s);
        }
        return ArrayJoin(out, '/');
    };
    const trimEnd = (path) => {
        let n = path.length;
        while (n > 1 && path[n - 1] === '/') n--;
        return StringSlice(path, 0, n);
    };
    const path = {
        sep: '/',
        delimiter: ':',
        normalize(s) {
            if (need(s) === '') return '.';
            const absolute = s[0] === '/';
            let out = collapse(s, absolute);
            if (out === '' && !absolute) out = '.';
            if (out !== '' && s[s.length - 1] === '/') out += '/';
            return absolute ? '/' + out : out;
        },
        isAbsolute: (s) => need(s)[0] === '/',
        join(...parts) {
            let joined = '';
            for (let i = 0; i < parts.length; i++) if (need(parts[i]) !== '') joined += (joined === '' ? '' : '/') + parts[i];
            return path.normalize(joined);
        },
        resolve(...parts) {
            let s = '';
            for (let i = parts.length - 1; i >= 0 && s[0] !== '/'; i--) if (need(parts[i]) !== '') s = parts[i] + (s === '' ? '' : '/' + s);
            if (s[0] !== '/') s = '/workspace' + (s === '' ? '' : '/' + s);
            return '/' + collapse(s, true);
        },
        relative(from, to) {
            const a = StringSplit(StringSlice(path.resolve(from), 1), '/');
            const b = StringSplit(StringSlice(path.resolve(to), 1), '/');
            if (a[0] === '') ArrayPop(a);
            if (b[0] === '') ArrayPop(b);
            let same = 0;
            while (same < a.length && same < b.length && a[same] === b[same]) same++;
            const out = [];
            for (let i = same; i < a.length; i++) ArrayPush(out, '..');
            for (let i = same; i < b.length; i++) ArrayPush(out, b[i]);
            return ArrayJoin(out, '/');
        },
        dirname(s) {
            s = trimEnd(need(s));
            const at = StringLastIndexOf(s, '/');
            if (at < 0) return '.';
            return at === 0 ? '/' : trimEnd(StringSlice(s, 0, at));
        },
        basename(s, suffix) {
            s = trimEnd(need(s));
            const base = StringSlice(s, StringLastIndexOf(s, '/') + 1);
            if (suffix !== undefined && base !== suffix && p.StringEndsWith(base, need(suffix, 'suffix'))) return StringSlice(base, 0, base.length - suffix.length);
            return base;
        },
        extname(s) {
            const base = path.basename(s);
            const at = StringLastIndexOf(base, '.');
            return at <= 0 || base === '..' ? '' : StringSlice(base, at);
        },
        parse(s) {
            const base = path.basename(s);
            const ext = path.extname(s);
            const at = StringLastIndexOf(trimEnd(s), '/');
            const dir = at < 0 ? '' : at === 0 ? '/' : StringSlice(s, 0, at);
            return { root: s[0] === '/' ? '/' : '', dir, base: base === '/' ? '' : base, ext, name: StringSlice(base, 0, base.length - ext.length) };
        },
        format(o) {
            const base = o.base ?? (o.name ?? '') + (o.ext ? (o.ext[0] === '.' ? o.ext : '.' + o.ext) : '');
            const dir = o.dir ?? o.root ?? '';
            return dir === '' ? base : dir === o.root ? dir + base : dir + '/' + base;
        },
        toNamespacedPath: (s) => s,
    };
    path.posix = path;
    rt.path = path;

    // ---- node:util ----

    // Deep equality in node's strict sense; cycles compare equal if they close at the same place.
    const sameKeys = (a, b, seen) => {
        const ka = p.ObjectKeys(a);
        const kb = p.ObjectKeys(b);
        if (ka.length !== kb.length) return false;
        for (let i = 0; i < ka.length; i++) if (!p.ObjectHasOwnProperty(b, ka[i]) || !equal(a[ka[i]], b[ka[i]], seen)) return false;
        return true;
    };
    const findEqual = (map, key, seen) => {
        let found;
        p.MapForEach(map, (_, k) => {
            if (found === undefined && p.isObject(k) && equal(key, k, seen)) found = { __proto__: null, k };
        });
        return found;
    };
    const equal = (a, b, seen) => {
        if (p.ObjectIs(a, b)) return true;
        if (!p.isObject(a) || !p.isObject(b) || typeof a === 'function' || typeof b === 'function') return false;
        if (p.ObjectGetPrototypeOf(a) !== p.ObjectGetPrototypeOf(b) || p.ArrayIsArray(a) !== p.ArrayIsArray(b)) return false;
        if (seen.get(a) === b) return true;
        seen.set(a, b);
        if (p.isDate(a)) return p.isDate(b) && p.ObjectIs(p.DateGetTime(a), p.DateGetTime(b)) && sameKeys(a, b, seen);
        if (p.isRegExp(a)) return p.isRegExp(b) && p.RegExpToString(a) === p.RegExpToString(b);
        if (p.isError(a) && (a.name !== b.name || a.message !== b.message)) return false;
        if (p.isNumberObject(a)) return p.isNumberObject(b) && p.ObjectIs(p.NumberValueOf(a), p.NumberValueOf(b));
        if (p.isStringObject(a)) return p.isStringObject(b) && p.StringValueOf(a) === p.StringValueOf(b);
        if (p.isBooleanObject(a)) return p.isBooleanObject(b) && p.BooleanValueOf(a) === p.BooleanValueOf(b);
        if (p.isArrayBuffer(a)) return p.isArrayBuffer(b) && equal(new p.Uint8Array(a), new p.Uint8Array(b), seen);
        if (p.isTypedArray(a)) {
            if (!p.isTypedArray(b) || p.TypedArrayLength(a) !== p.TypedArrayLength(b)) return false;
            for (let i = 0; i < a.length; i++) if (!p.ObjectIs(a[i], b[i])) return false;
            return true;
        }
        if (p.ArrayIsArray(a) && a.length !== b.length) return false;
        if (p.isSet(a)) {
            if (!p.isSet(b) || p.SetSize(a) !== p.SetSize(b)) return false;
            let same = true;
            p.SetForEach(a, (v) => {
                if (!same || p.SetHas(b, v)) return;
                let found = false;
                p.SetForEach(b, (w) => {
                    if (!found && p.isObject(v) && p.isObject(w) && equal(v, w, seen)) found = true;
                });
                same = found;
            });
            if (!same) return false;
        }
        if (p.isMap(a)) {
            if (!p.isMap(b) || p.MapSize(a) !== p.MapSize(b)) return false;
            let same = true;
            p.MapForEach(a, (v, k) => {
                if (!same) return;
                if (p.MapHas(b, k)) same = equal(v, p.MapGet(b, k), seen);
                else {
                    const found = p.isObject(k) ? findEqual(b, k, seen) : undefined;
                    same = found !== undefined && equal(v, p.MapGet(b, found.k), seen);
                }
            });
            if (!same) return false;
        }
        return sameKeys(a, b, seen);
    };

    const promisifyCustom = p.SymbolFor('nodejs.util.promisify.custom');
    const inspect = function inspect(value, options) {
        return rt.inspect(value, options);
    };
    inspect.custom = rt.inspectCustom;
    const util = {
        inspect,
        format: (...args) => rt.format(args),
        promisify(fn) {
            if (typeof fn !== 'function') throw new TypeError('promisify needs a function');
            if (typeof fn[promisifyCustom] === 'function') return fn[promisifyCustom];
            return rt.native(function (...args) {
                return new p.Promise((resolve, reject) => {
                    ArrayPush(args, (error, value) => (error ? reject(error) : resolve(value)));
                    ReflectApply(fn, this, args);
                });
            });
        },
        callbackify(fn) {
            return rt.native(function (...args) {
                const done = ArrayPop(args);
                p.PromiseThen(p.PromiseResolve(ReflectApply(fn, this, args)), (v) => done(null, v), (e) => done(e));
            });
        },
        deprecate: (fn) => fn,
        inherits(C, Parent) {
            p.ObjectSetPrototypeOf(C.prototype, Parent.prototype);
        },
        isDeepStrictEqual: (a, b) => equal(a, b, new p.SafeMap()),
        isArray: (v) => p.ArrayIsArray(v),
        stripVTControlCharacters: (s) => p.StringReplace(String(s), /\u001b\[[0-9;?]*[ -/]*[@-~]/g, ''),
        toUSVString: (s) => p.StringToWellFormed(String(s)),
        types: {
            isDate: (v) => p.isDate(v),
            isRegExp: (v) => p.isRegExp(v),
            isMap: (v) => p.isMap(v),
            isSet: (v) => p.isSet(v),
            isPromise: (v) => p.isPromise(v),
            isProxy: (v) => host.proxyTarget(v) !== undefined,
            isTypedArray: (v) => p.isTypedArray(v),
            isUint8Array: (v) => p.ArrayBufferIsView(v) && p.TypedArrayTag(v) === 'Uint8Array',
            isArrayBuffer: (v) => p.isArrayBuffer(v),
            isAnyArrayBuffer: (v) => p.isArrayBuffer(v),
            isNativeError: (v) => p.isError(v),
            isWeakMap: (v) => p.isWeakMap(v),
            isWeakSet: (v) => p.isWeakSet(v),
            isAsyncFunction: (v) => typeof v === 'function' && p.ObjectToString(v) === '[object AsyncFunction]',
            isGeneratorFunction: (v) => typeof v === 'function' && p.ObjectToString(v) === '[object GeneratorFunction]',
            isDataView: (v) => p.isDataView(v),
            isBoxedPrimitive: (v) => p.isNumberObject(v) || p.isStringObject(v) || p.isBooleanObject(v) || p.isSymbolObject(v) || p.isBigIntObject(v),
        },
        TextEncoder: rt.TextEncoder,
        TextDecoder: rt.TextDecoder,
    };
    util.promisify.custom = promisifyCustom;
    rt.util = util;

    // ---- node:crypto ----

    class Hash {
        #name;
        #parts = [];
        #done = false;
        constructor(name) {
            this.#name = name;
        }
        update(data, encoding) {
            if (this.#done) throw new p.Error('Digest already called');
            ArrayPush(this.#parts, typeof data === 'string' ? rt.Buffer.from(data, encoding) : p.TypedArraySlice(rt.bytesOf(data)));
            return this;
        }
        digest(encoding) {
            if (this.#done) throw new p.Error('Digest already called');
            this.#done = true;
            const b = rt.asBuffer(rt.digest(this.#name, rt.Buffer.concat(this.#parts)));
            return encoding === undefined || encoding === 'buffer' ? b : b.toString(encoding);
        }
        copy() {
            const h = new Hash(this.#name);
            h.#parts = p.ArraySlice(this.#parts);
            return h;
        }
    }
    const known = (name) => {
        if (rt.digest(name, '') !== undefined) return;
        const e = new p.Error(`the digest '${name}' is not supported; there are ${ArrayJoin(rt.digestNames(), ', ')}`);
        e.code = 'ERR_CRYPTO_INVALID_DIGEST';
        throw e;
    };
    class Hmac {
        #name;
        #outer;
        #inner;
        constructor(name, key) {
            const block = p.StringIncludes('SHA512 SHA-512 SHA384 SHA-384', p.StringToUpperCase(String(name))) ? 128 : 64;
            let k = typeof key === 'string' ? rt.Buffer.from(key) : rt.bytesOf(key);
            if (k.length > block) k = rt.digest(name, k);
            const pad = (x) => {
                const b = new p.Uint8Array(block);
                for (let i = 0; i < block; i++) b[i] = (i < k.length ? k[i] : 0) ^ x;
                return b;
            };
            this.#name = name;
            this.#outer = pad(0x5c);
            this.#inner = new Hash(name).update(pad(0x36));
        }
        update(data, encoding) {
            this.#inner.update(data, encoding);
            return this;
        }
        digest(encoding) {
            return new Hash(this.#name).update(this.#outer).update(this.#inner.digest()).digest(encoding);
        }
    }
    rt.nodeCrypto = {
        randomUUID: () => rt.crypto.randomUUID(),
        getRandomValues: (a) => rt.crypto.getRandomValues(a),
        randomBytes(size) {
            const b = rt.Buffer.alloc(size);
            host.random(b);
            return b;
        },
        randomInt(min, max) {
            if (max === undefined) [min, max] = [0, min];
            if (!p.NumberIsSafeInteger(min) || !p.NumberIsSafeInteger(max) || max <= min) throw new p.RangeError('randomInt needs two integers, the second larger');
            return min + p.MathFloor(rt.random() * (max - min));
        },
        createHash(name) {
            known(name);
            return new Hash(name);
        },
        createHmac(name, key) {
            known(name);
            return new Hmac(name, key);
        },
        hash(name, data, encoding = 'hex') {
            known(name);
            return new Hash(name).update(data).digest(encoding);
        },
        timingSafeEqual(a, b) {
            if (a.length !== b.length) throw new p.RangeError('Input buffers must have the same byte length');
            let d = 0;
            for (let i = 0; i < a.length; i++) d |= a[i] ^ b[i];
            return d === 0;
        },
        getHashes: () => rt.digestNames(),
        webcrypto: rt.crypto,
        subtle: rt.crypto.subtle,
    };
    rt.runtimeObjects = [Hash, Hmac];

    rt.builtins = {
        __proto__: null,
        'node:path': () => rt.path,
        'node:util': () => rt.util,
        'node:crypto': () => rt.nodeCrypto,
        'node:buffer': () => rt.nodeBuffer,
        'node:fs/promises': () => rt.fs,
    };
})
