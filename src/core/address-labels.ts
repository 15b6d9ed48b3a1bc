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

/** Reasons of links that lead out of the scope of their source; a page can have any number of them. */
export const OUT_OF_SCOPE_REASONS: readonly string[] = ['off-site', 'out-of-scope', 'scheme']

/**
 * Words for codes that say too little: states of addresses, reasons, classes of pages, statuses and stages of crawls. All pages show them;
 * commands and the API give the code.
 */
const LABELS: Readonly<Record<string, string>> = {
  ...STATE_LABELS,
  nav: 'navigation',
  asc: 'ascending',
  desc: 'descending',
  warn: 'warning',
  info: 'note',
  enqueued: 'queued',
  dequeued: 'requested',
  retry: 'to retry',
  drop: 'left out',
  'retriable-error': 'temporary error',
  'db-setup': 'preparing',
  'page-cap': 'page limit',
  'max-depth': 'depth limit',
  'hub-cap': 'page limit of a hub',
  'hub-age': 'too old',
  'guess-missed': 'guessed, not there',
  'off-site': 'other sites',
  'off-domain': 'other sites',
  'out-of-scope': 'outside the scope',
  scheme: 'not a web address',
  'query-skip': 'parameters dropped',
  'superfluous-query': 'with parameters that change nothing',
  'not-allowed': 'not in the allow list',
  'http-server-error': 'server error',
  'http-client-error': 'request refused',
  'robots-disallow': 'robots.txt',
  'robots-unreachable': 'robots.txt unreachable',
  'needs-rendering': 'needs a browser',
  'soft-404': 'says not found',
  'same-content': 'same content',
  'host-parked': 'host given up',
  'not-text': 'no text',
  tls: 'no secure connection',
}

/** A code in words: `robots-disallow` → `robots.txt`, `not-found` → `not found`. */
export function labelOfCode(code: string): string {
  return LABELS[code] ?? code.replaceAll('-', ' ')
}

/** The words for codes, for the script of the server-rendered pages. */
export function writeLabels(): string {
  return JSON.stringify(LABELS)
}

/** What the recorded pattern of an address is: the limit that was reached, or the rule that matched. */
export function patternLabel(reason: string | null): string {
  return reason === 'max-depth' || reason === 'page-cap' ? 'Limit' : 'Rule'
}
