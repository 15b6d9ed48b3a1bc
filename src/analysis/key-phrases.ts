import { kindAt, LETTER, MARK, PAIRED, UNDERSCORE, WORD } from '../core/text/characters.ts'
import { isLooseEnd, JOINTS, phraseStopOf, withoutParticle } from './key-phrase-words.ts'

/** A phrase that a text is about. */
export interface KeyPhrase {
  readonly phrase: string
  readonly frequency: number
  /** Comparable among the phrases of one text only. */
  readonly score: number
}

/** What else is known of a text. */
export interface PhraseContext {
  readonly title: string
  /** The short code of BCP 47. */
  readonly language: string | null
}

/** Most phrases that are kept of a text, and most of those with several words where single ones are good as well. */
const MAX_PHRASES = 10
const MAX_LONG = 8
/** So many words of a text are looked at; what it is about is said by then. */
const MAX_WORDS = 8000
/** With fewer, anything would be a phrase. */
const LEAST_WORDS = 20

/**
 * The phrases that a text is about, the best first: stretches of up to three words between stop words and signs, as RAKE has them,
 * weighed by how often they stand there, how early, whether they are names and whether the title has them, as YAKE does. A word
 * that is part of a phrase is not given alone. Scripts that are written without spaces give none.
 */
export function findKeyPhrases(text: string, { title, language }: PhraseContext): KeyPhrase[] {
  const lexicon = createLexicon(language)
  const words = readWords(text, lexicon)
  if (words.length < LEAST_WORDS) return []
  for (const { form, isFirst } of words) note(form, isFirst)
  for (const { form } of readWords(title, lexicon)) form.base.isInTitle = true
  markStopWords(lexicon, words.length)
  const phrases = rank([...singleWords(lexicon), ...severalWords(words, lexicon)])
  const long = chooseDistinct(
    phrases.filter(({ parts }) => parts.length > 1),
    [],
    MAX_LONG,
  )
  return rank(chooseDistinct(phrases, long, MAX_PHRASES)).map(({ surface, frequency, score }) => ({
    phrase: surface,
    frequency,
    score: Math.round(score * 100) / 100,
  }))
}

/** What several forms of one word have in common. */
interface Base {
  readonly id: number
  count: number
  /** How often it stands where only a name has a capital, and how often it has one there. */
  inside: number
  capitals: number
  /** Which word of the text it is first. */
  readonly first: number
  isInTitle: boolean
  /** As it is best shown. */
  surface: string
  isSettled: boolean
}

/** A word as it is written. */
interface Form {
  readonly text: string
  readonly word: string
  readonly base: Base
  readonly hasCapital: boolean
  /** How often it was written like this. */
  count: number
  kind: 'word' | 'stop' | 'joint'
}

interface Lexicon {
  readonly language: string | null
  readonly forms: Map<string, Form>
  readonly bases: Map<string, Base>
}

function createLexicon(language: string | null): Lexicon {
  return { language, forms: new Map(), bases: new Map() }
}

/** A word of a text. */
interface Word {
  readonly form: Form
  /** Whether a sign stands before it that no phrase goes across, and one that ends a sentence. */
  readonly isCut: boolean
  readonly isFirst: boolean
}

const NEWLINE = 0x0a
const SPACE = 0x20
const APOSTROPHE = 0x27
const HYPHEN = 0x2d
const CURLY_APOSTROPHE = 0x2019
const SENTENCE_ENDS = new Set('.!?\n|#:'.split('').map((sign) => sign.charCodeAt(0)))

function readWords(text: string, lexicon: Lexicon): Word[] {
  const words: Word[] = []
  let isCut = true
  let isFirst = true
  for (let i = 0; i < text.length && words.length < MAX_WORDS; ) {
    const kind = phraseKindAt(text, i)
    if ((kind & WORD) === 0 || kind === UNDERSCORE || kind === MARK) {
      const unit = text.charCodeAt(i)
      // The lines of a paragraph go on; a blank one ends it, and what begins with a sign is another one.
      if (unit !== SPACE && (unit !== NEWLINE || text.charCodeAt(i + 1) === NEWLINE)) {
        isCut = true
        isFirst ||= SENTENCE_ENDS.has(unit) || kind === PAIRED || text.charCodeAt(i - 1) === NEWLINE
      }
      i++
      continue
    }
    const start = i
    i = endOfWord(text, i)
    const written = text.slice(start, i)
    const form = formOf(written, lexicon, words.length)
    words.push({ form, isCut, isFirst })
    // A particle of Korean ends what belongs together.
    isCut = form.text.length < written.length
    isFirst = false
  }
  return words
}

