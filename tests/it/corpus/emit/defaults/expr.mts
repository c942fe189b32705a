const t = 4; export default { t, u: [t] } as const satisfies object
