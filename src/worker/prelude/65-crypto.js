// crypto: the web's, with seeded randomness; the digests are in C.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, Uint8Array } = p;

    const hex = (b) => p.ToHex(b);
    const names = {
        __proto__: null, 'SHA-1': 'sha-1', 'SHA-256': 'sha-256', 'SHA-384': 'sha-384', 'SHA-512': 'sha-512',
        SHA1: 'sha-1', SHA256: 'sha-256', SHA384: 'sha-384', SHA512: 'sha-512', MD5: 'md5', 'RSA-SHA256': 'sha-256',
    };
    // The bytes of a digest, or undefined if there is none of that name.
    rt.digest = (name, bytes) => {
        const known = names[p.StringToUpperCase(String(name))];
        return known === undefined ? undefined : host.digest(known, bytes);
    };
    rt.digestNames = () => ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];

    const integers = {
        __proto__: null, Uint8Array: 1, Int8Array: 1, Uint8ClampedArray: 1, Uint16Array: 1, Int16Array: 1, Uint32Array: 1, Int32Array: 1,
        BigInt64Array: 1, BigUint64Array: 1,
    };
    const subtle = {
        async digest(algorithm, data) {
            const name = p.isObject(algorithm) ? algorithm.name : algorithm;
            const upper = p.StringToUpperCase(String(name));
            const bytes = upper === 'MD5' ? undefined : rt.digest(upper, rt.bytesOf(data));
            if (bytes === undefined) throw new rt.DOMException(`the digest '${name}' is not supported; there are SHA-1, SHA-256, SHA-384 and SHA-512`, 'NotSupportedError');
            return p.TypedArrayBuffer(bytes);
        },
    };
    rt.crypto = {
        getRandomValues(array) {
            if (!p.ArrayBufferIsView(array) || !integers[p.TypedArrayTag(array)])
                throw new rt.DOMException('getRandomValues needs an array of integers', 'TypeMismatchError');
            if (p.TypedArrayByteLength(array) > 65536) throw new rt.DOMException('at most 65536 bytes at once', 'QuotaExceededError');
            host.random(array);
            return array;
        },
        randomUUID() {
            const b = new Uint8Array(16);
            host.random(b);
            b[6] = (b[6] & 0x0f) | 0x40;
            b[8] = (b[8] & 0x3f) | 0x80;
            const h = hex(b);
            const s = p.StringSlice;
            return `${s(h, 0, 8)}-${s(h, 8, 12)}-${s(h, 12, 16)}-${s(h, 16, 20)}-${s(h, 20)}`;
        },
        subtle,
    };
    p.ObjectDefineProperty(rt.crypto, p.SymbolToStringTag, { __proto__: null, value: 'Crypto', configurable: true });
})
