// Showing values: console.log's formatting of objects, and util.inspect.
//
// No getter is called, no Proxy trap runs, and what comes out is bounded: depth, entries per
// container, length of strings, and the text as a whole.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { ObjectGetOwnPropertyDescriptor, ObjectGetPrototypeOf, ReflectOwnKeys, ArrayIsArray, StringSlice, String, JSONStringify,
        StringReplaceAll, StringIncludes, StringIndexOf, RegExpTest } = p;

    const ENTRIES = 100;
    const STRING = 10000;
    const TOTAL = 200000;
    const WIDTH = 72;
    const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
    const custom = p.SymbolFor('nodejs.util.inspect.custom');

    const quote = (s) => {
        const cut = s.length > STRING;
        const body = cut ? StringSlice(s, 0, STRING) : s;
        let q = "'";
        if (StringIncludes(body, "'")) q = StringIncludes(body, '"') ? (StringIncludes(body, '`') ? "'" : '`') : '"';
        let json = JSONStringify(body);
        json = StringReplaceAll(StringSlice(json, 1, -1), '\\"', '"');
        if (q === '"') json = StringReplaceAll(json, '"', '\\"');
        if (q === "'") json = StringReplaceAll(json, "'", "\\'");
        return q + json + q + (cut ? `... ${s.length - STRING} more characters` : '');
    };

    const key = (k) => {
        if (typeof k === 'symbol') return `[${p.SymbolToString(k)}]`;
        return RegExpTest(identifier, k) ? k : quote(k);
    };

    const number = (n) => (n === 0 && 1 / n < 0 ? '-0' : p.NumberToString(n));

    const primitive = (v) => {
        switch (typeof v) {
            case 'string':
                return quote(v);
            case 'number':
                return number(v);
            case 'bigint':
                return p.BigIntToString(v) + 'n';
            case 'symbol':
                return p.SymbolToString(v);
            default:
                return String(v);
        }
    };

    // The name of the class, without running anything: data properties only.
    const className = (o) => {
        for (let proto = o, i = 0; proto !== null && i < 20; i++) {
            if (host.proxyTarget(proto) !== undefined) return 'Proxy';
            const d = ObjectGetOwnPropertyDescriptor(proto, 'constructor');
            if (d && typeof d.value === 'function') {
                const n = ObjectGetOwnPropertyDescriptor(d.value, 'name');
                if (n && typeof n.value === 'string' && n.value !== '') return StringSlice(n.value, 0, 100);
            }
            proto = ObjectGetPrototypeOf(proto);
        }
        return null;
    };

    const tagOf = (o, name) => {
        let proto = o;
        for (let i = 0; proto !== null && i < 20 && host.proxyTarget(proto) === undefined; i++) {
            const d = ObjectGetOwnPropertyDescriptor(proto, p.SymbolToStringTag);
            if (d) return typeof d.value === 'string' && d.value !== '' && d.value !== name ? ` [${StringSlice(d.value, 0, 100)}]` : '';
            proto = ObjectGetPrototypeOf(proto);
        }
        return '';
    };

    const dataOf = (o, k) => {
        for (let i = 0; o !== null && i < 20 && host.proxyTarget(o) === undefined; i++) {
            const d = ObjectGetOwnPropertyDescriptor(o, k);
            if (d) return 'value' in d ? d.value : undefined;
            o = ObjectGetPrototypeOf(o);
        }
        return undefined;
    };

    const errorHead = (e) => {
        const name = dataOf(e, 'name');
        const message = dataOf(e, 'message');
        const stack = dataOf(e, 'stack');
        let head = typeof name === 'string' && name !== '' ? StringSlice(name, 0, 200) : 'Error';
        const own = className(e);
        if (own !== null && own !== head && head === 'Error') head = own;
        if (typeof message === 'string' && message !== '') head += ': ' + StringSlice(message, 0, STRING);
        return head + (typeof stack === 'string' ? host.frames(StringSlice(stack, 0, 65536)) : '');
    };

    const hexBytes = (bytes, length) => {
        let hex = '';
        for (let i = 0; i < length && i < 50; i++) hex += (i ? ' ' : '') + p.StringPadStart(p.NumberToString(bytes[i], 16), 2, '0');
        return length > 50 ? `${hex} ... ${length - 50} more bytes` : hex;
    };
    const bufferText = (b) => `<Buffer${b.length ? ' ' : ''}${hexBytes(b, b.length)}>`;

    class Show {
        constructor(depth, compact) {
            this.depth = depth;
            this.compact = compact;
            this.left = TOTAL;
            this.seen = new p.SafeMap(); // object -> its number if something refers back to it
            this.path = p.list();
            this.circular = 0;
        }

        value(v, level) {
            if (this.left <= 0) return '...';
            const text = p.isObject(v) ? this.object(v, level) : primitive(v);
            this.left -= text.length;
            return text;
        }

        object(o, level) {
            for (let i = 0; i < this.path.length; i++) {
                if (this.path[i] === o) {
                    let n = this.seen.get(o);
                    if (n === undefined) this.seen.set(o, (n = ++this.circular));
                    return `[Circular *${n}]`;
                }
            }
            const target = host.proxyTarget(o);
            if (target !== undefined) {
                const text = rt.proxyTexts.get(o);
                if (text !== undefined) return text();
                if (typeof target === 'function') return '[Function (proxy)]';
                return 'Proxy ' + this.object(target, level);
            }
            this.path[this.path.length] = o;
            let text;
            try {
                text = this.container(o, level);
            } finally {
                this.path.length--;
            }
            const n = this.seen.get(o);
            return n === undefined ? text : `<ref *${n}> ${text}`;
        }

        container(o, level) {
            const name = className(o);
            if (typeof o === 'function') return this.withProperties(this.functionHead(o), o, level, ['length', 'name', 'prototype']);
            if (p.isError(o)) return this.withProperties(errorHead(o), o, level, ['message', 'stack', 'name', 'line', 'column', 'sourceURL']);
            if (p.isDate(o)) {
                const t = p.DateGetTime(o);
                return this.withProperties(t !== t ? 'Invalid Date' : p.DateToISOString(o), o, level);
            }
            if (p.isRegExp(o)) return this.withProperties(`/${p.RegExpSource(o)}/${p.RegExpFlags(o)}`, o, level, ['lastIndex']);
            if (p.isNumberObject(o)) return `[Number: ${number(p.NumberValueOf(o))}]`;
            if (p.isStringObject(o)) return `[String: ${quote(p.StringValueOf(o))}]`;
            if (p.isBooleanObject(o)) return `[Boolean: ${p.BooleanValueOf(o)}]`;
            if (p.isSymbolObject(o)) return `[Symbol: ${p.SymbolToString(o)}]`;
            if (p.isBigIntObject(o)) return `[BigInt: ${p.BigIntToString(o)}n]`;
            if (p.isPromise(o)) return this.withProperties('Promise', o, level, [], true);
            if (p.isWeakMap(o)) return 'WeakMap { <items unknown> }';
            if (p.isWeakSet(o)) return 'WeakSet { <items unknown> }';
            if (p.isWeakRef(o)) return 'WeakRef { <ref> }';
            const tooDeep = level > this.depth;
            if (ArrayIsArray(o)) {
                const label = name === 'Array' || name === null ? '' : `${name}(${o.length}) `;
                return tooDeep ? `[${name || 'Array'}]` : this.array(o, label, level);
            }
            if (p.isTypedArray(o)) {
                if (p.ObjectIsPrototypeOf(rt.Buffer.prototype, o)) return bufferText(o);
                const label = `${name || p.TypedArrayTag(o)}(${p.TypedArrayLength(o)}) `;
                return tooDeep ? `[${name}]` : this.typed(o, label, level);
            }
            if (p.isArrayBuffer(o)) return this.buffer(o);
            if (p.isMap(o)) return tooDeep ? '[Map]' : this.map(o, name, level);
            if (p.isSet(o)) return tooDeep ? '[Set]' : this.set(o, name, level);
            if (rt.isURL(o)) return `URL { href: ${quote(rt.hrefOf(o))} }`;
            const label = this.label(o, name);
            if (tooDeep) return `[${name || 'Object: null prototype'}]`;
            return this.wrap(label, '{', this.properties(o, level, null), '}', level);
        }

        label(o, name) {
            if (name === null) return '[Object: null prototype]' + tagOf(o, '') + ' ';
            const tag = tagOf(o, name);
            return name === 'Object' && tag === '' ? '' : name + tag + ' ';
        }

        functionHead(f) {
            const d = ObjectGetOwnPropertyDescriptor(f, 'name');
            const name = d && typeof d.value === 'string' ? StringSlice(d.value, 0, 100) : '';
            const source = rt.functionSource(f);
            if (p.StringStartsWith(source, 'class')) {
                const parent = ObjectGetPrototypeOf(f);
                const pd = typeof parent === 'function' ? ObjectGetOwnPropertyDescriptor(parent, 'name') : undefined;
                const ext = pd && typeof pd.value === 'string' && pd.value !== '' ? ` extends ${pd.value}` : '';
                return `[class ${name || '(anonymous)'}${ext}]`;
            }
            const kind = className(ObjectGetPrototypeOf(f) || f) || 'Function';
            return `[${kind === 'Function' ? 'Function' : kind}${name ? ': ' + name : ' (anonymous)'}]`;
        }

        // The text itself, with own properties behind it if there are any.
        withProperties(head, o, level, skip = [], braces = false) {
            if (level > this.depth) return head;
            const list = this.properties(o, level, skip);
            if (list.length === 0) return braces ? head + ' {}' : head;
            return this.wrap(head + ' ', '{', list, '}', level);
        }

        properties(o, level, skip, out = p.list(), from = 0) {
            const keys = ReflectOwnKeys(o);
            let shown = 0;
            for (let i = from; i < keys.length; i++) {
                const k = keys[i];
                const d = ObjectGetOwnPropertyDescriptor(o, k);
                if (!d) continue;
                const hidden = !d.enumerable && !(skip !== null && (k === 'cause' || k === 'errors'));
                if (hidden || (skip !== null && p.ArrayIncludes(skip, k))) continue;
                if (shown++ >= ENTRIES) {
                    out[out.length] = `... ${keys.length - i} more`;
                    break;
                }
                out[out.length] = `${d.enumerable ? key(k) : `[${String(k)}]`}: ${this.property(d, level)}`;
            }
            return out;
        }

        property(d, level) {
            if (d.get !== undefined) return d.set !== undefined ? '[Getter/Setter]' : '[Getter]';
            if (d.set !== undefined) return '[Setter]';
            return this.value(d.value, level + 1);
        }

        array(o, label, level) {
            const out = p.list();
            const length = o.length;
            let i = 0;
            let shown = 0;
            while (i < length && shown < ENTRIES && this.left > 0) {
                const d = ObjectGetOwnPropertyDescriptor(o, i);
                if (d) {
                    out[out.length] = this.property(d, level);
                    i++;
                } else {
                    let j = this.nextIndex(o, i, length);
                    out[out.length] = `<${j - i} empty item${j - i > 1 ? 's' : ''}>`;
                    i = j;
                }
                shown++;
            }
            if (i < length) out[out.length] = `... ${length - i} more item${length - i > 1 ? 's' : ''}`;
            this.extraProperties(o, level, out);
            return this.wrap(label, '[', out, ']', level);
        }

        // The next index that is there. Looks at the keys once the hole turns out to be large.
        nextIndex(o, i, length) {
            for (let n = 0; n < 1000 && i < length; n++, i++) if (p.ObjectHasOwnProperty(o, i)) return i;
            if (i >= length) return length;
            const keys = ReflectOwnKeys(o);
            for (let k = 0; k < keys.length; k++) {
                const n = typeof keys[k] === 'string' ? +keys[k] : NaN;
                if (n >= i && n < length) return n;
            }
            return length;
        }

        extraProperties(o, level, out) {
            const keys = ReflectOwnKeys(o);
            if (keys.length > 100000) return;
            let shown = 0;
            for (let i = keys.length - 1; i >= 0 && shown < ENTRIES; i--) {
                const k = keys[i];
                if (typeof k === 'string' && p.StringCharCodeAt(k, 0) <= 57 && p.StringCharCodeAt(k, 0) >= 48) break;
                const d = ObjectGetOwnPropertyDescriptor(o, k);
                if (!d || !d.enumerable) continue;
                out[out.length] = `${key(k)}: ${this.property(d, level)}`;
                shown++;
            }
        }

        typed(o, label, level) {
            const out = p.list();
            const length = p.TypedArrayLength(o);
            for (let i = 0; i < length && i < ENTRIES; i++) out[out.length] = primitive(o[i]);
            if (length > ENTRIES) out[out.length] = `... ${length - ENTRIES} more item${length - ENTRIES > 1 ? 's' : ''}`;
            this.extraProperties(o, level, out);
            return this.wrap(label, '[', out, ']', level);
        }

        buffer(o) {
            const length = p.ArrayBufferByteLength(o);
            return `ArrayBuffer { [Uint8Contents]: <${hexBytes(new p.Uint8Array(o), length)}>, byteLength: ${length} }`;
        }

        map(o, name, level) {
            const out = p.list();
            const size = p.MapSize(o);
            p.MapForEach(o, (v, k) => {
                if (out.length < ENTRIES) out[out.length] = `${this.value(k, level + 1)} => ${this.value(v, level + 1)}`;
            });
            if (size > ENTRIES) out[out.length] = `... ${size - ENTRIES} more items`;
            this.properties(o, level, null, out);
            return this.wrap(`${name || 'Map'}(${size}) `, '{', out, '}', level);
        }

        set(o, name, level) {
            const out = p.list();
            const size = p.SetSize(o);
            p.SetForEach(o, (v) => {
                if (out.length < ENTRIES) out[out.length] = this.value(v, level + 1);
            });
            if (size > ENTRIES) out[out.length] = `... ${size - ENTRIES} more items`;
            this.properties(o, level, null, out);
            return this.wrap(`${name || 'Set'}(${size}) `, '{', out, '}', level);
        }

        // One line if it fits, else one entry per line; long lists of short entries in columns.
        wrap(label, open, list, close, level) {
            if (list.length === 0) return label + open + close;
            let total = label.length + list.length * 2;
            let longest = 0;
            let multi = false;
            for (let i = 0; i < list.length; i++) {
                total += list[i].length;
                if (list[i].length > longest) longest = list[i].length;
                if (StringIncludes(list[i], '\n')) multi = true;
            }
            if (this.compact || (!multi && total + level * 2 <= WIDTH)) {
                let line = list[0];
                for (let i = 1; i < list.length; i++) line += ', ' + list[i];
                return open === '[' ? `${label}[ ${line} ]` : `${label}{ ${line} }`;
            }
            let pad = '\n';
            for (let i = 0; i < level + 1; i++) pad += '  ';
            let out = label + open;
            if (open === '[' && !multi && longest <= 16 && list.length > 6) {
                const perRow = p.MathMax(1, p.MathFloor(WIDTH / (longest + 2)));
                for (let i = 0; i < list.length; i++) {
                    out += i % perRow === 0 ? pad : ' ';
                    out += list[i] + (i + 1 < list.length ? ',' : '');
                }
            } else for (let i = 0; i < list.length; i++) out += pad + list[i] + (i + 1 < list.length ? ',' : '');
            return out + StringSlice(pad, 0, -2) + close;
        }
    }

    rt.quote = quote;
    rt.errorText = errorHead;
    rt.inspect = (value, options) => {
        let depth = 4;
        let compact = false;
        if (options && typeof options === 'object') {
            if (options.depth === null || options.depth === Infinity) depth = 50;
            else if (typeof options.depth === 'number') depth = p.MathMin(options.depth, 50);
            if (options.compact === true || options.breakLength === Infinity) compact = true;
        }
        return new Show(depth, compact).value(value, 0);
    };

    // console.log's and util.format's placeholders.
    const place = (kind, v) => {
        switch (kind) {
            case 's':
                if (typeof v === 'string') return v;
                if (p.isObject(v) && !p.isError(v)) return rt.inspect(v, { __proto__: null, depth: 0, compact: true });
                return p.isError(v) ? errorHead(v) : primitive(v);
            case 'd':
                if (typeof v === 'bigint') return p.BigIntToString(v) + 'n';
                return p.isObject(v) || typeof v === 'symbol' ? 'NaN' : number(p.Number(v));
            case 'i':
                if (typeof v === 'bigint') return p.BigIntToString(v) + 'n';
                return p.isObject(v) || typeof v === 'symbol' ? 'NaN' : number(p.MathTrunc(p.Number(v)));
            case 'f':
                return p.isObject(v) || typeof v === 'symbol' ? 'NaN' : number(p.Number(v));
            case 'j':
                try {
                    return String(JSONStringify(v));
                } catch {
                    return '[Circular]';
                }
            case 'o':
            case 'O':
                return rt.inspect(v);
            default:
                return '';
        }
    };

    rt.format = (args) => {
        let out = '';
        let next = 0;
        if (args.length > 0 && typeof args[0] === 'string') {
            const f = args[0];
            next = 1;
            let from = 0;
            while (args.length > 1) {
                const at = StringIndexOf(f, '%', from);
                if (at < 0 || at === f.length - 1) break;
                const kind = f[at + 1];
                out += StringSlice(f, from, at);
                from = at + 2;
                if (kind === '%') out += '%';
                else if (StringIncludes('sdifjoOc', kind) && next < args.length) out += place(kind, args[next++]);
                else out += '%' + kind;
            }
            out += StringSlice(f, from);
        }
        for (; next < args.length; next++) {
            if (next > 0) out += ' ';
            out += typeof args[next] === 'string' ? args[next] : rt.inspect(args[next]);
        }
        return out;
    };
    rt.inspectCustom = custom;
})
