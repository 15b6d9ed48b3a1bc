import { countFunctionWords } from './function-words.ts'
import { languagesByScript } from './script.ts'

/** The likely languages of a question. */
export interface QueryLanguages {
  /** The possible languages, the likeliest first; empty if there is no evidence. */
  readonly languages: readonly string[]
  /** Whether the script or several words prove the language. A single word may be a name, so it may rank answers but never exclude them. */
  readonly isSure: boolean
}

/** So much have the function words of a question to weigh: two of them, or three of those that may be names. */
const SURE_WEIGHT = 1.5

/** Says that a model is made for another language than the one a question is surely in; undefined where it is not. */
export function describeForeignQuestion(query: string, modelLanguage: string | undefined): string | undefined {
  if (modelLanguage === undefined) return undefined
  const { languages, isSure } = languagesOfQuery(query)
  if (!isSure || languages.length === 0 || languages.includes(modelLanguage)) return undefined
  return `the model is made for another language (${modelLanguage})`
}

/**
 * The languages that a question can be in, as far as its script or its function words tell: none where they do not. Two words alone are
 * never judged by how their letters follow each other.
 */
export function languagesOfQuery(query: string): QueryLanguages {
  const written = languagesByScript(query)
  const told = [...countFunctionWords(query).found].filter(([, { weight, sure }]) => sure > 0 || weight >= SURE_WEIGHT)
  const fitting = told.filter(([language]) => written.length === 0 || written.includes(language))
  const most = fitting.reduce((best, [, { weight }]) => Math.max(best, weight), 0)
  const best = fitting.filter(([, { weight }]) => weight === most).map(([language]) => language)
  // A question may be about words in another script, which says nothing of its own language.
  const isWritten = written.length > 0 && fitting.length === told.length
  // Words that two languages share equally prove nothing.
  if (best.length === 1) return { languages: best, isSure: isWritten || most >= SURE_WEIGHT }
  return { languages: written, isSure: isWritten }
}
