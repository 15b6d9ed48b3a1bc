import type { Page } from '../model.ts'
import { resolvePageLanguage } from '../text/language.ts'
import { fingerprintOf } from './fingerprint.ts'

/**
 * Adds to a page its language and its fingerprint, by which it is compared with other pages. The language of text other than prose, such
 * as code, is never guessed.
 */
export function withPageSignature(page: Page, isProse = true): Page {
  const { language, markdown } = page
  const resolved = isProse ? resolvePageLanguage(language, markdown) : language
  return { ...page, language: resolved, fingerprint: fingerprintOf(markdown) }
}
