// What the runtime uses of the language, taken before any program can change it.
//
// Every part of the prelude is a function (rt, host): `rt` is where the parts leave things for each
// other, `host` has the callbacks of natives.c. Neither is reachable from a program. The rule for
// all parts: after this file no property of a built-in prototype or global is looked up on a value
// that a program may have touched; methods are called through the functions below.
(function (rt, host) {
    'use strict';
    const uncurry = Function.prototype.bind.bind(Function.prototype.call);
    const p = (rt.prim = { __proto__: null, uncurry });

    p.global = globalThis;
    for (const name of [
        'Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'BigInt', 'Symbol', 'Promise', 'Proxy',
        'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Date', 'RegExp', 'Error', 'TypeError', 'RangeError',
        'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'AggregateError', 'ArrayBuffer', 'DataView',
        'Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array',
        'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array',
    ])
        p[name] = globalThis[name];

    // Statics, under the name they have: ObjectKeys, ArrayIsArray, ReflectOwnKeys, JSONStringify.
    const statics = {
        Object: ['keys', 'create', 'defineProperty', 'defineProperties', 'getOwnPropertyDescriptor', 'getPrototypeOf',
            'setPrototypeOf', 'freeze', 'getOwnPropertyNames', 'getOwnPropertySymbols', 'is', 'preventExtensions', 'assign',
            'entries'],
        Array: ['isArray'],
        Reflect: ['ownKeys', 'apply', 'construct', 'get', 'has'],
        JSON: ['stringify', 'parse'],
        Number: ['isInteger', 'isNaN', 'isFinite', 'isSafeInteger'],
        Math: ['floor', 'min', 'max', 'imul', 'trunc', 'abs'],
        String: ['fromCharCode', 'fromCodePoint'],
        ArrayBuffer: ['isView'],
        Symbol: ['for', 'keyFor'],
        Date: ['now'],
    };
    for (const type of Object.keys(statics))
        for (const name of statics[type])
            p[type + name[0].toUpperCase() + name.slice(1)] = globalThis[type][name];

    // Methods, `this` first: StringSlice(s, 1), MapGet(m, k).
    const methods = {
        String: ['slice', 'charCodeAt', 'codePointAt', 'indexOf', 'lastIndexOf', 'split', 'replace', 'replaceAll', 'toLowerCase',
            'toUpperCase', 'startsWith', 'endsWith', 'includes', 'padStart', 'padEnd', 'repeat', 'trim', 'normalize',
            'toWellFormed', 'isWellFormed', 'charAt', 'at', 'substring'],
        Array: ['push', 'pop', 'join', 'slice', 'indexOf', 'includes', 'sort', 'map', 'filter', 'concat', 'splice', 'shift', 'reverse',
            'forEach', 'some'],
        Map: ['get', 'set', 'has', 'delete', 'forEach', 'clear'],
        Set: ['has', 'add', 'delete', 'forEach', 'clear'],
        WeakMap: ['get', 'set', 'has'],
        WeakSet: ['has', 'add'],
        Date: ['getTime', 'toISOString'],
        RegExp: ['exec', 'test', 'toString'],
        Object: ['hasOwnProperty', 'isPrototypeOf', 'toString', 'propertyIsEnumerable'],
        Function: ['toString', 'bind'],
        Promise: ['then'],
        Symbol: ['toString', 'valueOf'],
        Number: ['toString', 'valueOf', 'toFixed'],
        BigInt: ['toString', 'valueOf'],
        Boolean: ['valueOf'],
        Error: ['toString'],
        ArrayBuffer: ['slice'],
    };
    for (const type of Object.keys(methods))
        for (const name of methods[type])
            p[type + name[0].toUpperCase() + name.slice(1)] = uncurry(globalThis[type].prototype[name]);
    p.StringValueOf = uncurry(String.prototype.valueOf);

    const getter = (object, key) => uncurry(Object.getOwnPropertyDescriptor(object, key).get);
    const TypedArray = (p.TypedArray = Object.getPrototypeOf(Uint8Array));
    p.TypedArrayTag = getter(TypedArray.prototype, Symbol.toStringTag);
    p.TypedArrayLength = getter(TypedArray.prototype, 'length');
    p.TypedArrayByteLength = getter(TypedArray.prototype, 'byteLength');
    p.TypedArrayByteOffset = getter(TypedArray.prototype, 'byteOffset');
    p.TypedArrayBuffer = getter(TypedArray.prototype, 'buffer');
    p.TypedArraySet = uncurry(TypedArray.prototype.set);
    p.TypedArraySubarray = uncurry(TypedArray.prototype.subarray);
    p.TypedArraySlice = uncurry(TypedArray.prototype.slice);
    p.TypedArrayFill = uncurry(TypedArray.prototype.fill);
    p.ArrayBufferByteLength = getter(ArrayBuffer.prototype, 'byteLength');
    p.DataViewBuffer = getter(DataView.prototype, 'buffer');
    p.DataViewByteLength = getter(DataView.prototype, 'byteLength');
    p.DataViewByteOffset = getter(DataView.prototype, 'byteOffset');
    p.MapSize = getter(Map.prototype, 'size');
    p.SetSize = getter(Set.prototype, 'size');
    p.SymbolDescription = getter(Symbol.prototype, 'description');
    p.RegExpSource = getter(RegExp.prototype, 'source');
    p.RegExpFlags = getter(RegExp.prototype, 'flags');
    p.PromiseResolve = Promise.resolve.bind(Promise);
    p.PromiseReject = Promise.reject.bind(Promise);
    p.ToBase64 = uncurry(Uint8Array.prototype.toBase64);
    p.ToHex = uncurry(Uint8Array.prototype.toHex);
    p.FromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
    p.FromHex = Uint8Array.fromHex.bind(Uint8Array);
    p.SymbolIterator = Symbol.iterator;
    p.SymbolAsyncIterator = Symbol.asyncIterator;
    p.SymbolToStringTag = Symbol.toStringTag;
    p.SymbolHasInstance = Symbol.hasInstance;

    // Collections of our own whose methods no program can replace.
    const safe = (Base, names) => {
        const Safe = class extends Base {};
        for (const name of names)
            Object.defineProperty(Safe.prototype, name, Object.getOwnPropertyDescriptor(Base.prototype, name));
        Object.setPrototypeOf(Safe.prototype, null);
        return Safe;
    };
    p.SafeMap = safe(Map, ['get', 'set', 'has', 'delete', 'forEach', 'clear', 'size']);
    p.SafeSet = safe(Set, ['has', 'add', 'delete', 'forEach', 'clear', 'size']);
    p.SafeWeakMap = safe(WeakMap, ['get', 'set', 'has', 'delete']);
    p.SafeWeakSet = safe(WeakSet, ['has', 'add', 'delete']);

    // Brand checks. A wrong brand throws, which is slow, so the prototypes are looked at first: an
    // object that hides its own is taken for a plain one. Not for proxies: those are asked first.
    const brand = (C, check) => {
        const prototype = C.prototype;
        return (value) => {
            if (value === null || typeof value !== 'object' || !p.ObjectIsPrototypeOf(prototype, value)) return false;
            try {
                check(value);
                return true;
            } catch {
                return false;
            }
        };
    };
    p.isMap = brand(Map, p.MapSize);
    p.isSet = brand(Set, p.SetSize);
    p.isDate = brand(Date, p.DateGetTime);
    p.isRegExp = brand(RegExp, getter(RegExp.prototype, 'global'));
    p.isArrayBuffer = brand(ArrayBuffer, p.ArrayBufferByteLength);
    p.isTypedArray = (value) => p.ArrayBufferIsView(value) && p.TypedArrayTag(value) !== undefined;
    p.isDataView = (value) => p.ArrayBufferIsView(value) && p.TypedArrayTag(value) === undefined;
    p.isWeakMap = brand(WeakMap, (value) => p.WeakMapHas(value, p));
    p.isWeakSet = brand(WeakSet, (value) => p.WeakSetHas(value, p));
    p.isWeakRef = brand(WeakRef, uncurry(WeakRef.prototype.deref));
    p.isNumberObject = brand(Number, p.NumberValueOf);
    p.isStringObject = brand(String, p.StringValueOf);
    p.isBooleanObject = brand(Boolean, p.BooleanValueOf);
    p.isSymbolObject = brand(Symbol, p.SymbolValueOf);
    p.isBigIntObject = brand(BigInt, p.BigIntValueOf);
    p.ObjectPrototype = Object.prototype;
    const errorPrototype = Error.prototype;
    p.isError = (value) => value !== null && typeof value === 'object' && p.ObjectIsPrototypeOf(errorPrototype, value);
    const promisePrototype = Promise.prototype;
    p.isPromise = (value) => value !== null && typeof value === 'object' && p.ObjectIsPrototypeOf(promisePrototype, value);
    p.isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

    // A list that only has what is put into it: no setter on a prototype is in its way.
    p.list = () => p.ObjectSetPrototypeOf([], null);

    // The functions of the runtime look native: see 99-main.js.
    rt.natives = new p.SafeWeakSet();
    rt.native = (fn) => (rt.natives.add(fn), fn);

    // Defines as the language's own properties are: not enumerable, writable.
    rt.define = (object, properties, enumerable = false) => {
        const keys = p.ReflectOwnKeys(properties);
        for (let i = 0; i < keys.length; i++) {
            const d = p.ObjectGetOwnPropertyDescriptor(properties, keys[i]);
            d.enumerable = enumerable;
            p.ObjectDefineProperty(object, keys[i], d);
        }
        return object;
    };
    void host;
})
