/**
 * Reduces an English word to its stem by the Porter2 algorithm, in the revision of Snowball 3, which keeps apart pairs
 * that earlier ones merged (`internal`/`intern`, `organize`/`organ`, `added`/`ad`).
 * Only words of three or more lower-case ASCII letters are changed; anything else is returned as it is.
 * https://snowballstem.org/algorithms/english/stemmer.html
 */
export function stem(word: string): string {
  if (word.length < 3 || !isLowerAlphabetic(word)) return word
  const exception = EXCEPTIONS.get(word)
  if (exception !== undefined) return exception

  let s = markConsonantY(word)
  const p1 = findR1(s)
  const p2 = findRegion(s, p1)
  s = removePlural(s)
  s = removePast(s, p1)
  if (s.length > 2 && (s.endsWith('y') || s.endsWith('Y')) && !isVowel(s, s.length - 2)) s = `${s.slice(0, -1)}i`
  s = replaceLongest(s, p1, p2, STEP_2)
  s = replaceLongest(s, p1, p2, STEP_3)
  s = replaceLongest(s, p1, p2, STEP_4)
  s = removeFinalLetter(s, p1, p2)
  return s.includes('Y') ? s.toLowerCase() : s
}

const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word): [string, string] => [word, word]),
])

/** Beginnings of words in `eed` and `ing` that are neither past tense nor gerund: `succeed`, `evening`. */
const KEPT_BEFORE_EED: ReadonlySet<string> = new Set(['succ', 'proc', 'exc'])
const KEPT_BEFORE_ING: ReadonlySet<string> = new Set(['even', 'cann', 'inn', 'earr', 'herr', 'out'])

/** Prefixes after which R1 starts at once, so that `internal` does not become `intern`. */
const R1_PREFIXES = ['arsen', 'commun', 'emerg', 'gener', 'inter', 'later', 'organ', 'past', 'univers']

/** A suffix that must be in the region R1, or R2 with `inR2`; its replacement; and the letters of which one must precede the suffix. */
interface Rule {
  readonly suffix: string
  readonly replacement: string
  readonly after?: string
  readonly inR2?: boolean
}

const STEP_2 = indexRules([
  ...rules('tional', 'tion'),
  ...rules('enci', 'ence'),
  ...rules('anci', 'ance'),
  ...rules('abli', 'able'),
  ...rules('entli', 'ent'),
  ...rules('izer ization', 'ize'),
  ...rules('ational ation ator', 'ate'),
  ...rules('alism aliti alli', 'al'),
  ...rules('fulness fulli', 'ful'),
  ...rules('ousli ousness', 'ous'),
  ...rules('iveness iviti', 'ive'),
  ...rules('biliti bli', 'ble'),
  ...rules('lessli', 'less'),
  ...rules('ogist', 'og'),
  ...rules('ogi', 'og', { after: 'l' }),
  ...rules('li', '', { after: 'cdeghkmnrt' }),
])

const STEP_3 = indexRules([
  ...rules('tional', 'tion'),
  ...rules('ational', 'ate'),
  ...rules('alize', 'al'),
  ...rules('icate iciti ical', 'ic'),
  ...rules('ful ness', ''),
  ...rules('ative', '', { inR2: true }),
])

const STEP_4 = indexRules([
  ...rules('al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize', '', { inR2: true }),
  ...rules('ion', '', { inR2: true, after: 'st' }),
])

function rules(suffixes: string, replacement: string, condition: Pick<Rule, 'after' | 'inR2'> = {}): Rule[] {
  return suffixes.split(' ').map((suffix) => ({ suffix, replacement, ...condition }))
}

/** Groups rules by the last letter of their suffix, longest first: the longest suffix present decides alone. */
function indexRules(list: readonly Rule[]): ReadonlyMap<number, readonly Rule[]> {
  const index = new Map<number, Rule[]>()
  for (const rule of list.toSorted((a, b) => b.suffix.length - a.suffix.length)) {
    const last = rule.suffix.charCodeAt(rule.suffix.length - 1)
    const group = index.get(last)
    if (group) group.push(rule)
    else index.set(last, [rule])
  }
  return index
}

