/** A mistake on the command line, described in one line. */
export class UsageError extends Error {}

/** No running service is the one that the command line names. */
export class NoServiceError extends Error {}
