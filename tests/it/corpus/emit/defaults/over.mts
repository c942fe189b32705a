export default function over(x: number): number
export default function over(x: any) { return x + 1 }
