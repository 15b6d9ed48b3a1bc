/*
 * Detects the encoding of bytes without a declaration. A wrong legacy encoding yields letters that no language combines, so the shares of
 * character kinds decide. The same bytes always give the same result.
 */

/** Detection reads at most this many bytes. */
const SAMPLE_BYTES = 64 * 1024

/** The encoding that bytes are most likely in. */
export function detectEncoding(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const wide = detectUtf16(sample)
  if (wide !== undefined) return wide
  if (isUtf8(bytes)) return 'utf-8'
  // In western European languages letters beyond ASCII stand alone; in others they form whole words.
  if (meanNonAsciiRun(sample) < 2) return 'windows-1252'
  return CANDIDATES.find(({ encoding, fits }) => fits(sharesIn(sample, encoding)))?.encoding ?? 'windows-1252'
}

/** UTF-16 without a byte order mark: in markup every other byte is zero. */
function detectUtf16(sample: Uint8Array): string | undefined {
  const zeros = [0, 0] as [number, number]
  sample.forEach((byte, i) => {
    if (byte === 0) zeros[i % 2 === 0 ? 0 : 1]++
  })
  const [even, odd] = zeros
  const many = sample.length / 8
  if (odd > many && even < odd / 20) return 'utf-16le'
  return even > many && odd < even / 20 ? 'utf-16be' : undefined
}

/** Whether bytes are UTF-8. A body with complete characters beyond ASCII may be truncated within another one. */
function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const text = decoder.decode(bytes, { stream: true })
    // ASCII text with an incomplete character at its end is not UTF-8.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
    if (/^[\x00-\x7f]*$/.test(text)) decoder.decode()
    return true
  } catch (error) {
    // The decoder throws a TypeError for bytes that are not UTF-8.
    if (error instanceof TypeError) return false
    throw error
  }
}

/** Average length of runs of bytes beyond ASCII. */
function meanNonAsciiRun(sample: Uint8Array): number {
  let count = 0
  let runs = 0
  sample.forEach((byte, i) => {
    if (byte < 0x80) return
    count++
    if (i === 0 || (sample[i - 1] ?? 0) < 0x80) runs++
  })
  return runs === 0 ? 0 : count / runs
}

/** Shares of each kind among the characters beyond ASCII. */
interface Shares {
  readonly broken: number
  readonly kana: number
  readonly hangul: number
  /** Chinese characters that are in everyday use. */
  readonly common: number
  readonly small: number
  readonly capital: number
}

/** Tried in this order: an encoding that can fit by accident comes after the one it could be mistaken for. */
const CANDIDATES: readonly { encoding: string; fits: (shares: Shares) => boolean }[] = [
  { encoding: 'shift_jis', fits: ({ broken, kana }) => broken < 0.01 && kana > 0.2 },
  { encoding: 'euc-jp', fits: ({ broken, kana }) => broken < 0.01 && kana > 0.2 },
  { encoding: 'euc-kr', fits: ({ broken, hangul }) => broken < 0.01 && hangul > 0.6 },
  { encoding: 'gb18030', fits: ({ broken, common }) => broken < 0.01 && common > 0.15 },
  { encoding: 'big5', fits: ({ broken, common }) => broken < 0.01 && common > 0.15 },
  { encoding: 'windows-1251', fits: ({ small, capital }) => small > 0.7 && small > 3 * capital },
  { encoding: 'koi8-r', fits: ({ small, capital }) => small > 0.7 && small > 3 * capital },
]

/** The characters that make up a fifth of Chinese text, simplified and traditional. */
const COMMON = new Set(
  '的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年过過发發后後作里用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她本前开開但因只从從想实實日',
)

function sharesIn(sample: Uint8Array, encoding: string): Shares {
  const counts = { broken: 0, kana: 0, hangul: 0, common: 0, small: 0, capital: 0 }
  let all = 0
  // The sample may end within a character, which is ignored.
  for (const character of new TextDecoder(encoding).decode(sample, { stream: true })) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) continue
    all++
    // Half-width katakana and private characters are signs of a wrong guess.
    const isBroken = code === 0xfffd || (code >= 0xff61 && code <= 0xff9f) || (code >= 0xe000 && code <= 0xf8ff)
    if (isBroken || code < 0xa0) counts.broken++
    else if (code >= 0x3041 && code <= 0x30fe) counts.kana++
    else if (code >= 0xac00 && code <= 0xd7a3) counts.hangul++
    else if (code >= 0x430 && code <= 0x451) counts.small++
    else if (code >= 0x401 && code <= 0x42f) counts.capital++
    else if (COMMON.has(character)) counts.common++
  }
  const share = (count: number) => (all === 0 ? 0 : count / all)
  return {
    broken: share(counts.broken),
    kana: share(counts.kana),
    hangul: share(counts.hangul),
    common: share(counts.common),
    small: share(counts.small),
    capital: share(counts.capital),
  }
}
