/** Checks failed, and the answer has said so: only the exit code is left to give. */
export class ChecksFailed extends Error {
  readonly exitCode = 1
}
