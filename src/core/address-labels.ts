/** The states of an address in words for people, as all pages show them. Commands and the API give the state itself. */
export const STATE_LABELS = {
  pending: 'to read',
  leased: 'being read',
  indexed: 'read',
  unchanged: 'unchanged',
  skipped: 'left out',
  failed: 'failed',
  gone: 'gone',
} as const

/** What the recorded pattern of an address is: the limit that was reached, or the rule that matched. */
export function patternLabel(reason: string | null): string {
  return reason === 'max-depth' || reason === 'page-cap' ? 'Limit' : 'Rule'
}
