import { countFunctionWords } from './function-words.ts'
import { languagesByScript } from './script.ts'

/** The likely languages of a question. */
export interface QueryLanguages {
  /** The possible languages, the likeliest first; empty if there is no evidence. */
  readonly languages: readonly string[]
  /** Whether the script or several words prove the language. A single word may be a name, so it may rank answers but never exclude them. */
  readonly isSure: boolean
}

/** Minimum weight of function words in a question: two of which one is unambiguous, or three ambiguous ones. */
const SURE_WEIGHT = 1.5

/** Returns a message if a question is certainly in another language than that of the model; undefined otherwise. */
export function describeForeignQuestion(query: string, modelLanguage: string | undefined): string | undefined {
  if (modelLanguage === undefined) return undefined
  const { languages, isSure } = languagesOfQuery(query)
  if (!isSure || languages.length === 0 || languages.includes(modelLanguage)) return undefined
  return `the model is made for another language (${modelLanguage})`
}

/**
 * The possible languages of a question, by its script or its function words; none without evidence. Letter statistics are never used,
 * because a question is too short.
 */
export function languagesOfQuery(query: string): QueryLanguages {
  const scriptLanguages = languagesByScript(query)
  const { found } = countFunctionWords(query)
  const indicated = [...found].filter(
    ([, { weight, unambiguousCount }]) => unambiguousCount > 0 || weight >= SURE_WEIGHT,
  )
  const fitting = indicated.filter(([language]) => scriptLanguages.length === 0 || scriptLanguages.includes(language))
  const maxWeight = fitting.reduce((best, [, { weight }]) => Math.max(best, weight), 0)
  const best = fitting.filter(([, { weight }]) => weight === maxWeight).map(([language]) => language)
  // A question may be about words in another script, which says nothing about its own language.
  const isProvenByScript = scriptLanguages.length > 0 && fitting.length === indicated.length
  // Words that two languages share equally prove nothing.
  if (best.length === 1) return { languages: best, isSure: isProvenByScript || maxWeight >= SURE_WEIGHT }
  return { languages: scriptLanguages, isSure: isProvenByScript }
}
