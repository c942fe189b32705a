import { even } from "./a.mjs";
import A from "./a.mjs";
export const early = even(0);
export function odd(n: number): boolean { return n === 0 ? false : even(n - 1) }
export const lazy = () => A;
