import { odd, early } from "./b.mjs";
export function even(n: number): boolean { return n === 0 ? true : odd(n - 1) }
export const aReady = early;
export default class A {}
