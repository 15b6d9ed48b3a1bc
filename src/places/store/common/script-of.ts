/** Scripts by their ISO 15924 codes, most frequent first. */
const SCRIPTS: readonly (readonly [code: string, letter: RegExp])[] = [
  ['Latn', /^\p{Script=Latin}/u],
  ['Cyrl', /^\p{Script=Cyrillic}/u],
  ['Arab', /^\p{Script=Arabic}/u],
  ['Hani', /^\p{Script=Han}/u],
  ['Jpan', /^[\p{Script=Katakana}\p{Script=Hiragana}]/u],
  ['Kore', /^\p{Script=Hangul}/u],
  ['Deva', /^\p{Script=Devanagari}/u],
  ['Grek', /^\p{Script=Greek}/u],
  ['Hebr', /^\p{Script=Hebrew}/u],
  ['Thai', /^\p{Script=Thai}/u],
  ['Beng', /^\p{Script=Bengali}/u],
  ['Geor', /^\p{Script=Georgian}/u],
  ['Armn', /^\p{Script=Armenian}/u],
  ['Taml', /^\p{Script=Tamil}/u],
  ['Telu', /^\p{Script=Telugu}/u],
  ['Ethi', /^\p{Script=Ethiopic}/u],
]

/** The script of a name, judged by its first letter; null for a script that is not in the list. */
export function scriptOf(name: string): string | null {
  const first = name.codePointAt(0) ?? 0
  if (first >= 0x61 && first <= 0x7a) return 'Latn'
  const letter = /\p{L}.*/u.exec(name)?.[0] ?? ''
  return SCRIPTS.find(([, test]) => test.test(letter))?.[0] ?? null
}
