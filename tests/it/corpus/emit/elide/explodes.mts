export type OnlyType = any; export type Foo = any; export const alsoUnused = 1; export default class {}; throw new Error("was loaded");
