/*
 * Detects the encoding of bytes without a declaration. A wrong legacy encoding yields letters that no language combines, so the shares of
 * character kinds decide. The same bytes always give the same result.
 */

/** Detection reads at most this many bytes. */
const SAMPLE_BYTES = 64 * 1024

/** The encoding that bytes are most likely in. */
export function detectEncoding(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const utf16 = detectUtf16(sample)
  if (utf16 !== undefined) return utf16
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
  const minZeros = sample.length / 8
  if (odd > minZeros && even < odd / 20) return 'utf-16le'
  return even > minZeros && odd < even / 20 ? 'utf-16be' : undefined
}

/** Whether bytes are valid UTF-8. A truncated last character is accepted only if the text before it has a character beyond ASCII. */
function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    const text = decoder.decode(bytes, { stream: true })
    // ASCII text with an incomplete character at its end is not UTF-8.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes control characters
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

/** Shares of kinds of characters among all characters beyond ASCII. */
interface Shares {
  readonly broken: number
  readonly kana: number
  readonly hangul: number
  readonly commonChinese: number
  readonly smallCyrillic: number
  readonly capitalCyrillic: number
}

/** Tried in this order. An encoding whose check also accepts text in another encoding comes after the other encoding. */
const CANDIDATES: readonly { encoding: string; fits: (shares: Shares) => boolean }[] = [
  { encoding: 'shift_jis', fits: ({ broken, kana }) => broken < 0.01 && kana > 0.2 },
  { encoding: 'euc-jp', fits: ({ broken, kana }) => broken < 0.01 && kana > 0.2 },
  { encoding: 'euc-kr', fits: ({ broken, hangul }) => broken < 0.01 && hangul > 0.6 },
  { encoding: 'gb18030', fits: ({ broken, commonChinese }) => broken < 0.01 && commonChinese > 0.15 },
  { encoding: 'big5', fits: ({ broken, commonChinese }) => broken < 0.01 && commonChinese > 0.15 },
  { encoding: 'windows-1251', fits: isRussian },
  { encoding: 'koi8-r', fits: isRussian },
]

/** In Russian most letters are small. A wrong Cyrillic encoding yields many capital letters. */
function isRussian({ smallCyrillic, capitalCyrillic }: Shares): boolean {
  return smallCyrillic > 0.7 && smallCyrillic > 3 * capitalCyrillic
}

/** The characters that make up a fifth of Chinese text, simplified and traditional. */
const COMMON_CHINESE = new Set(
  '的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年过過发發后後作里用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她本前开開但因只从從想实實日',
)

function sharesIn(sample: Uint8Array, encoding: string): Shares {
  const counts = { broken: 0, kana: 0, hangul: 0, commonChinese: 0, smallCyrillic: 0, capitalCyrillic: 0 }
  let nonAsciiCount = 0
  // The sample may end within a character, which is ignored.
  for (const character of new TextDecoder(encoding).decode(sample, { stream: true })) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x80) continue
    nonAsciiCount++
    // Half-width katakana and private characters are signs of a wrong guess.
    const isBroken = code === 0xfffd || (code >= 0xff61 && code <= 0xff9f) || (code >= 0xe000 && code <= 0xf8ff)
    if (isBroken || code < 0xa0) counts.broken++
    else if (code >= 0x3041 && code <= 0x30fe) counts.kana++
    else if (code >= 0xac00 && code <= 0xd7a3) counts.hangul++
    else if (code >= 0x430 && code <= 0x451) counts.smallCyrillic++
    else if (code >= 0x401 && code <= 0x42f) counts.capitalCyrillic++
    else if (COMMON_CHINESE.has(character)) counts.commonChinese++
  }
  const share = (count: number) => (nonAsciiCount === 0 ? 0 : count / nonAsciiCount)
  return {
    broken: share(counts.broken),
    kana: share(counts.kana),
    hangul: share(counts.hangul),
    commonChinese: share(counts.commonChinese),
    smallCyrillic: share(counts.smallCyrillic),
    capitalCyrillic: share(counts.capitalCyrillic),
  }
}
