import { a } from "x"
foo
a()
export default function () {}
let f = (a): {
b: c
} => d