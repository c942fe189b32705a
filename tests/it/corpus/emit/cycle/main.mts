import { even, aReady } from "./a.mjs";
import { odd } from "./b.mjs";
export default [even(10), odd(7), even(3), aReady];
