/** Its app is not where it is looked for. */
export const port = 3000
