export interface Inline {} ; export const used = "used";
