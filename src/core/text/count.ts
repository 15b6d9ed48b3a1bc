/** `1 file`, `2 files`, `3 addresses` */
export function countOf(count: number, noun: string): string {
  const ending = count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'
  return `${writeNumber(count)} ${noun}${ending}`
}

/** A whole number, `12,345`. Does without `toLocaleString`, for which the runtime loads tables of eight megabytes. */
export function writeNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Writes a share from 0 to 1 as `64 %`, rounded down, so that 100 % means complete. */
export function writePercent(share: number): string {
  return `${Math.floor(share * 100)} %`
}
