/** Some checks failed and the output already says so. Only the exit code is left to set. */
export class ChecksFailedError extends Error {
  readonly exitCode = 1
}
