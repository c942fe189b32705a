export const a = "A", b = "B", c = "C";
