export default function () { return "func" }
