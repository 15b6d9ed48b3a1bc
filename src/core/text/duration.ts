const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Parses a duration as milliseconds: `200ms`, `90s`, `15m`, `1.5 h`, `7d`, `2w`; a bare number counts seconds. Undefined for other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)\s?(ms|[smhdw])?$/i.exec(text.trim())
  if (match === null) return undefined
  const ms = Number(match[1]) * (UNITS[(match[2] ?? '').toLowerCase()] ?? 1)
  // Rounding removes fractions of a millisecond, most of which are rounding errors of binary numbers.
  return Number.isSafeInteger(Math.round(ms)) ? Math.round(ms) : undefined
}

/** Writes a duration for people, by its two largest units: `200ms`, `4.2s`, `3m 12s`, `2h 5m`, `7d`. */
export function writeDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole === 0) return '0s'
  if (whole < 1000) return `${whole}ms`
  for (const { large, small, ratio, smallMs } of PAIRS) {
    const count = Math.round(whole / smallMs)
    if (count < ratio) continue
    const rest = count % ratio
    return `${Math.floor(count / ratio)}${large}${rest === 0 ? '' : ` ${rest}${small}`}`
  }
  return `${(whole / 1000).toFixed(1).replace(/\.0$/, '')}s`
}

/** Writes a duration in whole seconds: `4s`, `3m 12s`. */
export function writeSpan(ms: number): string {
  return writeDuration(Math.floor(ms / 1000) * 1000)
}

const PAIRS = [
  { large: 'd', small: 'h', ratio: 24, smallMs: 3_600_000 },
  { large: 'h', small: 'm', ratio: 60, smallMs: 60_000 },
  { large: 'm', small: 's', ratio: 60, smallMs: 1000 },
] as const
