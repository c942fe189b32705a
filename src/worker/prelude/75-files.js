// Files beneath /workspace and /tmp: node:fs/promises, and the two functions of Deno that are common.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { String, Error, TypeError, ObjectDefineProperty } = p;
    const [READ, WRITE, APPEND, STAT, LIST, MKDIR, REMOVE, RENAME, COPY] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const [NOTHING, TEXT, BYTES, JSON] = [0, 1, 2, 3];

    // The host says what kind of failure it was; the text may name the errno.
    const codes = ['', 'ENOENT', 'EACCES', 'ENOSPC', 'EINVAL', 'EIO'];
    const texts = {
        __proto__: null,
        ENOENT: 'no such file or directory',
        EACCES: 'permission denied',
        ENOSPC: 'no space left',
        EINVAL: 'invalid argument',
        EIO: 'i/o error',
        EEXIST: 'file already exists',
        EISDIR: 'illegal operation on a directory',
        ENOTDIR: 'not a directory',
        ENOTEMPTY: 'directory not empty',
        EROFS: 'read-only file system',
        EFBIG: 'file too large',
        EPERM: 'operation not permitted',
    };
    const named = /^(E[A-Z]{2,12})\b:? ?/;
    const failed = (syscall, path) => (status, message) => {
        let code = codes[status] || 'EIO';
        const m = p.RegExpExec(named, message);
        if (m !== null) {
            code = m[1];
            message = p.StringSlice(message, m[0].length);
        }
        const text = texts[code] || message || 'failed';
        const more = message && message !== text ? ` (${message})` : '';
        const error = new Error(`${code}: ${text}${more}, ${syscall} '${path}'`);
        error.code = code;
        error.syscall = syscall;
        error.path = path;
        if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
            rt.brand(error, 'permission_error', { suggestion: 'Only files beneath /workspace and /tmp can be written.' });
        if (code === 'ENOSPC' || code === 'EFBIG') rt.brand(error, 'resource_error', { limit: 'scratch', limitValue: 0 });
        return error;
    };

    const pathOf = (path) => {
        if (typeof path === 'string') return path;
        if (rt.isURL(path)) {
            if (path.protocol !== 'file:') throw new TypeError('the URL of a file must start with file:');
            return p.global.decodeURIComponent(path.pathname);
        }
        if (p.isTypedArray(path)) return host.decode(path, false);
        throw new TypeError(`a path must be a string, not ${path === null ? 'null' : typeof path}`);
    };
    const encodingOf = (options) => (typeof options === 'string' ? options : p.isObject(options) ? options.encoding : undefined);
    const flagOf = (options) => (p.isObject(options) ? options.flag : undefined);

    const send = (op, syscall, path, data, flags, want) => rt.request(host.file(op, path, data, flags, want), failed(syscall, path));

    const dataOf = (data, encoding) => {
        if (typeof data === 'string') return encoding && encoding !== 'utf8' && encoding !== 'utf-8' ? rt.Buffer.from(data, encoding) : data;
        if (p.ArrayBufferIsView(data)) {
            if (p.isTypedArray(data)) return data;
            return new p.Uint8Array(p.DataViewBuffer(data), p.DataViewByteOffset(data), p.DataViewByteLength(data));
        }
        if (p.isArrayBuffer(data)) return new p.Uint8Array(data);
        throw new TypeError(`the data must be a string or bytes, not ${data === null ? 'null' : typeof data}; JSON.stringify an object first`);
    };

    class Stats {
        constructor(s) {
            this.size = s.size;
            this.mtimeMs = s.mtimeMs;
            this.mtime = new p.Date(s.mtimeMs);
            ObjectDefineProperty(this, 'type', { __proto__: null, value: s.type });
        }
        isFile() {
            return this.type === 'file';
        }
        isDirectory() {
            return this.type === 'directory';
        }
        isSymbolicLink() {
            return false;
        }
    }
    class Dirent {
        constructor(name, type, parent) {
            this.name = name;
            this.parentPath = parent;
            ObjectDefineProperty(this, 'type', { __proto__: null, value: type });
        }
        isFile() {
            return this.type === 'file';
        }
        isDirectory() {
            return this.type === 'directory';
        }
        isSymbolicLink() {
            return false;
        }
    }
    rt.Stats = Stats;
    rt.Dirent = Dirent;

    const list = async (path, prefix, recursive, out) => {
        const entries = await send(LIST, 'scandir', path, undefined, 0, JSON);
        for (let i = 0; i < entries.length; i++) {
            const { name, type } = entries[i];
            out[out.length] = { __proto__: null, name: prefix + name, base: name, type, parent: path };
            if (recursive && type === 'directory') await list(path + '/' + name, prefix + name + '/', true, out);
        }
        return out;
    };

    const fs = {
        async readFile(path, options) {
            path = pathOf(path);
            const encoding = encodingOf(options);
            if (encoding === 'utf8' || encoding === 'utf-8') return send(READ, 'open', path, undefined, 0, TEXT);
            const bytes = rt.asBuffer(await send(READ, 'open', path, undefined, 0, BYTES));
            return encoding === undefined || encoding === null || encoding === 'buffer' ? bytes : bytes.toString(encoding);
        },
        async writeFile(path, data, options) {
            path = pathOf(path);
            data = dataOf(data, encodingOf(options));
            const flag = flagOf(options);
            if (flag === 'a') return send(APPEND, 'open', path, data, 0, NOTHING);
            return send(WRITE, 'open', path, data, flag === 'wx' ? 1 : 0, NOTHING);
        },
        async appendFile(path, data, options) {
            return send(APPEND, 'open', pathOf(path), dataOf(data, encodingOf(options)), 0, NOTHING);
        },
        async mkdir(path, options) {
            return send(MKDIR, 'mkdir', pathOf(path), undefined, p.isObject(options) && options.recursive ? 1 : 0, NOTHING);
        },
        async mkdtemp(prefix) {
            const path = pathOf(prefix) + p.StringSlice(p.NumberToString(rt.random(), 36), 2, 8);
            await send(MKDIR, 'mkdtemp', path, undefined, 0, NOTHING);
            return path;
        },
        async readdir(path, options) {
            path = pathOf(path);
            const entries = await list(path, '', p.isObject(options) && !!options.recursive, p.list());
            const typed = p.isObject(options) && !!options.withFileTypes;
            const out = [];
            for (let i = 0; i < entries.length; i++) {
                const e = entries[i];
                ObjectDefineProperty(out, i, {
                    __proto__: null, value: typed ? new Dirent(e.base, e.type, e.parent) : e.name,
                    writable: true, enumerable: true, configurable: true,
                });
            }
            return out;
        },
        async stat(path) {
            return new Stats(await send(STAT, 'stat', pathOf(path), undefined, 0, JSON));
        },
        async lstat(path) {
            return new Stats(await send(STAT, 'lstat', pathOf(path), undefined, 0, JSON));
        },
        async access(path) {
            await send(STAT, 'access', pathOf(path), undefined, 0, JSON);
        },
        async rm(path, options) {
            const o = p.isObject(options) ? options : {};
            return send(REMOVE, 'rm', pathOf(path), undefined, (o.recursive ? 1 : 0) | (o.force ? 2 : 0), NOTHING);
        },
        async unlink(path) {
            return send(REMOVE, 'unlink', pathOf(path), undefined, 0, NOTHING);
        },
        async rmdir(path, options) {
            return send(REMOVE, 'rmdir', pathOf(path), undefined, p.isObject(options) && options.recursive ? 1 : 0, NOTHING);
        },
        async rename(from, to) {
            return send(RENAME, 'rename', pathOf(from), pathOf(to), 0, NOTHING);
        },
        async copyFile(from, to) {
            return send(COPY, 'copyfile', pathOf(from), pathOf(to), 0, NOTHING);
        },
        constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 },
    };
    rt.fs = fs;
    rt.Deno = {
        async readTextFile(path) {
            return send(READ, 'open', pathOf(path), undefined, 0, TEXT);
        },
        async writeTextFile(path, data, options) {
            const append = p.isObject(options) && options.append;
            return send(append ? APPEND : WRITE, 'open', pathOf(path), String(data), 0, NOTHING);
        },
    };
})
