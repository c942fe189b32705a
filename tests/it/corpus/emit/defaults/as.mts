const value = { deep: 1 };
export { value as default };
interface Foo {}
export { Foo };
export type { Foo as Bar };
