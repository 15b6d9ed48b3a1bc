import type { Page } from '../model.ts'
import { tellLanguage } from '../text/language.ts'
import { fingerprintOf } from './fingerprint.ts'

/**
 * A page with what tells how it is related to others: the language it is in, and its fingerprint. What is no prose, as code, is in none
 * that is not told.
 */
export function withLikeness(page: Page, isProse = true): Page {
  const { language, markdown } = page
  const told = isProse ? tellLanguage(language, markdown) : language
  return { ...page, language: told, fingerprint: fingerprintOf(markdown) }
}
