import type { MatchContext } from './matcher.ts'
import { packCountry } from './name-index.ts'

/** Countries that the context of a text points to, with their scores. */
export type CountryScores = ReadonlyMap<number, number>

/** Scores that decide between places of the same name. */
const HOST_COUNTRY_SCORE = 5
const URL_COUNTRY_SCORE = 4
const TLD_COUNTRY_SCORE = 3
const SECTION_COUNTRY_SCORE = 2

/** Two-letter top-level domains that sites use regardless of their country. */
export const GENERIC_CCTLDS: ReadonlySet<string> = new Set(
  'ai am cc co fm gg im io la ly me nu sh st to tv vc ws'.split(' '),
)

/** Scores of the countries that the context of a page points to. */
export function countryScoresOf(context: MatchContext, isCountry: (code: number) => boolean): CountryScores {
  const scores = new Map<number, number>()
  const add = (code: string, score: number): void => {
    const packed = packCountry(countryOfCode(code))
    if (packed !== 0 && isCountry(packed)) scores.set(packed, (scores.get(packed) ?? 0) + score)
  }
  if (context.hostCountry !== undefined) add(context.hostCountry, HOST_COUNTRY_SCORE)
  const url = parseUrl(context.url)
  if (url !== undefined) {
    const tld = url.hostname.split('.').at(-1) ?? ''
    if (tld.length === 2 && !GENERIC_CCTLDS.has(tld)) add(tld, TLD_COUNTRY_SCORE)
    const segment = url.pathname.split('/').find((part) => part.length === 2)
    if (segment !== undefined && !isLanguageSegment(segment)) add(segment, URL_COUNTRY_SCORE)
  }
  // `US politics` and `uk` contain codes; the words of `Made in Italy` are not codes.
  const section = context.section ?? ''
  for (const word of section.length === 2 ? [section] : (section.match(/\b[A-Z]{2}\b/g) ?? []))
    add(word, SECTION_COUNTRY_SCORE)
  return scores
}

/** The ISO 3166 code for a country code in any case. `uk` means `GB`. */
export function countryOfCode(code: string): string {
  const upper = code.toUpperCase()
  return upper === 'UK' ? 'GB' : upper
}

/** Whether a path segment of two letters means a language far more often than a country. */
export function isLanguageSegment(segment: string): boolean {
  return LANGUAGE_SEGMENTS.has(segment)
}

const LANGUAGE_SEGMENTS = new Set(
  'en ar zh ja ko hi fa he el da sv cs sl et vi ms ka be bs sr sq hy kk ur bn ta te id my'.split(' '),
)

/** Parses a URL; undefined when it is invalid. */
export function parseUrl(url: string | undefined): URL | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url) : undefined
}
