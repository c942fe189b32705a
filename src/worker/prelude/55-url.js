// URL and URLSearchParams after the WHATWG standard (url.spec.whatwg.org); section names are its own.
// Of IDNA there is what the standard library offers: NFKC, lower case, and punycode.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { StringSlice, StringCharCodeAt, StringCodePointAt, StringIncludes, StringIndexOf, StringToLowerCase, StringSplit,
        ArrayPush, ArrayPop, ArrayJoin, NumberToString, RegExpTest, MathFloor } = p;

    const special = { __proto__: null, 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443, 'ftp:': 21, 'file:': null };
    const isSpecial = (u) => u.scheme in special;
    const EOF = -1;

    // ---- percent encoding ----

    const set = (text, base) => {
        const s = new p.Uint8Array(128);
        if (base) p.TypedArraySet(s, base);
        else {
            for (let i = 0; i < 0x20; i++) s[i] = 1;
            s[0x7f] = 1;
        }
        for (let i = 0; i < text.length; i++) s[StringCharCodeAt(text, i)] = 1;
        return s;
    };
    const C0 = set('');
    const FRAGMENT = set(' "<>`');
    const QUERY = set(' "#<>');
    const SPECIAL_QUERY = set("'", QUERY);
    const PATH = set('?^`{}', QUERY);
    const USERINFO = set('/:;=@[\\]|', PATH);

    const hexByte = (b) => '%' + (b < 16 ? '0' : '') + p.StringToUpperCase(NumberToString(b, 16));
    const utf8 = (c) => {
        if (c < 0x80) return hexByte(c);
        if (c < 0x800) return hexByte(0xc0 | (c >> 6)) + hexByte(0x80 | (c & 63));
        if (c < 0x10000) return hexByte(0xe0 | (c >> 12)) + hexByte(0x80 | ((c >> 6) & 63)) + hexByte(0x80 | (c & 63));
        return hexByte(0xf0 | (c >> 18)) + hexByte(0x80 | ((c >> 12) & 63)) + hexByte(0x80 | ((c >> 6) & 63)) + hexByte(0x80 | (c & 63));
    };
    const encodePoint = (c, encodeSet) => {
        if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
        return c > 0x7e || encodeSet[c] ? utf8(c) : p.StringFromCharCode(c);
    };
    const encode = (text, encodeSet) => {
        let out = '';
        for (let i = 0; i < text.length; ) {
            const c = StringCodePointAt(text, i);
            out += encodePoint(c, encodeSet);
            i += c > 0xffff ? 2 : 1;
        }
        return out;
    };
    const hexValue = (c) => (c >= 48 && c <= 57 ? c - 48 : c >= 65 && c <= 70 ? c - 55 : c >= 97 && c <= 102 ? c - 87 : -1);
    const percentDecode = (text) => {
        if (!StringIncludes(text, '%')) return text;
        const bytes = host.encode(text);
        let n = 0;
        for (let i = 0; i < bytes.length; i++) {
            if (bytes[i] === 37 && i + 2 < bytes.length && hexValue(bytes[i + 1]) >= 0 && hexValue(bytes[i + 2]) >= 0) {
                bytes[n++] = hexValue(bytes[i + 1]) * 16 + hexValue(bytes[i + 2]);
                i += 2;
            } else bytes[n++] = bytes[i];
        }
        return host.decode(p.TypedArraySubarray(bytes, 0, n), false);
    };

    // ---- hosts; null is failure ----

    const punycode = (label) => {
        const points = p.list();
        for (let i = 0; i < label.length; ) {
            const c = StringCodePointAt(label, i);
            points[points.length] = c;
            i += c > 0xffff ? 2 : 1;
        }
        let out = '';
        for (let i = 0; i < points.length; i++) if (points[i] < 128) out += p.StringFromCharCode(points[i]);
        const basic = out.length;
        let handled = basic;
        let n = 128;
        let delta = 0;
        let bias = 72;
        if (basic > 0) out += '-';
        while (handled < points.length) {
            let m = Infinity;
            for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < m) m = points[i];
            delta += (m - n) * (handled + 1);
            n = m;
            for (let i = 0; i < points.length; i++) {
                if (points[i] < n) delta++;
                if (points[i] !== n) continue;
                let q = delta;
                for (let k = 36; ; k += 36) {
                    const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
                    if (q < t) break;
                    const digit = t + ((q - t) % (36 - t));
                    out += digit < 26 ? p.StringFromCharCode(97 + digit) : p.StringFromCharCode(22 + digit);
                    q = MathFloor((q - t) / (36 - t));
                }
                out += q < 26 ? p.StringFromCharCode(97 + q) : p.StringFromCharCode(22 + q);
                delta = handled === basic ? MathFloor(delta / 700) : delta >> 1;
                delta += MathFloor(delta / (handled + 1));
                bias = 0;
                while (delta > 455) {
                    delta = MathFloor(delta / 35);
                    bias += 36;
                }
                bias += MathFloor((36 * delta) / (delta + 38));
                delta = 0;
                handled++;
            }
            delta++;
            n++;
        }
        return out;
    };
    const ascii = /^[\x00-\x7f]*$/;
    const ignored = /[\u00ad\u200b\u2060\ufeff\u200c\u200d]/g;
    const dots = /[\u3002\uff0e\uff61]/g;
    const forbiddenDomain = /[\x00-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;
    const forbiddenHost = /[\x00\t\n\r #/:<>?@[\\\]^|]/;
    const toASCII = (domain) => {
        if (RegExpTest(ascii, domain)) domain = StringToLowerCase(domain);
        else {
            domain = p.StringReplace(p.StringReplace(domain, ignored, ''), dots, '.');
            domain = p.StringNormalize(StringToLowerCase(p.StringNormalize(domain, 'NFKC')), 'NFC');
            const labels = StringSplit(domain, '.');
            for (let i = 0; i < labels.length; i++) if (!RegExpTest(ascii, labels[i])) labels[i] = 'xn--' + punycode(labels[i]);
            domain = ArrayJoin(labels, '.');
        }
        return domain === '' || StringIncludes(domain, '\ufffd') || RegExpTest(forbiddenDomain, domain) ? null : domain;
    };

    const ipv4Number = (s) => {
        if (s === '') return NaN;
        let radix = 10;
        if (s.length >= 2 && s[0] === '0') {
            if (s[1] === 'x' || s[1] === 'X') {
                s = StringSlice(s, 2);
                radix = 16;
            } else {
                s = StringSlice(s, 1);
                radix = 8;
            }
        }
        if (s === '') return 0;
        const legal = radix === 10 ? /^[0-9]+$/ : radix === 16 ? /^[0-9a-fA-F]+$/ : /^[0-7]+$/;
        return RegExpTest(legal, s) ? parseInt(s, radix) : NaN;
    };
    const parseInt = p.global.parseInt;
    const endsInNumber = (domain) => {
        const parts = StringSplit(domain, '.');
        if (parts[parts.length - 1] === '') {
            if (parts.length === 1) return false;
            ArrayPop(parts);
        }
        const last = parts[parts.length - 1];
        return RegExpTest(/^[0-9]+$/, last) || RegExpTest(/^0[xX][0-9a-fA-F]*$/, last);
    };
    const ipv4 = (domain) => {
        const parts = StringSplit(domain, '.');
        if (parts[parts.length - 1] === '' && parts.length > 1) ArrayPop(parts);
        if (parts.length > 4) return null;
        let address = 0;
        for (let i = 0; i < parts.length; i++) {
            const n = ipv4Number(parts[i]);
            if (n !== n) return null;
            if (i < parts.length - 1) {
                if (n > 255) return null;
                address += n * 256 ** (3 - i);
            } else {
                if (n >= 256 ** (5 - parts.length)) return null;
                address += n;
            }
        }
        return `${MathFloor(address / 16777216)}.${MathFloor(address / 65536) % 256}.${MathFloor(address / 256) % 256}.${address % 256}`;
    };

    const ipv6 = (s) => {
        const a = [0, 0, 0, 0, 0, 0, 0, 0];
        let piece = 0;
        let compress = -1;
        let i = 0;
        const at = (k) => (k < s.length ? StringCharCodeAt(s, k) : EOF);
        if (at(0) === 58) {
            if (at(1) !== 58) return null;
            i = 2;
            compress = ++piece;
        }
        while (i < s.length) {
            if (piece === 8) return null;
            if (at(i) === 58) {
                if (compress >= 0) return null;
                i++;
                compress = ++piece;
                continue;
            }
            let value = 0;
            let length = 0;
            while (length < 4 && hexValue(at(i)) >= 0) {
                value = value * 16 + hexValue(at(i++));
                length++;
            }
            if (at(i) === 46) {
                if (length === 0 || piece > 6) return null;
                i -= length;
                for (let seen = 0; i < s.length; ) {
                    let n = -1;
                    if (seen > 0) {
                        if (at(i) !== 46 || seen >= 4) return null;
                        i++;
                    }
                    if (!(at(i) >= 48 && at(i) <= 57)) return null;
                    while (at(i) >= 48 && at(i) <= 57) {
                        const digit = at(i++) - 48;
                        if (n === -1) n = digit;
                        else if (n === 0) return null;
                        else n = n * 10 + digit;
                        if (n > 255) return null;
                    }
                    a[piece] = a[piece] * 256 + n;
                    seen++;
                    if (seen === 2 || seen === 4) piece++;
                    if (i >= s.length && seen !== 4) return null;
                }
                break;
            }
            if (at(i) === 58) {
                if (++i >= s.length) return null;
            } else if (i < s.length) return null;
            a[piece++] = value;
        }
        if (compress >= 0) {
            let swaps = piece - compress;
            piece = 7;
            while (piece !== 0 && swaps > 0) {
                const other = compress + swaps - 1;
                const t = a[other];
                a[other] = a[piece];
                a[piece] = t;
                piece--;
                swaps--;
            }
        } else if (piece !== 8) return null;
        return ipv6Text(a);
    };
    const ipv6Text = (a) => {
        let best = -1;
        let bestLength = 1;
        for (let i = 0; i < 8; i++) {
            let n = 0;
            while (i + n < 8 && a[i + n] === 0) n++;
            if (n > bestLength) [best, bestLength] = [i, n];
            if (n > 0) i += n - 1;
        }
        let out = '';
        for (let i = 0; i < 8; i++) {
            if (i === best) {
                out += i === 0 ? '::' : ':';
                i += bestLength - 1;
                continue;
            }
            out += NumberToString(a[i], 16) + (i < 7 ? ':' : '');
        }
        return '[' + out + ']';
    };

    const parseHost = (text, opaque) => {
        if (text[0] === '[') return text[text.length - 1] === ']' ? ipv6(StringSlice(text, 1, -1)) : null;
        if (opaque) return RegExpTest(forbiddenHost, text) ? null : encode(text, C0);
        const domain = toASCII(percentDecode(text));
        if (domain === null) return null;
        return endsInNumber(domain) ? ipv4(domain) : domain;
    };

    // ---- the basic URL parser ----

    const alpha = (c) => (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
    const digit = (c) => c >= 48 && c <= 57;
    const windowsLetter = (s) => s.length === 2 && alpha(StringCharCodeAt(s, 0)) && (s[1] === ':' || s[1] === '|');
    const startsWithDrive = (s, i) =>
        windowsLetter(StringSlice(s, i, i + 2)) && (i + 2 >= s.length || StringIncludes('/\\?#', s[i + 2]));
    const singleDot = (s) => s === '.' || StringToLowerCase(s) === '%2e';
    const doubleDot = (s) => {
        s = StringToLowerCase(s);
        return s === '..' || s === '.%2e' || s === '%2e.' || s === '%2e%2e';
    };
    const shorten = (u) => {
        if (u.scheme === 'file:' && u.path.length === 1 && RegExpTest(/^[A-Za-z]:$/, u.path[0])) return;
        ArrayPop(u.path);
    };
    const fresh = () => ({ __proto__: null, scheme: '', username: '', password: '', host: null, port: null, path: [], opaque: false, query: null, fragment: null });
    const copyPath = (path) => p.ArraySlice(path);

    const [SCHEME_START, SCHEME, NO_SCHEME, SPECIAL_OR_AUTHORITY, PATH_OR_AUTHORITY, RELATIVE, RELATIVE_SLASH, SPECIAL_SLASHES, SPECIAL_IGNORE,
        AUTHORITY, HOST, HOSTNAME, PORT, FILE, FILE_SLASH, FILE_HOST, PATH_START, PATHS, OPAQUE, QUERIES, FRAGMENTS] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

    const setPort = (u, text) => {
        if (text === '') return true;
        const n = +text;
        if (n > 65535) return false;
        u.port = special[u.scheme] === n ? null : n;
        return true;
    };

    // Returns the record, or null for failure. With `override` (a setter) it changes `url` in place
    // and returns false for "no change".
    // size: the standard's state machine, one case per state, is best read next to the standard.
    const parse = (input, base, url, override) => {
        const setting = override !== undefined;
        const u = url || fresh();
        if (!setting) input = p.StringReplace(p.StringReplace(input, /^[\x00-\x20]+/, ''), /[\x00-\x20]+$/, '');
        input = p.StringReplace(input, /[\t\n\r]/g, '');
        let state = setting ? override : SCHEME_START;
        let buffer = '';
        let atSeen = false;
        let inBrackets = false;
        let passwordSeen = false;
        for (let i = 0; ; i++) {
            const c = i < input.length ? StringCharCodeAt(input, i) : EOF;
            switch (state) {
                case SCHEME_START:
                    if (alpha(c)) {
                        buffer += StringToLowerCase(input[i]);
                        state = SCHEME;
                    } else if (!setting) {
                        state = NO_SCHEME;
                        i--;
                    } else return false;
                    break;
                case SCHEME:
                    if (alpha(c) || digit(c) || c === 43 || c === 45 || c === 46) buffer += StringToLowerCase(input[i]);
                    else if (c === 58) {
                        const scheme = buffer + ':';
                        if (setting) {
                            if (isSpecial(u) !== scheme in special) return false;
                            if ((u.username !== '' || u.password !== '' || u.port !== null) && scheme === 'file:') return false;
                            if (u.scheme === 'file:' && (u.host === '' || u.host === null)) return false;
                            u.scheme = scheme;
                            if (u.port === special[scheme]) u.port = null;
                            return u;
                        }
                        u.scheme = scheme;
                        buffer = '';
                        if (scheme === 'file:') state = FILE;
                        else if (isSpecial(u)) state = base !== null && base.scheme === scheme ? SPECIAL_OR_AUTHORITY : SPECIAL_SLASHES;
                        else if (input[i + 1] === '/') {
                            state = PATH_OR_AUTHORITY;
                            i++;
                        } else {
                            u.opaque = true;
                            u.path = '';
                            state = OPAQUE;
                        }
                    } else if (!setting) {
                        buffer = '';
                        state = NO_SCHEME;
                        i = -1;
                    } else return false;
                    break;
                case NO_SCHEME:
                    if (base === null || (base.opaque && c !== 35)) return null;
                    if (base.opaque) {
                        u.scheme = base.scheme;
                        u.path = base.path;
                        u.opaque = true;
                        u.query = base.query;
                        u.fragment = '';
                        state = FRAGMENTS;
                    } else {
                        state = base.scheme === 'file:' ? FILE : RELATIVE;
                        i--;
                    }
                    break;
                case SPECIAL_OR_AUTHORITY:
                    if (c === 47 && input[i + 1] === '/') {
                        state = SPECIAL_IGNORE;
                        i++;
                    } else {
                        state = RELATIVE;
                        i--;
                    }
                    break;
                case PATH_OR_AUTHORITY:
                    if (c === 47) state = AUTHORITY;
                    else {
                        state = PATHS;
                        i--;
                    }
                    break;
                case RELATIVE:
                    u.scheme = base.scheme;
                    if (c === 47 || (isSpecial(u) && c === 92)) {
                        state = RELATIVE_SLASH;
                        break;
                    }
                    u.username = base.username;
                    u.password = base.password;
                    u.host = base.host;
                    u.port = base.port;
                    u.path = copyPath(base.path);
                    u.query = base.query;
                    if (c === 63) {
                        u.query = '';
                        state = QUERIES;
                    } else if (c === 35) {
                        u.fragment = '';
                        state = FRAGMENTS;
                    } else if (c !== EOF) {
                        u.query = null;
                        shorten(u);
                        state = PATHS;
                        i--;
                    }
                    break;
                case RELATIVE_SLASH:
                    if (isSpecial(u) && (c === 47 || c === 92)) state = SPECIAL_IGNORE;
                    else if (c === 47) state = AUTHORITY;
                    else {
                        u.username = base.username;
                        u.password = base.password;
                        u.host = base.host;
                        u.port = base.port;
                        state = PATHS;
                        i--;
                    }
                    break;
                case SPECIAL_SLASHES:
                    if (c === 47 && input[i + 1] === '/') i++;
                    else i--;
                    state = SPECIAL_IGNORE;
                    break;
                case SPECIAL_IGNORE:
                    if (c !== 47 && c !== 92) {
                        state = AUTHORITY;
                        i--;
                    }
                    break;
                case AUTHORITY:
                    if (c === 64) {
                        if (atSeen) buffer = '%40' + buffer;
                        atSeen = true;
                        for (let k = 0; k < buffer.length; ) {
                            const point = StringCodePointAt(buffer, k);
                            k += point > 0xffff ? 2 : 1;
                            if (point === 58 && !passwordSeen) {
                                passwordSeen = true;
                                continue;
                            }
                            const text = encodePoint(point, USERINFO);
                            if (passwordSeen) u.password += text;
                            else u.username += text;
                        }
                        buffer = '';
                    } else if (c === EOF || c === 47 || c === 63 || c === 35 || (isSpecial(u) && c === 92)) {
                        if (atSeen && buffer === '') return null;
                        i -= buffer.length + 1;
                        buffer = '';
                        state = HOST;
                    } else buffer += input[i];
                    break;
                case HOST:
                case HOSTNAME:
                    if (setting && u.scheme === 'file:') {
                        i--;
                        state = FILE_HOST;
                    } else if (c === 58 && !inBrackets) {
                        if (buffer === '') return setting ? false : null;
                        if (override === HOSTNAME) return false;
                        const parsed = parseHost(buffer, !isSpecial(u));
                        if (parsed === null) return setting ? false : null;
                        u.host = parsed;
                        buffer = '';
                        state = PORT;
                    } else if (c === EOF || c === 47 || c === 63 || c === 35 || (isSpecial(u) && c === 92)) {
                        i--;
                        if (isSpecial(u) && buffer === '') return setting ? false : null;
                        if (setting && buffer === '' && (u.username !== '' || u.password !== '' || u.port !== null)) return false;
                        const parsed = parseHost(buffer, !isSpecial(u));
                        if (parsed === null) return setting ? false : null;
                        u.host = parsed;
                        buffer = '';
                        state = PATH_START;
                        if (setting) return u;
                    } else {
                        if (c === 91) inBrackets = true;
                        if (c === 93) inBrackets = false;
                        buffer += input[i];
                    }
                    break;
                case PORT:
                    if (digit(c)) buffer += input[i];
                    else if (c === EOF || c === 47 || c === 63 || c === 35 || (isSpecial(u) && c === 92) || setting) {
                        if (!setPort(u, buffer)) return setting ? false : null;
                        if (setting) return u;
                        buffer = '';
                        state = PATH_START;
                        i--;
                    } else return null;
                    break;
                case FILE:
                    u.scheme = 'file:';
                    u.host = '';
                    if (c === 47 || c === 92) state = FILE_SLASH;
                    else if (base !== null && base.scheme === 'file:') {
                        u.host = base.host;
                        u.path = copyPath(base.path);
                        u.query = base.query;
                        if (c === 63) {
                            u.query = '';
                            state = QUERIES;
                        } else if (c === 35) {
                            u.fragment = '';
                            state = FRAGMENTS;
                        } else if (c !== EOF) {
                            u.query = null;
                            if (!startsWithDrive(input, i)) shorten(u);
                            else u.path = [];
                            state = PATHS;
                            i--;
                        }
                    } else {
                        state = PATHS;
                        i--;
                    }
                    break;
                case FILE_SLASH:
                    if (c === 47 || c === 92) state = FILE_HOST;
                    else {
                        if (base !== null && base.scheme === 'file:') {
                            u.host = base.host;
                            if (!startsWithDrive(input, i) && base.path.length > 0 && RegExpTest(/^[A-Za-z]:$/, base.path[0])) ArrayPush(u.path, base.path[0]);
                        }
                        state = PATHS;
                        i--;
                    }
                    break;
                case FILE_HOST:
                    if (c === EOF || c === 47 || c === 92 || c === 63 || c === 35) {
                        i--;
                        if (!setting && windowsLetter(buffer)) state = PATHS;
                        else if (buffer === '') {
                            u.host = '';
                            if (setting) return u;
                            state = PATH_START;
                        } else {
                            let parsed = parseHost(buffer, !isSpecial(u));
                            if (parsed === null) return setting ? false : null;
                            if (parsed === 'localhost') parsed = '';
                            u.host = parsed;
                            if (setting) return u;
                            buffer = '';
                            state = PATH_START;
                        }
                    } else buffer += input[i];
                    break;
                case PATH_START:
                    if (isSpecial(u)) {
                        state = PATHS;
                        if (c !== 47 && c !== 92) i--;
                    } else if (!setting && c === 63) {
                        u.query = '';
                        state = QUERIES;
                    } else if (!setting && c === 35) {
                        u.fragment = '';
                        state = FRAGMENTS;
                    } else if (c !== EOF) {
                        state = PATHS;
                        if (c !== 47) i--;
                    } else if (setting && u.host === null) ArrayPush(u.path, '');
                    break;
                case PATHS: {
                    const slash = c === 47 || (isSpecial(u) && c === 92);
                    if (c === EOF || slash || (!setting && (c === 63 || c === 35))) {
                        if (doubleDot(buffer)) {
                            shorten(u);
                            if (!slash) ArrayPush(u.path, '');
                        } else if (singleDot(buffer)) {
                            if (!slash) ArrayPush(u.path, '');
                        } else {
                            if (u.scheme === 'file:' && u.path.length === 0 && windowsLetter(buffer)) buffer = buffer[0] + ':';
                            ArrayPush(u.path, buffer);
                        }
                        buffer = '';
                        if (c === 63) {
                            u.query = '';
                            state = QUERIES;
                        }
                        if (c === 35) {
                            u.fragment = '';
                            state = FRAGMENTS;
                        }
                    } else {
                        const point = StringCodePointAt(input, i);
                        buffer += encodePoint(point, PATH);
                        if (point > 0xffff) i++;
                    }
                    break;
                }
                case OPAQUE:
                    if (c === 63 || c === 35) {
                        if (c === 63) {
                            u.query = '';
                            state = QUERIES;
                        } else {
                            u.fragment = '';
                            state = FRAGMENTS;
                        }
                    } else if (c === 32) {
                        const next = input[i + 1];
                        u.path += next === '?' || next === '#' ? '%20' : ' ';
                    } else if (c !== EOF) {
                        const point = StringCodePointAt(input, i);
                        u.path += encodePoint(point, C0);
                        if (point > 0xffff) i++;
                    }
                    break;
                case QUERIES: {
                    const end = setting ? -1 : StringIndexOf(input, '#', i);
                    const text = StringSlice(input, i, end < 0 ? undefined : end);
                    u.query += encode(text, isSpecial(u) ? SPECIAL_QUERY : QUERY);
                    if (end < 0) i = input.length;
                    else {
                        u.fragment = '';
                        state = FRAGMENTS;
                        i = end;
                    }
                    break;
                }
                case FRAGMENTS:
                    u.fragment += encode(StringSlice(input, i), FRAGMENT);
                    i = input.length;
                    break;
            }
            if (i >= input.length) break;
        }
        return u;
    };

    const pathText = (u) => {
        if (u.opaque) return u.path;
        let s = '';
        for (let i = 0; i < u.path.length; i++) s += '/' + u.path[i];
        return s;
    };
    const serialise = (u) => {
        let s = u.scheme;
        if (u.host !== null) {
            s += '//';
            if (u.username !== '' || u.password !== '') s += u.username + (u.password !== '' ? ':' + u.password : '') + '@';
            s += u.host + (u.port !== null ? ':' + u.port : '');
        } else if (!u.opaque && u.path.length > 1 && u.path[0] === '') s += '/.';
        s += pathText(u);
        if (u.query !== null) s += '?' + u.query;
        if (u.fragment !== null) s += '#' + u.fragment;
        return s;
    };

    rt.urlParser = {
        __proto__: null, parse, serialise, pathText, isSpecial, encode, percentDecode, special, sets: { __proto__: null, C0, USERINFO, FRAGMENT, QUERY, SPECIAL_QUERY },
        states: { __proto__: null, SCHEME_START, HOST, HOSTNAME, PORT, PATH_START, QUERIES, FRAGMENTS },
    };
})
