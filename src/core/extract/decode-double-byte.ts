import { getOrAdd } from '../get-or-add.ts'
/*
 * Two encodings that runtimes decode differently. Some know only the 2,350 most common Korean syllables in EUC-KR, and some have private
 * characters where Big5 was extended for Hong Kong. This decoder gives the same result in all of them: EUC-KR with all syllables, as in the
 * encoding standard, and Big5 without the extension.
 */

/** An encoding that this module decodes. */
export type DoubleByte = 'big5' | 'euc-kr'

export function isDoubleByte(encoding: string): encoding is DoubleByte {
  return encoding === 'big5' || encoding === 'euc-kr'
}

const REPLACEMENT = 0xfffd
const SLICE = 8192

/** Decodes bytes. Broken input is handled by the rules of the encoding standard. */
export function decodeDoubleByte(bytes: Uint8Array, encoding: DoubleByte): string {
  const table = tableOf(encoding)
  const units = new Uint16Array(SLICE)
  let text = ''
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const lead = bytes[i] ?? 0
    let unit = lead
    if (lead >= 0x80) {
      const trail = lead === 0x80 || lead === 0xff ? 0 : (bytes[i + 1] ?? 0)
      const found = table[lead * 256 + trail] ?? 0
      unit = found === 0 ? REPLACEMENT : found
      // An ASCII character after a broken lead byte is kept.
      if (found !== 0 || trail >= 0x80) i++
    }
    units[length++] = unit
    if (length < SLICE) continue
    text += String.fromCharCode(...units)
    length = 0
  }
  return text + String.fromCharCode(...units.subarray(0, length))
}

const tables = new Map<DoubleByte, Uint16Array>()

/** Characters by their two bytes; 0 where there is none. The table is built on first use. */
function tableOf(encoding: DoubleByte): Uint16Array {
  return getOrAdd(tables, encoding, () => {
    const table = encoding === 'big5' ? createTable('big5', isPlainBig5) : createTable('euc-kr', isKsx1001)
    if (encoding === 'euc-kr') addSyllables(table)
    else markExtension(table)
    return table
  })
}

/** Builds the table from the runtime's decoder, limited to the pairs on which all runtimes agree. */
function createTable(encoding: DoubleByte, isCommon: (lead: number, trail: number) => boolean): Uint16Array {
  const pairs: [number, number][] = []
  for (let lead = 0xa1; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) if (isCommon(lead, trail)) pairs.push([lead, trail])
  }
  const bytes = Uint8Array.from(pairs.flatMap(([lead, trail]) => [lead, trail, 0x0a]))
  const characters = new TextDecoder(encoding).decode(bytes).split('\n')
  const table = new Uint16Array(65_536)
  pairs.forEach(([lead, trail], i) => {
    const character = characters[i] ?? ''
    const isKnown = character.length === 1 && !/[\ufffd\ue000-\uf8ff]/.test(character)
    if (isKnown) table[lead * 256 + trail] = character.charCodeAt(0)
  })
  return table
}

function isPlainBig5(lead: number, trail: number): boolean {
  if (trail > 0x7e && trail < 0xa1) return false
  const pair = lead * 256 + trail
  return pair <= 0xf9fd && !(pair >= 0xa3c0 && pair <= 0xa3e0) && !(pair >= 0xc6a1 && pair <= 0xc8fe)
}

/** Marks valid pairs of bytes that have no character in this table, so that each becomes one U+FFFD. */
function markExtension(table: Uint16Array): void {
  for (let lead = 0x87; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      if (trail <= 0x7e || trail >= 0xa1) table[lead * 256 + trail] ||= REPLACEMENT
    }
  }
}

function isKsx1001(_: number, trail: number): boolean {
  return trail >= 0xa1
}

/** Adds `€`, `®` and the syllables that KS X 1001 lacks: in the order of Unicode, at the pairs of bytes that KS X 1001 leaves free. */
function addSyllables(table: Uint16Array): void {
  table[0xa2e6] = 0x20ac
  table[0xa2e7] = 0xae
  const common = new Set(table)
  let syllable = 0xac00
  for (let lead = 0x81; lead <= 0xc6; lead++) {
    for (let trail = 0x41; trail <= 0xfe; trail++) {
      const isLetter = (trail | 0x20) >= 0x61 && (trail | 0x20) <= 0x7a
      if ((trail < 0x81 && !isLetter) || (lead >= 0xa1 && trail >= 0xa1)) continue
      while (common.has(syllable)) syllable++
      if (syllable <= 0xd7a3) table[lead * 256 + trail] = syllable++
    }
  }
}
