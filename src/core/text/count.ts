/** `1 file`, `2 files`, `3 addresses` */
export function countOf(count: number, noun: string): string {
  const ending = count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'
  return `${count.toLocaleString('en')} ${noun}${ending}`
}
