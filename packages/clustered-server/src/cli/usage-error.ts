/** A mistake of the user, in one line: the command prints it without a stack, and exits with 2. */
export class UsageError extends Error {}
