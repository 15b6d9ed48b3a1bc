import type { Page } from '../model.ts'
import { tellLanguage } from '../text/language.ts'
import { fingerprintOf } from './fingerprint.ts'

/**
 * Adds the language and the fingerprint to a page, which relate it to other pages. The language of other text than prose, such as code, is
 * never guessed.
 */
export function withLikeness(page: Page, isProse = true): Page {
  const { language, markdown } = page
  const told = isProse ? tellLanguage(language, markdown) : language
  return { ...page, language: told, fingerprint: fingerprintOf(markdown) }
}
