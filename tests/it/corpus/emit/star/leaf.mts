export const one = 1, two = 2;
export type T = number;
export default "leaf default";
