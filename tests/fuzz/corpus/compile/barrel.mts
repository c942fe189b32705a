export * from "./leaf.mjs";
export * as ns from "./leaf.mjs";
export { one as renamed, default } from "./leaf.mjs";
export * from "./other.mjs";
export type { T } from "./leaf.mjs";
export { type T as U, two } from "./leaf.mjs";
