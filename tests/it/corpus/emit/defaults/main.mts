import a from "./arrow.mjs"; import f from "./func.mjs"; import c from "./klass.mjs"; import n from "./named.mjs"; import e from "./expr.mjs"; import g from "./gen.mjs"; import o from "./over.mjs"; import x from "./as.mjs";
export default [a.name, a(), f.name, f(), c.name, new c().v, n.name, n(), e, [...g()], g.name, o(1), o.name, x];
