import { countFunctionWords } from './function-words.ts'
import { languagesByScript } from './script.ts'

/** What a question tells of the language it is in. */
export interface QueryLanguages {
  /** Those that it can be in, the likeliest first; none where nothing tells. */
  readonly languages: readonly string[]
  /** Whether that is told by its script or by several words. One word may be a name: by it answers are chosen among, never left out. */
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
  // One that is as much of one language as of another tells nothing.
  if (best.length === 1) return { languages: best, isSure: isWritten || most >= SURE_WEIGHT }
  return { languages: written, isSure: isWritten }
}
