import { kindAt, LETTER, MARK, PAIRED, UNDERSCORE, WORD } from '../../core/text/characters.ts'
import { createStopWordTest, isBadPhraseEnd, NAME_CONNECTORS, withoutParticle } from './key-phrase-words.ts'

/** A phrase that a text is about. */
export interface KeyPhrase {
  readonly phrase: string
  readonly frequency: number
  /** Comparable only among the phrases of one text. */
  readonly score: number
}

/** Title and language of a text. */
export interface PhraseContext {
  readonly title: string
  /** Short BCP 47 code. */
  readonly language: string | null
}

/** Maximum number of phrases per text. */
const MAX_PHRASES = 10
/** Up to this many phrases of several words are chosen first. The remaining slots are open to all phrases and single words. */
const MULTI_WORD_SLOTS = 8
/** Number of words that are analysed; the topic of a text is clear by that point. */
const MAX_WORDS = 8000
/** Minimum number of words; with fewer, any word would be a phrase. */
const MIN_WORDS = 20

/**
 * The phrases that a text is about, best first. Candidates are runs of up to three words between stop words and punctuation, as in RAKE.
 * Their score depends on frequency, position, capitalisation and the title, as in YAKE. A word that is part of a phrase is not listed
 * alone. A text in a script without spaces has no phrases.
 */
export function findKeyPhrases(text: string, { title, language }: PhraseContext): KeyPhrase[] {
  const lexicon = createLexicon(language)
  const words = readWords(text, lexicon)
  if (words.length < MIN_WORDS) return []
  for (const { form, isFirst } of words) countForm(form, isFirst)
  for (const { form } of readWords(title, lexicon)) form.lemma.isInTitle = true
  markStopWords(lexicon, words.length)
  const phrases = rank([...listSingleWords(lexicon), ...listNGrams(words, lexicon)])
  const long = chooseDistinct(
    phrases.filter(({ parts }) => parts.length > 1),
    [],
    MULTI_WORD_SLOTS,
  )
  return rank(chooseDistinct(phrases, long, MAX_PHRASES)).map(({ surface, frequency, score }) => ({
    phrase: surface,
    frequency,
    score: Math.round(score * 100) / 100,
  }))
}

/** Data that several forms of one word share. */
interface Lemma {
  readonly id: number
  count: number
  /** Number of occurrences that do not begin a sentence; among these, only names are capitalized. */
  inside: number
  /** Number of capitalized occurrences that do not begin a sentence. */
  capitals: number
  /** Index of the first occurrence among the words of the text. */
  readonly first: number
  isInTitle: boolean
  /** The form to show: the first one inside a sentence, or else the first one. */
  surface: string
  /** Whether `surface` is from inside a sentence. */
  isSurfaceFinal: boolean
}

/** A word as it is written. */
interface WordForm {
  /** The written word without a Korean particle. */
  readonly text: string
  /** The text in lower case. */
  readonly word: string
  readonly lemma: Lemma
  readonly hasCapital: boolean
  /** Number of occurrences in this form. */
  count: number
  /** A connector is a stop word that can join names, such as `of`. */
  kind: 'word' | 'stop' | 'connector'
}

interface Lexicon {
  readonly language: string | null
  readonly forms: Map<string, WordForm>
  readonly lemmas: Map<string, Lemma>
}

function createLexicon(language: string | null): Lexicon {
  return { language, forms: new Map(), lemmas: new Map() }
}

/** A word of a text. */
interface Word {
  readonly form: WordForm
  /** Whether no phrase continues into this word: punctuation or a Korean particle precedes it. */
  readonly isCut: boolean
  /** Whether it begins a sentence. */
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
      // A line break continues a paragraph; a blank line or a leading mark starts another one.
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
    // A Korean particle ends a phrase.
    isCut = form.text.length < written.length
    isFirst = false
  }
  return words
}

/** Counts Korean as letters, because it is written with spaces. Search splits it into character pairs. */
function phraseKindAt(text: string, i: number): number {
  const kind = kindAt(text, i)
  if (kind !== PAIRED) return kind
  const unit = text.charCodeAt(i)
  return unit >= FIRST_HANGUL && unit <= LAST_HANGUL ? LETTER : PAIRED
}

