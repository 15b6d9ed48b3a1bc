/** Invisible characters that are dropped inside words: soft hyphen, zero-width joiners, word joiner, byte order mark. */
const INVISIBLE = /\u00ad|\u200c|\u200d|\u2060|\ufeff/g
/** Blocks that hold combining marks, written so that Latin text with typographic signs is skipped quickly. */
const MAY_BE_MARK = /[\u0300-\u1fff\u20d0-\u20ff\u2c00-\u2dff\u3020-\u30ff\ua000-\uabff\ud800-\udfff\ufb00-\ufe2f]/
const NON_ASCII = /[\u0080-\uffff]/

/**
 * Normalizes text for comparing words, before case is removed: Unicode NFKC without invisible joiners. ASCII text is returned unchanged.
 */
export function normalizeText(text: string): string {
  if (!NON_ASCII.test(text)) return text
  // İ is the only letter whose lower case is longer than itself. Without it upper and lower case share their offsets.
  return limitMarks(text).normalize('NFKC').replace(INVISIBLE, '').replaceAll('İ', 'I')
}

/** Removes accidental differences between words: final sigma, sharp s, the diacritics of Latin letters. */
export function foldWord(word: string): string {
  let folded = ''
  let afterLatin = false
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i)
    if (unit >= 0x300 && unit <= 0x36f && afterLatin) continue
    const replacement = unit < 0x80 ? undefined : foldUnit(unit)
    folded += replacement ?? word.charAt(i)
    afterLatin = replacement !== undefined ? unit !== FINAL_SIGMA : unit >= 0x61 && unit <= 0x7a
  }
  return folded
}

const FINAL_SIGMA = 0x3c2

/** Latin letters that Unicode does not decompose. */
const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ı: 'i', ł: 'l', ŧ: 't', þ: 'th' }),
)

const foldings = new Map<number, string | undefined>()

function foldUnit(unit: number): string | undefined {
  if (unit === FINAL_SIGMA) return 'σ'
  if (unit < 0xc0 || (unit > 0x24f && unit < 0x1e00) || unit > 0x1eff) return undefined
  if (foldings.has(unit)) return foldings.get(unit)
  const letter = String.fromCharCode(unit)
  const base = letter.normalize('NFD').charAt(0)
  const folding = LATIN.get(letter) ?? (base >= 'a' && base <= 'z' ? base : LATIN.get(base))
  foldings.set(unit, folding)
  return folding
}

/**
 * Keeps at most 30 combining marks after a letter, as the Stream-Safe Text Format does (UAX #15): putting a long run of
 * them into canonical order takes quadratic time.
 */
function limitMarks(text: string): string {
  return MAY_BE_MARK.test(text) && /\p{M}{31}/u.test(text) ? text.replace(/(\p{M}{30})\p{M}+/gu, '$1') : text
}
