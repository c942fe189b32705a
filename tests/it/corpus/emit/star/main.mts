import * as all from "./barrel.mjs";
import { one, renamed, ns, two, default as d } from "./barrel.mjs";
const dynamic = await import("./leaf.mjs");
export default [Object.keys(all).sort(), one, renamed, ns.two, two, d, dynamic.one, (await import(`./other.mjs`)).three, typeof import.meta.url];
