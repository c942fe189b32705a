export default function named(): string { return "named" + named.length }
