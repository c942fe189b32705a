export const log: string[] = ["log"];
