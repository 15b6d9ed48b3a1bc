/** `1 file`, `2 files`, `3 addresses` */
export function countOf(count: number, noun: string): string {
  const ending = count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'
  return `${writeNumber(count)} ${noun}${ending}`
}

/** A whole number, `12,345`. Written by hand: the tables that the runtime loads for `toLocaleString` take eight megabytes. */
export function writeNumber(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `64 %` of a share from 0 to 1: never 100 while something is missing. */
export function writePercent(share: number): string {
  return `${Math.floor(share * 100)} %`
}
