export let value = 0;
export function increment() { return ++value }
export default function named() {}
export const object = { n: 5, method() { return this.n } };
export let later: string | undefined;
export function setLater(s: string) { later = s }
export class Klass { n = value }
export function list(s: TemplateStringsArray, ...v: unknown[]) { return s.join("-") + v }
export function noThis(this: unknown) { return this === undefined }
const local = "odd"
export { local as "odd name" }
