/** Rate limit against guessing tokens. */
export interface LoginRateLimit {
  /** How long all logins stay blocked, in milliseconds; 0 when a login is allowed. */
  waitMs(): number
  recordAttempt(isRight: boolean): void
}

/** Number of wrong tokens in a row that causes the first wait. */
const MIN_WRONG_COUNT = 5
const FIRST_WAIT_MS = 1000
/** Upper limit of the wait, because it also blocks the owner of the right token. */
const MAX_WAIT_MS = 30_000

/**
 * Creates the rate limit. The limit is global and keeps no state per client, because client addresses are unreliable behind a proxy.
 * Callers must not record attempts during a wait, so that no client can extend the wait.
 */
export function createLoginRateLimit(now: () => number): LoginRateLimit {
  let wrongCount = 0
  let blockedUntil = 0
  return {
    waitMs: () => Math.max(0, blockedUntil - now()),
    recordAttempt(isRight) {
      wrongCount = isRight ? 0 : wrongCount + 1
      const doublings = Math.min(wrongCount - MIN_WRONG_COUNT, 10)
      if (doublings >= 0) blockedUntil = now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** doublings)
    },
  }
}
