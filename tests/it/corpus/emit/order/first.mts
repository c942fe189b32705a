import { log } from "./log.mjs"; await null; log.push("first");
