export default function* <T>(): Generator<number> { yield 1 }
