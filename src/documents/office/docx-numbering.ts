import type { XmlElement } from '../xml-tree.ts'

interface Level {
  /** `decimal`, `bullet`, `lowerRoman`, …; `none` for an item without a label. */
  readonly format: string
  readonly start: number
  /** Template such as `%1.%2`, with the numbers of this level and those above it. */
  readonly text: string
}

/** The label before a paragraph of a list. */
export interface ListLabel {
  readonly format: string
  readonly number: number
  /** As displayed: `2.1`, `b)`. */
  readonly text: string
}

/** Counts list items as Word does: lists of the same kind continue counting across the document. */
export class WordNumbering {
  readonly #lists = new Map<string, { readonly kind: string; readonly levels: ReadonlyMap<number, Level> }>()
  readonly #counts = new Map<string, number[]>()

  constructor(numbering: XmlElement | undefined) {
    const kinds = new Map<string, ReadonlyMap<number, Level>>()
    for (const kind of numbering?.elements('abstractNum') ?? []) {
      kinds.set(kind.attribute('abstractNumId') ?? '', readLevels(kind.elements('lvl')))
    }
    for (const list of numbering?.elements('num') ?? []) {
      const id = list.attribute('numId') ?? ''
      const kind = list.find('abstractNumId')?.attribute('val') ?? ''
      const overrides = [...list.elements('lvlOverride')]
      const levels = new Map(kinds.get(kind))
      for (const override of overrides) applyOverride(levels, override)
      // A list with level overrides counts separately.
      this.#lists.set(id, { kind: overrides.length > 0 ? `list ${id}` : kind, levels })
    }
  }

  /** Counts a paragraph; undefined when its list does not exist or shows no label. */
  next(id: string, level: number): ListLabel | undefined {
    const list = this.#lists.get(id)
    const definition = list?.levels.get(level)
    if (list === undefined || definition === undefined || definition.format === 'none') return undefined
    const counts = this.#counts.get(list.kind) ?? []
    this.#counts.set(list.kind, counts)
    const number = (counts[level] ?? definition.start - 1) + 1
    counts[level] = number
    counts.length = level + 1
    const text = definition.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1
      const { format = 'decimal', start = 1 } = list.levels.get(at) ?? {}
      return writeNumber(counts[at] ?? start, format)
    })
    return { format: definition.format, number, text }
  }
}

function applyOverride(levels: Map<number, Level>, override: XmlElement): void {
  const at = Number(override.attribute('ilvl') ?? '0')
  for (const [level, definition] of readLevels(override.elements('lvl'))) levels.set(level, definition)
  const start = override.find('startOverride')?.attribute('val')
  const level = levels.get(at)
  if (start !== undefined && level !== undefined) levels.set(at, { ...level, start: readCount(start) })
}

function readLevels(sources: Iterable<XmlElement>): Map<number, Level> {
  const levels = new Map<number, Level>()
  for (const source of sources) {
    const value = (name: string): string | undefined => source.find(name)?.attribute('val')
    levels.set(Number(source.attribute('ilvl') ?? '0'), {
      format: value('numFmt') ?? 'decimal',
      start: readCount(value('start') ?? '1'),
      text: (value('lvlText') ?? '').slice(0, MAX_LABEL),
    })
  }
  return levels
}

/** Length limit of a label, which is repeated before every heading. */
const MAX_LABEL = 100

function readCount(value: string): number {
  return /^\d{1,6}$/.test(value) ? Number(value) : 1
}

/** Formats a number for a list. */
export function writeNumber(number: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
      return writeLetters(number)
    case 'upperLetter':
      return writeLetters(number).toUpperCase()
    case 'lowerRoman':
      return writeRoman(number)
    case 'upperRoman':
      return writeRoman(number).toUpperCase()
    default:
      return String(number)
  }
}

/** a … z, aa, bb, as Word counts. */
function writeLetters(number: number): string {
  if (number < 1) return String(number)
  return String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.min(1 + Math.floor((number - 1) / 26), 10))
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function writeRoman(number: number): string {
  if (number < 1 || number > 3999) return String(number)
  let rest = number
  let text = ''
  for (const [value, letters] of ROMAN) {
    for (; rest >= value; rest -= value) text += letters
  }
  return text
}
