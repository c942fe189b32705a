// DOMException, Event, EventTarget, AbortController and AbortSignal.
(function (rt, host) {
    'use strict';
    const p = rt.prim;
    const { Error, TypeError, String, ReflectApply, ObjectDefineProperty } = p;

    const codes = {
        __proto__: null, IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
        InvalidCharacterError: 5, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21,
        QuotaExceededError: 22, TimeoutError: 23, DataCloneError: 25,
    };
    class DOMException extends Error {
        #name;
        constructor(message = '', name = 'Error') {
            super(String(message));
            if (p.isObject(name)) {
                if ('cause' in name) this.cause = name.cause;
                name = name.name ?? 'Error';
            }
            this.#name = String(name);
        }
        get name() {
            return this.#name;
        }
        get code() {
            return codes[this.#name] ?? 0;
        }
    }
    ObjectDefineProperty(DOMException.prototype, p.SymbolToStringTag, { __proto__: null, value: 'DOMException', configurable: true });
    rt.DOMException = DOMException;

    class Event {
        #type;
        #cancelable;
        #prevented = false;
        #stopped = false;
        #target = null;
        constructor(type, options) {
            if (arguments.length === 0) throw new TypeError('an Event needs a type');
            this.#type = String(type);
            this.#cancelable = !!(options && options.cancelable);
            ObjectDefineProperty(this, 'timeStamp', { __proto__: null, value: rt.performance.now(), enumerable: true });
        }
        get type() {
            return this.#type;
        }
        get target() {
            return this.#target;
        }
        get currentTarget() {
            return this.#target;
        }
        get cancelable() {
            return this.#cancelable;
        }
        get bubbles() {
            return false;
        }
        get defaultPrevented() {
            return this.#prevented;
        }
        preventDefault() {
            if (this.#cancelable) this.#prevented = true;
        }
        stopPropagation() {}
        stopImmediatePropagation() {
            this.#stopped = true;
        }
        static begin(event, target) {
            event.#target = target;
            event.#stopped = false;
        }
        static isStopped(event) {
            return event.#stopped;
        }
        static isPrevented(event) {
            return event.#prevented;
        }
        static is(value) {
            return p.isObject(value) && #type in value;
        }
    }
    const { begin, isStopped, isPrevented, is: isEvent } = Event;
    delete Event.begin;
    delete Event.isStopped;
    delete Event.isPrevented;
    delete Event.is;

    class CustomEvent extends Event {
        #detail;
        constructor(type, options) {
            super(type, options);
            this.#detail = options && options.detail !== undefined ? options.detail : null;
        }
        get detail() {
            return this.#detail;
        }
    }

    class EventTarget {
        #listeners = new p.SafeMap();
        addEventListener(type, callback, options) {
            if (callback === null || callback === undefined) return;
            if (!p.isObject(callback)) throw new TypeError('a listener must be a function or an object with handleEvent');
            type = String(type);
            const once = p.isObject(options) && !!options.once;
            const signal = p.isObject(options) ? options.signal : undefined;
            if (signal && signal.aborted) return;
            let list = this.#listeners.get(type);
            if (list === undefined) this.#listeners.set(type, (list = p.list()));
            for (let i = 0; i < list.length; i++) if (list[i].callback === callback) return;
            list[list.length] = { __proto__: null, callback, once };
            if (signal) signal.addEventListener('abort', () => this.removeEventListener(type, callback));
        }
        removeEventListener(type, callback) {
            const list = this.#listeners.get(String(type));
            if (list === undefined) return;
            const kept = p.list();
            for (let i = 0; i < list.length; i++) if (list[i].callback !== callback) kept[kept.length] = list[i];
            this.#listeners.set(String(type), kept);
        }
        dispatchEvent(event) {
            if (!isEvent(event)) throw new TypeError('dispatchEvent needs an Event');
            begin(event, this);
            const list = this.#listeners.get(event.type);
            for (let i = 0; list !== undefined && i < list.length && !isStopped(event); i++) {
                const { callback, once } = list[i];
                if (once) this.removeEventListener(event.type, callback);
                try {
                    if (typeof callback === 'function') ReflectApply(callback, this, [event]);
                    else callback.handleEvent(event);
                } catch (e) {
                    rt.uncaught(e);
                }
            }
            return !isPrevented(event);
        }
    }

    const key = {}; // only we can make signals
    let abort;
    class AbortSignal extends EventTarget {
        #aborted = false;
        #reason = undefined;
        #handler = null;
        #dependants = p.list();
        constructor(k) {
            if (k !== key) throw new TypeError('Illegal constructor');
            super();
        }
        get aborted() {
            return this.#aborted;
        }
        get reason() {
            return this.#reason;
        }
        get onabort() {
            return this.#handler;
        }
        set onabort(f) {
            this.#handler = typeof f === 'function' ? f : null;
        }
        throwIfAborted() {
            if (this.#aborted) throw this.#reason;
        }
        static abort(reason) {
            const s = new AbortSignal(key);
            abort(s, reason);
            return s;
        }
        static timeout(ms) {
            const s = new AbortSignal(key);
            rt.timers.setTimeout(() => abort(s, new DOMException('The operation timed out.', 'TimeoutError')), ms);
            return s;
        }
        static any(signals) {
            const s = new AbortSignal(key);
            for (const other of signals) {
                if (other.#aborted) {
                    abort(s, other.#reason);
                    return s;
                }
            }
            for (const other of signals) other.#dependants[other.#dependants.length] = s;
            return s;
        }
        static {
            abort = (s, reason) => {
                if (s.#aborted) return;
                s.#aborted = true;
                s.#reason = reason === undefined ? new DOMException('The operation was aborted.', 'AbortError') : reason;
                const event = new Event('abort');
                begin(event, s);
                if (s.#handler !== null) {
                    try {
                        ReflectApply(s.#handler, s, [event]);
                    } catch (e) {
                        rt.uncaught(e);
                    }
                }
                dispatch(s, event);
                for (let i = 0; i < s.#dependants.length; i++) abort(s.#dependants[i], s.#reason);
            };
        }
    }
    const dispatch = p.uncurry(EventTarget.prototype.dispatchEvent);
    class AbortController {
        #signal = new AbortSignal(key);
        get signal() {
            return this.#signal;
        }
        abort(reason) {
            abort(this.#signal, reason);
        }
    }

    for (const C of [Event, CustomEvent, EventTarget, AbortSignal, AbortController]) {
        ObjectDefineProperty(C.prototype, p.SymbolToStringTag, { __proto__: null, value: C.name, configurable: true });
        rt[C.name] = C;
    }
    void host;
})
