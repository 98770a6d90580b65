/** A mistake on the command line, described in one line. */
export class UsageError extends Error {}
