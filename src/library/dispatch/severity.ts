/** How grave a problem is. It is not kept: whoever shows one asks here. */
export function severityOf(kind: string): 'warn' | 'info' {
  return kind === 'missing-hub' ? 'warn' : 'info'
}
