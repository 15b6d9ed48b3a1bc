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
