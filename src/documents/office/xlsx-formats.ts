import type { XmlElement } from '../xml-tree.ts'

/** What the number of a cell represents. */
export type NumberKind =
  | { readonly type: 'number' }
  | { readonly type: 'percent'; readonly decimals: number }
  | { readonly type: 'date' | 'time' | 'moment' | 'duration' }

const NUMBER: NumberKind = { type: 'number' }

/** Built-in formats that have no format code in the file (ECMA-376, 18.8.30). */
const BUILT_IN: ReadonlyMap<number, NumberKind> = new Map<number, NumberKind>([
  [9, { type: 'percent', decimals: 0 }],
  [10, { type: 'percent', decimals: 2 }],
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58].map(
    (id) => [id, { type: 'date' }] as const,
  ),
  ...[18, 19, 20, 21, 32, 33, 45, 47, 55, 56].map((id) => [id, { type: 'time' }] as const),
  [22, { type: 'moment' }],
  [46, { type: 'duration' }],
])

/** The number kinds of cell styles, by style index. */
export function readKinds(styles: XmlElement | undefined): NumberKind[] {
  const customKinds = new Map<number, NumberKind>()
  for (const format of styles?.find('numFmts')?.elements('numFmt') ?? []) {
    customKinds.set(Number(format.attribute('numFmtId')), kindOf(format.attribute('formatCode') ?? ''))
  }
  return [...(styles?.find('cellXfs')?.elements('xf') ?? [])].map((cell) => {
    const id = Number(cell.attribute('numFmtId') ?? '0')
    return customKinds.get(id) ?? BUILT_IN.get(id) ?? NUMBER
  })
}

/** The number kind of a format code. Quoted and escaped text and names of colors and languages are ignored. */
export function kindOf(format: string): NumberKind {
  const [positive = ''] = format.split(';')
  if (/\[(?:h+|m+|s+)\]/i.test(positive)) return { type: 'duration' }
  const code = positive.replace(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]/g, '').replace(/general/gi, '')
  if (code.includes('%')) return { type: 'percent', decimals: /\.([0#?]+)/.exec(code)?.[1]?.length ?? 0 }
  const hasTime = /[hs]/i.test(code)
  const hasDate = /[yd]/i.test(code) || (/m/i.test(code) && !hasTime)
  if (hasDate) return { type: hasTime ? 'moment' : 'date' }
  return hasTime ? { type: 'time' } : NUMBER
}

/**
 * Serial numbers of 1 January 1970 in Excel's 1900 and 1904 date systems. The first is one higher than the number of days, because Excel
 * counts 29 February 1900, which did not exist.
 */
const EPOCH_1900 = 25_569
const EPOCH_1904 = 24_107
const DAY_SECONDS = 86_400

/** Formats a number by its kind: a date as `2026-02-28`, a moment as `2026-02-28 07:15`, a time or a duration as `18:05`. */
export function writeNumber(value: number, kind: NumberKind, is1904: boolean): string {
  if (!Number.isFinite(value)) return String(value)
  if (kind.type === 'percent') return `${(value * 100).toFixed(Math.min(kind.decimals, 10))}%`
  if (kind.type === 'number') return String(Number(value.toPrecision(15)))
  const seconds = Math.round(value * DAY_SECONDS)
  if (kind.type === 'duration') return writeTime(seconds)
  if (kind.type === 'time' && value < 1) return writeTime(((seconds % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS)
  const moment = new Date((seconds - (is1904 ? EPOCH_1904 : EPOCH_1900) * DAY_SECONDS) * 1000)
  if (value < 0 || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() > 9999) return String(value)
  const [day = '', time = ''] = moment
    .toISOString()
    .replace(/(?::00)?\.\d+Z$/, '')
    .split('T')
  return kind.type === 'date' ? day : `${day} ${time}`
}

/** `18:05`, `30:00:05`. */
function writeTime(seconds: number): string {
  const pad = (number: number): string => String(number).padStart(2, '0')
  const absolute = Math.abs(seconds)
  const rest = absolute % 60 === 0 ? '' : `:${pad(absolute % 60)}`
  return `${seconds < 0 ? '-' : ''}${pad(Math.floor(absolute / 3600))}:${pad(Math.floor(absolute / 60) % 60)}${rest}`
}
