export const three = 3; export const { a: [four], ...five } = { a: [4], b: 5 } as any;
