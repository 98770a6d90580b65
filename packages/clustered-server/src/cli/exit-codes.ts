/** Exit codes of the command. They are API: scripts test for them. */
export const EXIT = { done: 0, failed: 1, usage: 2, noService: 3 } as const
