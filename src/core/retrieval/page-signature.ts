import type { Page } from '../model.ts'
import { primaryLanguageOf } from '../text/language-code.ts'
import { compareUtf8 } from '../text/order.ts'
import { looseKey } from '../url/key.ts'
import type { Fingerprint } from './fingerprint.ts'
import { FIRST_SEED, hashText, SECOND_SEED } from './text-hash.ts'

/** Facts that relate a page to others, without its text. */
export interface PageSignature {
  readonly fingerprint: Fingerprint | null
  readonly language: string | null
  /** Equal for pages that name each other as translations; null for a page that names none. */
  readonly family: string | null
}

export function createPageSignature({ url, language, fingerprint = null, alternates }: SignatureInput): PageSignature {
  return { fingerprint, language, family: familyOf(url, alternates) }
}

/**
 * A key for the set of pages that a page names as its translations, itself included. A page that does not name itself has no family,
 * because on some sites every page names the front pages.
 */
function familyOf(url: string, alternates: Page['alternates']): string | null {
  const hreflangLinks = alternates.filter((alternate) => alternate.language !== null)
  const ownKey = looseKey(url)
  if (!hreflangLinks.some((alternate) => looseKey(alternate.url) === ownKey)) return null
  // On many sites `x-default` names the front page on every page.
  const translations = hreflangLinks.filter((alternate) => primaryLanguageOf(alternate.language ?? '') !== null)
  const keys = new Set(translations.map((alternate) => looseKey(alternate.url)))
  if (keys.size < 2) return null
  const all = [...keys].sort(compareUtf8).join('\n')
  return [FIRST_SEED, SECOND_SEED].map((seed) => writeHash(hashText(all, seed))).join('')
}

function writeHash(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, '0')
}

type SignatureInput = Pick<Page, 'url' | 'language' | 'fingerprint' | 'alternates'>
