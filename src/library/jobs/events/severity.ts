/** Severity of a problem. It is derived from the kind and not stored. */
export function severityOf(kind: string): 'warn' | 'info' {
  return kind === 'missing-hub' || kind === 'missing-header' || kind === 'no-page-limit' ? 'warn' : 'info'
}
