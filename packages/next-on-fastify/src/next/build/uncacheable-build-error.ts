/** Thrown if the responses of a build cannot be cached, with the reason. */
export class UncacheableBuildError extends Error {}