function replaceLongest(s: string, p1: number, p2: number, index: ReadonlyMap<number, readonly Rule[]>): string {
  const group = index.get(s.charCodeAt(s.length - 1))
  if (!group) return s
  for (const { suffix, replacement, after, inR2 } of group) {
    if (!s.endsWith(suffix)) continue
    const at = s.length - suffix.length
    if (at < (inR2 ? p2 : p1)) return s
    if (after !== undefined && (at === 0 || !after.includes(s.charAt(at - 1)))) return s
    return s.slice(0, at) + replacement
  }
  return s
}

function isLowerAlphabetic(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const unit = word.charCodeAt(i)
    if (unit < 97 || unit > 122) return false
  }
  return true
}

/** Writes a `y` that is a consonant, at the start or after a vowel, as `Y`. */
function markConsonantY(word: string): string {
  if (!word.includes('y')) return word
  let marked = ''
  for (let i = 0; i < word.length; i++) {
    const letter = word.charAt(i)
    marked += letter === 'y' && (i === 0 || isVowel(marked, i - 1)) ? 'Y' : letter
  }
  return marked
}

function isVowel(s: string, i: number): boolean {
  switch (s.charCodeAt(i)) {
    case 97:
    case 101:
    case 105:
    case 111:
    case 117:
    case 121:
      return true
    default:
      return false
  }
}

function findR1(s: string): number {
  for (const prefix of R1_PREFIXES) if (s.startsWith(prefix)) return prefix.length
  return findRegion(s, 0)
}

/** The position after the first consonant that follows a vowel, from `from` on. */
function findRegion(s: string, from: number): number {
  let i = from
  while (i < s.length && !isVowel(s, i)) i++
  while (i < s.length && isVowel(s, i)) i++
  return Math.min(i + 1, s.length)
}

function hasVowelBefore(s: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (isVowel(s, i)) return true
  return false
}

function endsInShortSyllable(s: string): boolean {
  const last = s.length - 1
  if (last < 1 || isVowel(s, last) || !isVowel(s, last - 1)) return s.endsWith('past')
  if (last === 1) return true
  return (!isVowel(s, last - 2) && !'wxY'.includes(s.charAt(last))) || s.endsWith('past')
}

function removePlural(s: string): string {
  if (s.endsWith('sses')) return s.slice(0, -2)
  if (s.endsWith('ied') || s.endsWith('ies')) return s.length > 4 ? s.slice(0, -2) : s.slice(0, -1)
  if (!s.endsWith('s') || s.endsWith('us') || s.endsWith('ss')) return s
  return hasVowelBefore(s, s.length - 2) ? s.slice(0, -1) : s
}

function removePast(s: string, p1: number): string {
  const eed = s.endsWith('eedly') ? 5 : s.endsWith('eed') ? 3 : 0
  if (eed > 0) {
    const at = s.length - eed
    if (at < p1 || KEPT_BEFORE_EED.has(s.slice(0, at))) return s
    return `${s.slice(0, at)}ee`
  }
  const isGerund = s.endsWith('ing')
  const units = isGerund ? 3 : s.endsWith('ed') ? 2 : s.endsWith('ingly') ? 5 : s.endsWith('edly') ? 4 : 0
  if (units === 0) return s
  const at = s.length - units
  const rest = s.slice(0, at)
  if (isGerund) {
    if (KEPT_BEFORE_ING.has(rest)) return s
    if (rest.length === 2 && rest.endsWith('y') && !isVowel(rest, 0)) return `${rest.charAt(0)}ie`
  }
  return hasVowelBefore(s, at) ? repairEnd(rest, p1) : s
}

/** Repairs a stem after `ed` or `ing` is removed: `hop(p)ing` loses a letter, `hop(e)ing` gets its `e` back. */
function repairEnd(s: string, p1: number): string {
  if (s.endsWith('at') || s.endsWith('bl') || s.endsWith('iz')) return `${s}e`
  const last = s.charAt(s.length - 1)
  if (s.length > 1 && last === s.charAt(s.length - 2) && 'bdfgmnprt'.includes(last)) {
    return s.length === 3 && 'aeo'.includes(s.charAt(0)) ? s : s.slice(0, -1)
  }
  return s.length === p1 && endsInShortSyllable(s) ? `${s}e` : s
}

function removeFinalLetter(s: string, p1: number, p2: number): string {
  const at = s.length - 1
  if (s.endsWith('e')) {
    const rest = s.slice(0, -1)
    return at >= p2 || (at >= p1 && !endsInShortSyllable(rest)) ? rest : s
  }
  return s.endsWith('ll') && at >= p2 ? s.slice(0, -1) : s
}