const FIRST_HANGUL = 0xac00
const LAST_HANGUL = 0xd7a3

/** A single hyphen or apostrophe inside a word is part of it. */
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

function formOf(written: string, { forms, lemmas, language }: Lexicon, at: number): WordForm {
  const known = forms.get(written)
  if (known !== undefined) return known
  const text = language === 'ko' ? withoutParticle(written) : written
  const word = text.toLowerCase().replaceAll('’', "'")
  const name = lemmaOf(word, language)
  let lemma = lemmas.get(name)
  if (lemma === undefined) {
    lemma = {
      id: lemmas.size + 1,
      count: 0,
      inside: 0,
      capitals: 0,
      first: at,
      isInTitle: false,
      surface: '',
      isSurfaceFinal: false,
    }
    lemmas.set(name, lemma)
  }
  const form: WordForm = {
    text,
    word,
    lemma,
    hasCapital: text.charAt(0) !== word.charAt(0),
    count: 0,
    kind: 'word',
  }
  forms.set(written, form)
  return form
}

function countForm(form: WordForm, isFirst: boolean): void {
  const { lemma } = form
  form.count++
  lemma.count++
  if (!isFirst) {
    lemma.inside++
    if (form.hasCapital) lemma.capitals++
  }
  if (lemma.surface !== '' && (lemma.isSurfaceFinal || isFirst)) return
  lemma.surface = withoutPossessive(form.text)
  lemma.isSurfaceFinal = !isFirst
}

