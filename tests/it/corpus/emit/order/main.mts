import { log } from "./log.mjs"; log.push("main"); import "./first.mjs"; import { second } from "./second.mjs"; second();
export default log;