/** Korean is searched for by pairs of characters, but it is written with spaces. */
function phraseKindAt(text: string, i: number): number {
  const kind = kindAt(text, i)
  if (kind !== PAIRED) return kind
  const unit = text.charCodeAt(i)
  return unit >= FIRST_HANGUL && unit <= LAST_HANGUL ? LETTER : PAIRED
}

const FIRST_HANGUL = 0xac00
const LAST_HANGUL = 0xd7a3

/** Words go on across single hyphens and apostrophes. */
function endOfWord(text: string, from: number): number {
  let i = from
  for (;;) {
    while ((phraseKindAt(text, i) & WORD) !== 0) i++
    const unit = text.charCodeAt(i)
    const isJoiner = unit === HYPHEN || unit === APOSTROPHE || unit === CURLY_APOSTROPHE
    if (!isJoiner || (phraseKindAt(text, i + 1) & WORD) === 0) return i
    i++
  }
}

function formOf(written: string, { forms, bases, language }: Lexicon, at: number): Form {
  const known = forms.get(written)
  if (known !== undefined) return known
  const text = language === 'ko' ? withoutParticle(written) : written
  const word = text.toLowerCase().replaceAll('’', "'")
  const name = baseOf(word, language)
  let base = bases.get(name)
  if (base === undefined) {
    base = {
      id: bases.size + 1,
      count: 0,
      inside: 0,
      capitals: 0,
      first: at,
      isInTitle: false,
      surface: '',
      isSettled: false,
    }
    bases.set(name, base)
  }
  const form: Form = { text, word, base, hasCapital: text.charAt(0) !== word.charAt(0), count: 0, kind: 'word' }
  forms.set(written, form)
  return form
}

function note(form: Form, isFirst: boolean): void {
  const { base } = form
  form.count++
  base.count++
  if (!isFirst) {
    base.inside++
    if (form.hasCapital) base.capitals++
  }
  if (base.surface !== '' && (base.isSettled || isFirst)) return
  base.surface = withoutOwner(form.text)
  base.isSettled = !isFirst
}

