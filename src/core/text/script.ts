/** Scripts that identify languages, with the languages that are mostly written in each. */
const SCRIPTS: readonly { readonly letters: RegExp; readonly languages: readonly string[] }[] = [
  { letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, languages: ['ja'] },
  { letters: /\p{Script=Hangul}/gu, languages: ['ko'] },
  { letters: /\p{Script=Han}/gu, languages: ['zh', 'ja'] },
  { letters: /\p{Script=Cyrillic}/gu, languages: ['ru', 'uk', 'bg', 'sr', 'be', 'mk', 'kk', 'ky', 'mn', 'tg'] },
  { letters: /\p{Script=Greek}/gu, languages: ['el'] },
  { letters: /\p{Script=Arabic}/gu, languages: ['ar', 'fa', 'ur', 'ps', 'ckb'] },
  { letters: /\p{Script=Hebrew}/gu, languages: ['he', 'yi'] },
  { letters: /\p{Script=Thai}/gu, languages: ['th'] },
  { letters: /\p{Script=Devanagari}/gu, languages: ['hi', 'mr', 'ne'] },
  { letters: /\p{Script=Bengali}/gu, languages: ['bn'] },
  { letters: /\p{Script=Tamil}/gu, languages: ['ta'] },
  { letters: /\p{Script=Telugu}/gu, languages: ['te'] },
  { letters: /\p{Script=Georgian}/gu, languages: ['ka'] },
  { letters: /\p{Script=Armenian}/gu, languages: ['hy'] },
]

/** Languages that are also written in Latin letters. */
const ALSO_LATIN = new Set(['sr', 'kk', 'mn'])

/** Most texts have no character of these scripts, and need no further check. */
const ANY_SCRIPT = new RegExp(SCRIPTS.map(({ letters }) => letters.source).join('|'), 'u')

/** Chinese and Japanese characters stand for words, so a small share of them is enough. */
const MIN_SCRIPT_SHARE = 0.2

/**
 * The languages of the most frequent script of a text besides Latin, if a fifth of its letters are in that script; the likeliest first.
 * Code and names in Latin letters occur in texts of every language.
 */
export function languagesByScript(text: string): readonly string[] {
  if (!ANY_SCRIPT.test(text)) return []
  const letters = countOf(text, /\p{L}/gu)
  if (letters === 0) return []
  const found = SCRIPTS.map(({ letters: script, languages }) => ({ languages, count: countOf(text, script) }))
  const [kana, hangul, han] = found
  // Japanese mixes kana with Han characters, and a Korean text may contain some kana.
  if (
    kana !== undefined &&
    han !== undefined &&
    kana.count > 0 &&
    kana.count + han.count >= MIN_SCRIPT_SHARE * letters
  ) {
    if (kana.count >= (hangul?.count ?? 0)) return kana.languages
  }
  const best = found.reduce((a, b) => (b.count > a.count ? b : a))
  return best.count >= MIN_SCRIPT_SHARE * letters ? best.languages : []
}

/** Whether a language is written only in scripts other than Latin. */
export function hasOwnScript(language: string): boolean {
  return !ALSO_LATIN.has(language) && SCRIPTS.some(({ languages }) => languages.includes(language))
}

/** Share of the letters of a text that are of the scripts of a language. */
export function shareOfScript(language: string, text: string): number {
  const ownScripts = SCRIPTS.filter(({ languages }) => languages.includes(language))
  const found = ownScripts.reduce((sum, { letters }) => sum + countOf(text, letters), 0)
  return found / Math.max(1, countOf(text, /\p{L}/gu))
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
