// Imports that are only used as types are not loaded at all.
import { OnlyType } from "./explodes.mjs";
import Unused, { alsoUnused } from "./explodes.mjs";
import type Whole from "./explodes.mjs";
import { type Inline, used } from "./fine.mjs";
import * as Types from "./explodes.mjs";
import "./effect.mjs";
const x: OnlyType = 1 as Types.Foo;
let y: typeof alsoUnused;
function f(a: Unused, used: number) { return used }
export default [x, used, f(0, 3), (globalThis as any).effectRan];
