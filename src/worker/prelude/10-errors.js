// Errors the runtime itself raises, and the description of whatever a program throws.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { Error, TypeError, ObjectCreate, ObjectDefineProperty, StringSlice, String } = p;

    // What the runtime raised, with the type the report will show. A program cannot get in here: an
    // error that only looks like ours is a runtime_error (attack S12).
    const branded = new p.SafeWeakMap();
    rt.brand = (error, type, extra) => {
        branded.set(error, { __proto__: null, type, ...extra });
        return error;
    };

    rt.isBranded = (error) => branded.has(error);

    class ToolError extends Error {
        constructor(message, options) {
            super(message, options);
            if (options && options.code !== undefined) this.code = options.code;
            if (options && options.server !== undefined) this.server = options.server;
            if (options && options.tool !== undefined) this.tool = options.tool;
            if (options && options.retryable !== undefined) this.retryable = options.retryable;
            if (options && options.suggestion !== undefined) this.suggestion = options.suggestion;
        }
    }
    ObjectDefineProperty(ToolError.prototype, 'name', { __proto__: null, value: 'ToolError', writable: true, configurable: true });
    rt.ToolError = ToolError;

    // (type, message) makes one; (type, error, file) gives an existing one its type.
    rt.makeError = (type, what, more) => {
        if (p.isObject(what)) return rt.brand(what, type, { file: more });
        const Kind = type === 'syntax_error' ? p.SyntaxError : Error;
        return rt.brand(new Kind(what), type, more === undefined ? undefined : { suggestion: more });
    };
    rt.permission = (message, suggestion) => rt.brand(new Error(message), 'permission_error', { suggestion });
    rt.invalid = (message, suggestion) =>
        rt.brand(new TypeError(message), 'validation_error', suggestion === undefined ? undefined : { suggestion });
    rt.limitError = (message, limit, value, unit, suggestion) =>
        rt.brand(new p.RangeError(message), 'resource_error', { limit, limitValue: value, limitUnit: unit, suggestion });

    const textOf = (value, max) => {
        try {
            if (typeof value === 'symbol') return p.SymbolToString(value);
            return StringSlice(String(value), 0, max);
        } catch {
            return '';
        }
    };
    const read = (object, key) => {
        try {
            return object[key];
        } catch {
            return undefined;
        }
    };

    const typeErrorPrototype = TypeError.prototype;

    // A plain description for report.c: strings and numbers only, cut before they are copied.
    rt.describe = (e) => {
        const d = ObjectCreate(null);
        d.name = d.message = d.stack = d.type = '';
        if (!p.isObject(e)) {
            d.name = 'Error';
            d.message = 'the program threw ' + (typeof e === 'string' ? e : rt.inspect(e));
            return d;
        }
        const mine = branded.get(e);
        if (mine) {
            d.type = mine.type;
            d.suggestion = mine.suggestion;
            d.limit = mine.limit;
            d.limitValue = mine.limitValue;
            d.limitUnit = mine.limitUnit;
            d.file = mine.file;
            d.awaits = mine.awaits;
            d.line = read(e, 'line');
        } else if (p.ObjectIsPrototypeOf(typeErrorPrototype, e)) d.type = 'type_error';
        if (!p.isError(e)) {
            d.name = 'Error';
            d.message = 'the program threw ' + StringSlice(rt.inspect(e), 0, 4000);
            return d;
        }
        d.name = textOf(read(e, 'name'), 200) || 'Error';
        d.message = textOf(read(e, 'message'), 8192);
        // Which tool it was, for a reader who has only the message.
        if (mine && mine.tool !== undefined && !p.StringIncludes(d.message, mine.tool)) d.message = `${mine.tool}: ${d.message}`;
        d.stack = textOf(read(e, 'stack'), 65536);
        // Half characters (lone surrogates) have no JSON form: what was thrown cannot be given back as it was.
        if (d.type === '' && !p.StringIsWellFormed(d.name + d.message)) {
            d.type = 'validation_error';
            d.suggestion = 'The text of the error holds half characters (lone surrogates); toWellFormed() mends a string.';
        }
        const errors = read(e, 'errors');
        if (p.ArrayIsArray(errors)) {
            for (let i = 0; i < p.MathMin(errors.length, 5); i++)
                d.message += '\n- ' + StringSlice(textOf(read(errors, i), 300), 0, 300);
        }
        const cause = read(e, 'cause');
        if (p.isError(cause) && cause !== e)
            d.message += '\ncaused by ' + textOf(read(cause, 'name'), 100) + ': ' + textOf(read(cause, 'message'), 500);
        return d;
    };
    void host;
})