function withoutOwner(text: string): string {
  return text.replace(/['’]s?$/, '')
}

/** A word without the endings with which an English one is still the same. */
function baseOf(word: string, language: string | null): string {
  const owner = withoutOwner(word)
  if (language !== 'en' || owner.length <= 3 || !owner.endsWith('s')) return owner
  if (owner.endsWith('ies')) return `${owner.slice(0, -3)}y`
  return /(?:ss|us|is)$/.test(owner) ? owner : owner.slice(0, -1)
}

function markStopWords({ forms, language }: Lexicon, total: number): void {
  const counts = new Map<string, number>()
  for (const { word, count } of forms.values()) counts.set(word, (counts.get(word) ?? 0) + count)
  const isStop = phraseStopOf(language, counts, total)
  for (const form of forms.values()) {
    const { word } = form
    if (isStop(word) || isStop(baseOf(word, language)) || !HAS_LETTER.test(word)) {
      form.kind = JOINTS.has(word) ? 'joint' : 'stop'
    }
  }
}

const HAS_LETTER = /\p{L}/u

/** Something that may be a phrase. */
interface Candidate {
  /** Ids of its words. */
  readonly parts: readonly number[]
  readonly surface: string
  readonly frequency: number
  readonly first: number
  readonly score: number
}

/** A word alone says less than a phrase, and has to be repeated. */
const LEAST_ALONE = 3
const ALONE_CHARS = 4
/** A syllable of Korean is one character. */
const ALONE_SYLLABLES = 2

function singleWords({ forms, language }: Lexicon): Candidate[] {
  const least = language === 'ko' ? ALONE_SYLLABLES : ALONE_CHARS
  const seen = new Set<Base>()
  const candidates: Candidate[] = []
  for (const { base, kind } of forms.values()) {
    if (kind !== 'word' || seen.has(base) || base.count < LEAST_ALONE || base.surface.length < least) continue
    seen.add(base)
    const { id, surface, count, first } = base
    candidates.push({ parts: [id], surface, frequency: count, first, score: 0.4 * weigh(base) * Math.sqrt(count) })
  }
  return candidates
}

/** A stretch of words in the text, by where it begins and how many they are. */
interface Stretch {
  from: number
  readonly length: number
  count: number
}

/** Stretches are counted by a number made of the ids of their words, for most of them stand there once and come to nothing. */
function severalWords(words: readonly Word[], { bases }: Lexicon): Candidate[] {
  const stretches = new Map<number, Stretch>()
  const radix = bases.size + 2
  for (let i = 0; i + 1 < words.length; i++) {
    const first = words[i]
    if (first?.form.kind !== 'word') continue
    let key = first.form.base.id
    for (let length = 2; length <= 3; length++) {
      const word = words[i + length - 1]
      if (word === undefined || word.isCut || word.form.kind === 'stop') break
      key = key * radix + word.form.base.id
      if (word.form.kind === 'joint') {
        if (length === 3 || !joinsNames(words, i + 1)) break
        continue
      }
      const known = stretches.get(key)
      if (known === undefined) stretches.set(key, { from: i, length, count: 1 })
      else {
        known.count++
        // Better shown as it stands in the middle of a sentence.
        if (words[known.from]?.isFirst === true) known.from = i
      }
    }
  }
  return [...stretches.values()].flatMap((stretch) => candidateOf(words, stretch))
}

function joinsNames(words: readonly Word[], at: number): boolean {
  const next = words[at + 1]
  return words[at - 1]?.form.hasCapital === true && next?.form.hasCapital === true && !next.isCut
}

function candidateOf(words: readonly Word[], { from, length, count }: Stretch): Candidate[] {
  // Most stand there once, and the title does not have them.
  if (count < 2 && words[from]?.form.base.isInTitle !== true) return []
  const stretch = words.slice(from, from + length).map(({ form }) => form)
  const own = stretch.filter(({ kind }) => kind === 'word')
  const last = stretch.at(-1)
  if (last === undefined || (count < 2 && !own.every(({ base }) => base.isInTitle))) return []
  if (!last.hasCapital && isLooseEnd(last.word)) return []
  const mean = own.reduce((sum, { base }) => sum + weigh(base), 0) / own.length
  return [
    {
      parts: own.map(({ base }) => base.id),
      surface: stretch.map(({ text }, i) => (i + 1 < length ? text : withoutOwner(text))).join(' '),
      frequency: count,
      first: from,
      score: mean * count ** 0.8 * (own.length === 2 ? 1.3 : 1.4),
    },
  ]
}

function weigh({ count, capitals, inside, first, isInTitle }: Base): number {
  const isName = inside > 0 && capitals / inside > 0.6
  const early = 1 + 1 / (1 + Math.log(1 + first / 20))
  return (1 + Math.log(count)) * (isName ? 1.4 : 1) * early * (isInTitle ? 1.6 : 1)
}

function rank(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.score - a.score || a.first - b.first)
}

/** Adds the best to those that are chosen, without what is part of another or only adds a word to it. */
function chooseDistinct(ranked: readonly Candidate[], chosen: readonly Candidate[], most: number): Candidate[] {
  const all = [...chosen]
  const longer = ranked.filter(({ parts }) => parts.length > 2)
  for (const one of ranked) {
    if (all.length >= most) break
    const isKnown = all.some(({ parts }) => holds(parts, one.parts) || holds(one.parts, parts))
    if (!isKnown && !longer.some((other) => absorbs(other, one))) all.push(one)
  }
  return all
}

/** With so much of its frequency in a longer one, a phrase is only a part of that. */
const PART = 0.6

function absorbs(longer: Candidate, one: Candidate): boolean {
  const isLonger = longer.parts.length > one.parts.length
  return isLonger && longer.frequency >= one.frequency * PART && holds(longer.parts, one.parts)
}

function holds(whole: readonly number[], parts: readonly number[]): boolean {
  return parts.every((id) => whole.includes(id))
}
