/** A message for the user about a failure. */
export interface ErrorMessage {
  readonly message: string
  /** Advice on how to fix it. */
  readonly advice: string
}

/** A failure that the user can do something about. */
export class UserError extends Error {
  override readonly name = 'UserError'
  readonly advice: string

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options)
    this.advice = advice
  }
}

/** Turns any thrown value into a message for the user. */
export function describeError(error: unknown): ErrorMessage {
  if (error instanceof UserError) return { message: error.message, advice: error.advice }
  if (error instanceof DOMException && error.name === 'QuotaExceededError') return QUOTA_EXCEEDED
  const message = error instanceof Error ? error.message : String(error)
  return { message: `Something went wrong: ${message}`, advice: 'Try again; the stored indexes are unchanged.' }
}

const QUOTA_EXCEEDED: ErrorMessage = {
  message: 'The browser has no room left for this.',
  advice:
    'Delete an index that you no longer need, or free space on the disk; the open index can still be searched and exported.',
}