function withoutPossessive(text: string): string {
  return text.replace(/['’]s?$/, '')
}

/** A word without its possessive ending, and in English without its plural ending. */
function lemmaOf(word: string, language: string | null): string {
  const base = withoutPossessive(word)
  if (language !== 'en' || base.length <= 3 || !base.endsWith('s')) return base
  if (base.endsWith('ies')) return `${base.slice(0, -3)}y`
  return /(?:ss|us|is)$/.test(base) ? base : base.slice(0, -1)
}

function markStopWords({ forms, language }: Lexicon, total: number): void {
  const counts = new Map<string, number>()
  for (const { word, count } of forms.values()) counts.set(word, (counts.get(word) ?? 0) + count)
  const isStop = createStopWordTest(language, counts, total)
  for (const form of forms.values()) {
    const { word } = form
    if (isStop(word) || isStop(lemmaOf(word, language)) || !HAS_LETTER.test(word)) {
      form.kind = NAME_CONNECTORS.has(word) ? 'connector' : 'stop'
    }
  }
}

const HAS_LETTER = /\p{L}/u

/** Something that may be a phrase. */
interface Candidate {
  /** Ids of the lemmas of its words, without connectors. */
  readonly parts: readonly number[]
  readonly surface: string
  readonly frequency: number
  readonly first: number
  readonly score: number
}

/** Minimum occurrences of a single word, which says less than a phrase. */
const MIN_SINGLE_COUNT = 3
const MIN_SINGLE_CHARS = 4
/** Minimum length of a single Korean word; a syllable is one character. */
const MIN_SINGLE_SYLLABLES = 2

function listSingleWords({ forms, language }: Lexicon): Candidate[] {
  const minLen = language === 'ko' ? MIN_SINGLE_SYLLABLES : MIN_SINGLE_CHARS
  const seen = new Set<Lemma>()
  const candidates: Candidate[] = []
  for (const { lemma, kind } of forms.values()) {
    if (kind !== 'word' || seen.has(lemma) || lemma.count < MIN_SINGLE_COUNT || lemma.surface.length < minLen) continue
    seen.add(lemma)
    const { id, surface, count, first } = lemma
    candidates.push({ parts: [id], surface, frequency: count, first, score: 0.4 * weigh(lemma) * Math.sqrt(count) })
  }
  return candidates
}

/** A run of words in the text, by its first word and its length. */
interface NGram {
  from: number
  readonly length: number
  count: number
}

/** Counts runs of two or three words. The key is a number because most runs occur once and are dropped: a string for each costs more. */
function listNGrams(words: readonly Word[], { lemmas }: Lexicon): Candidate[] {
  const nGrams = new Map<number, NGram>()
  const radix = lemmas.size + 2
  for (let i = 0; i + 1 < words.length; i++) {
    const first = words[i]
    if (first?.form.kind !== 'word') continue
    let key = first.form.lemma.id
    for (let length = 2; length <= 3; length++) {
      const word = words[i + length - 1]
      if (word === undefined || word.isCut || word.form.kind === 'stop') break
      key = key * radix + word.form.lemma.id
      if (word.form.kind === 'connector') {
        if (length === 3 || !joinsNames(words, i + 1)) break
        continue
      }
      const known = nGrams.get(key)
      if (known === undefined) nGrams.set(key, { from: i, length, count: 1 })
      else {
        known.count++
        // Prefers an occurrence inside a sentence as the form to show.
        if (words[known.from]?.isFirst === true) known.from = i
      }
    }
  }
  return [...nGrams.values()].flatMap((nGram) => candidateOf(words, nGram))
}

function joinsNames(words: readonly Word[], at: number): boolean {
  const next = words[at + 1]
  return words[at - 1]?.form.hasCapital === true && next?.form.hasCapital === true && !next.isCut
}

function candidateOf(words: readonly Word[], { from, length, count }: NGram): Candidate[] {
  // This early return drops most runs: they occur once and do not start with a word of the title.
  if (count < 2 && words[from]?.form.lemma.isInTitle !== true) return []
  const forms = words.slice(from, from + length).map(({ form }) => form)
  const contentWords = forms.filter(({ kind }) => kind === 'word')
  const last = forms.at(-1)
  if (last === undefined || (count < 2 && !contentWords.every(({ lemma }) => lemma.isInTitle))) return []
  if (!last.hasCapital && isBadPhraseEnd(last.word)) return []
  const mean = contentWords.reduce((sum, { lemma }) => sum + weigh(lemma), 0) / contentWords.length
  return [
    {
      parts: contentWords.map(({ lemma }) => lemma.id),
      surface: forms.map(({ text }, i) => (i + 1 < length ? text : withoutPossessive(text))).join(' '),
      frequency: count,
      first: from,
      score: mean * count ** 0.8 * (contentWords.length === 2 ? 1.3 : 1.4),
    },
  ]
}

function weigh({ count, capitals, inside, first, isInTitle }: Lemma): number {
  const isName = inside > 0 && capitals / inside > 0.6
  const earlyBonus = 1 + 1 / (1 + Math.log(1 + first / 20))
  return (1 + Math.log(count)) * (isName ? 1.4 : 1) * earlyBonus * (isInTitle ? 1.6 : 1)
}

function rank(candidates: readonly Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.score - a.score || a.first - b.first)
}

/**
 * Adds the best candidates to the chosen ones. Leaves out a candidate that contains a chosen phrase or is contained in one, and a candidate
 * that mostly occurs inside a longer phrase.
 */
function chooseDistinct(ranked: readonly Candidate[], chosen: readonly Candidate[], max: number): Candidate[] {
  const distinct = [...chosen]
  const longer = ranked.filter(({ parts }) => parts.length > 2)
  for (const candidate of ranked) {
    if (distinct.length >= max) break
    const isKnown = distinct.some(
      ({ parts }) => containsAll(parts, candidate.parts) || containsAll(candidate.parts, parts),
    )
    if (!isKnown && !longer.some((other) => absorbs(other, candidate))) distinct.push(candidate)
  }
  return distinct
}

/** A phrase counts as part of a longer one if at least this share of its occurrences is inside the longer one. */
const PART_SHARE = 0.6

function absorbs(longer: Candidate, candidate: Candidate): boolean {
  const isLonger = longer.parts.length > candidate.parts.length
  return isLonger && longer.frequency >= candidate.frequency * PART_SHARE && containsAll(longer.parts, candidate.parts)
}

function containsAll(whole: readonly number[], parts: readonly number[]): boolean {
  return parts.every((id) => whole.includes(id))
}
