// The objects URL and URLSearchParams over the parser of 55-url.js.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, TypeError, StringSlice, StringIndexOf, StringSplit, StringReplaceAll, ReflectApply } = p;
    const { parse, serialise, pathText, isSpecial, encode, percentDecode, sets, states } = rt.urlParser;

    // application/x-www-form-urlencoded
    const plain = /^[A-Za-z0-9*\-._]$/;
    const formEncode = (s) => {
        const bytes = host.encode(s);
        let out = '';
        for (let i = 0; i < bytes.length; i++) {
            const c = p.StringFromCharCode(bytes[i]);
            if (c === ' ') out += '+';
            else if (bytes[i] < 128 && p.RegExpTest(plain, c)) out += c;
            else out += '%' + (bytes[i] < 16 ? '0' : '') + p.StringToUpperCase(p.NumberToString(bytes[i], 16));
        }
        return out;
    };
    const formDecode = (s) => percentDecode(StringReplaceAll(s, '+', ' '));
    const parseForm = (text) => {
        const list = p.list();
        const parts = StringSplit(text, '&');
        for (let i = 0; i < parts.length; i++) {
            if (parts[i] === '') continue;
            const at = StringIndexOf(parts[i], '=');
            const name = at < 0 ? parts[i] : StringSlice(parts[i], 0, at);
            const value = at < 0 ? '' : StringSlice(parts[i], at + 1);
            list[list.length] = { __proto__: null, name: formDecode(name), value: formDecode(value) };
        }
        return list;
    };
    const text = (v) => p.StringToWellFormed(String(v));

    let bind, refill;
    class URLSearchParams {
        #list = p.list();
        #changed = null; // tells the URL it belongs to
        constructor(init) {
            if (init === undefined || init === null) return;
            if (typeof init === 'string') this.#list = parseForm(init[0] === '?' ? StringSlice(init, 1) : init);
            else if (p.isObject(init) && init[p.SymbolIterator] !== undefined) {
                for (const pair of init) {
                    const two = [...pair];
                    if (two.length !== 2) throw new TypeError('each entry of URLSearchParams must be [name, value]');
                    this.#list[this.#list.length] = { __proto__: null, name: text(two[0]), value: text(two[1]) };
                }
            } else if (p.isObject(init)) {
                const keys = p.ObjectKeys(init);
                for (let i = 0; i < keys.length; i++) this.#list[this.#list.length] = { __proto__: null, name: text(keys[i]), value: text(init[keys[i]]) };
            } else this.#list = parseForm(text(init));
        }
        #update() {
            if (this.#changed !== null) this.#changed(this.toString());
        }
        get size() {
            return this.#list.length;
        }
        append(name, value) {
            this.#list[this.#list.length] = { __proto__: null, name: text(name), value: text(value) };
            this.#update();
        }
        #keep(test) {
            const kept = p.list();
            for (let i = 0; i < this.#list.length; i++) if (test(this.#list[i])) kept[kept.length] = this.#list[i];
            this.#list = kept;
        }
        delete(name, value) {
            name = text(name);
            this.#keep((e) => e.name !== name || (value !== undefined && e.value !== text(value)));
            this.#update();
        }
        get(name) {
            name = text(name);
            for (let i = 0; i < this.#list.length; i++) if (this.#list[i].name === name) return this.#list[i].value;
            return null;
        }
        getAll(name) {
            name = text(name);
            const out = [];
            for (let i = 0; i < this.#list.length; i++) if (this.#list[i].name === name) p.ArrayPush(out, this.#list[i].value);
            return out;
        }
        has(name, value) {
            name = text(name);
            for (let i = 0; i < this.#list.length; i++) if (this.#list[i].name === name && (value === undefined || this.#list[i].value === text(value))) return true;
            return false;
        }
        set(name, value) {
            name = text(name);
            value = text(value);
            let found = false;
            this.#keep((e) => {
                if (e.name !== name) return true;
                if (found) return false;
                e.value = value;
                return (found = true);
            });
            if (!found) this.#list[this.#list.length] = { __proto__: null, name, value };
            this.#update();
        }
        sort() {
            p.ArraySort(this.#list, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
            this.#update();
        }
        toString() {
            let s = '';
            for (let i = 0; i < this.#list.length; i++) s += (i ? '&' : '') + formEncode(this.#list[i].name) + '=' + formEncode(this.#list[i].value);
            return s;
        }
        forEach(callback, self) {
            for (let i = 0; i < this.#list.length; i++) ReflectApply(callback, self, [this.#list[i].value, this.#list[i].name, this]);
        }
        *entries() {
            for (let i = 0; i < this.#list.length; i++) yield [this.#list[i].name, this.#list[i].value];
        }
        *keys() {
            for (let i = 0; i < this.#list.length; i++) yield this.#list[i].name;
        }
        *values() {
            for (let i = 0; i < this.#list.length; i++) yield this.#list[i].value;
        }
        static {
            bind = (params, changed) => {
                params.#changed = changed;
            };
            refill = (params, query) => {
                params.#list = parseForm(query);
            };
        }
    }
    p.ObjectDefineProperty(URLSearchParams.prototype, p.SymbolIterator, {
        __proto__: null, value: URLSearchParams.prototype.entries, writable: true, configurable: true,
    });

    const invalid = (input, base) => {
        const e = new TypeError(`Invalid URL: '${StringSlice(input, 0, 200)}'` + (base !== undefined ? ` with base '${StringSlice(base, 0, 200)}'` : ''));
        e.code = 'ERR_INVALID_URL';
        e.input = input;
        return e;
    };
    const noCredentials = (u) => u.host === null || u.host === '' || u.scheme === 'file:';

    class URL {
        #u;
        #params = null;
        constructor(input, base) {
            if (arguments.length === 0) throw new TypeError('a URL needs a text');
            input = text(input);
            let parsedBase = null;
            if (base !== undefined) {
                base = text(base);
                parsedBase = parse(base, null);
                if (parsedBase === null) throw invalid(input, base);
            }
            const u = parse(input, parsedBase);
            if (u === null) throw invalid(input, base);
            this.#u = u;
        }
        static canParse(input, base) {
            const b = base === undefined ? null : parse(text(base), null);
            return (base === undefined || b !== null) && parse(text(input), b) !== null;
        }
        static parse(input, base) {
            return URL.canParse(input, base) ? new URL(input, base) : null;
        }
        static is(value) {
            return p.isObject(value) && #u in value;
        }
        get href() {
            return serialise(this.#u);
        }
        set href(v) {
            const u = parse(text(v), null);
            if (u === null) throw invalid(text(v));
            this.#u = u;
            this.#refill();
        }
        toString() {
            return serialise(this.#u);
        }
        toJSON() {
            return serialise(this.#u);
        }
        get origin() {
            const u = this.#u;
            if (u.scheme === 'blob:') {
                const inner = parse(pathText(u), null);
                return inner !== null && (inner.scheme === 'http:' || inner.scheme === 'https:') ? `${inner.scheme}//${inner.host}${inner.port === null ? '' : ':' + inner.port}` : 'null';
            }
            if (!isSpecial(u) || u.scheme === 'file:') return 'null';
            return `${u.scheme}//${u.host}${u.port === null ? '' : ':' + u.port}`;
        }
        get protocol() {
            return this.#u.scheme;
        }
        set protocol(v) {
            parse(text(v) + ':', null, this.#u, states.SCHEME_START);
        }
        get username() {
            return this.#u.username;
        }
        set username(v) {
            if (!noCredentials(this.#u)) this.#u.username = encode(text(v), sets.USERINFO);
        }
        get password() {
            return this.#u.password;
        }
        set password(v) {
            if (!noCredentials(this.#u)) this.#u.password = encode(text(v), sets.USERINFO);
        }
        get host() {
            const u = this.#u;
            return u.host === null ? '' : u.port === null ? u.host : `${u.host}:${u.port}`;
        }
        set host(v) {
            if (!this.#u.opaque) parse(text(v), null, this.#u, states.HOST);
        }
        get hostname() {
            return this.#u.host ?? '';
        }
        set hostname(v) {
            if (!this.#u.opaque) parse(text(v), null, this.#u, states.HOSTNAME);
        }
        get port() {
            return this.#u.port === null ? '' : p.NumberToString(this.#u.port);
        }
        set port(v) {
            if (noCredentials(this.#u)) return;
            v = text(v);
            if (v === '') this.#u.port = null;
            else parse(v, null, this.#u, states.PORT);
        }
        get pathname() {
            return pathText(this.#u);
        }
        set pathname(v) {
            if (this.#u.opaque) return;
            this.#u.path = [];
            parse(text(v), null, this.#u, states.PATH_START);
        }
        get search() {
            return this.#u.query === null || this.#u.query === '' ? '' : '?' + this.#u.query;
        }
        set search(v) {
            v = text(v);
            if (v === '') this.#u.query = null;
            else {
                this.#u.query = '';
                parse(v[0] === '?' ? StringSlice(v, 1) : v, null, this.#u, states.QUERIES);
            }
            this.#refill();
        }
        get searchParams() {
            if (this.#params === null) {
                this.#params = new URLSearchParams(this.#u.query ?? '');
                bind(this.#params, (query) => {
                    this.#u.query = query === '' ? null : query;
                });
            }
            return this.#params;
        }
        get hash() {
            return this.#u.fragment === null || this.#u.fragment === '' ? '' : '#' + this.#u.fragment;
        }
        set hash(v) {
            v = text(v);
            if (v === '') this.#u.fragment = null;
            else {
                this.#u.fragment = '';
                parse(v[0] === '#' ? StringSlice(v, 1) : v, null, this.#u, states.FRAGMENTS);
            }
        }
        #refill() {
            if (this.#params !== null) refill(this.#params, this.#u.query ?? '');
        }
    }
    rt.isURL = URL.is;
    rt.hrefOf = p.uncurry(p.ObjectGetOwnPropertyDescriptor(URL.prototype, 'href').get);
    delete URL.is;
    for (const C of [URL, URLSearchParams]) {
        // As in browsers: the accessors are enumerable.
        const d = p.ReflectOwnKeys(C.prototype);
        for (let i = 0; i < d.length; i++)
            if (d[i] !== 'constructor' && typeof d[i] === 'string') p.ObjectDefineProperty(C.prototype, d[i], { __proto__: null, enumerable: true });
        p.ObjectDefineProperty(C.prototype, p.SymbolToStringTag, { __proto__: null, value: C.name, configurable: true });
        rt[C.name] = C;
    }
})
