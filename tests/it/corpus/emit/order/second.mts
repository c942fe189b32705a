import "./first.mjs"; import { log } from "./log.mjs"; log.push("second"); export const second = () => log.push("called");
