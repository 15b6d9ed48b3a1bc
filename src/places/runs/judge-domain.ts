import type { DomainAnalysis } from '../../library/ports/findings.ts'
import { GENERIC_CCTLDS } from '../analysis/match-context.ts'
import type { CountryMentions, DomainFigures, HostLocale } from '../ports/analyses.ts'

/** Minimum score of a news site. */
const MIN_NEWS_SCORE = 0.4

/** Scores a host: many articles, several sections and dates indicate news. */
export function judgeDomain(figures: DomainFigures, countryCode: string | null): DomainAnalysis {
  const { articles, sections, datedRatio } = figures
  const score = Math.min(0.5, articles / 100) + Math.min(0.2, sections / 25) + Math.min(0.3, datedRatio)
  return { ...figures, score, isNews: score >= MIN_NEWS_SCORE, countryCode }
}

/** Titles determine the country of a host if at least this many name a place, and one country has at least this share of them. */
const MIN_TITLES = 20
const MIN_COUNTRY_SHARE = 0.6

/** Determines the country of a host: from its top-level domain, otherwise from its titles if one country clearly dominates. */
export function judgeLocale(host: string, mentions: readonly CountryMentions[]): HostLocale {
  const own = countryOfHost(host)
  if (own !== null) return { countryCode: own, confidence: 1 }
  const total = mentions.reduce((sum, { pages }) => sum + pages, 0)
  const [dominant] = mentions
  if (dominant === undefined || total < MIN_TITLES || dominant.pages < MIN_COUNTRY_SHARE * total) {
    return { countryCode: null, confidence: 0 }
  }
  return { countryCode: dominant.countryCode, confidence: Math.round((100 * dominant.pages) / total) / 100 }
}

/** Country-code domains that differ from the ISO code of their country; null for domains without a country. */
const TLD_EXCEPTIONS: Readonly<Record<string, string | null>> = { uk: 'GB', eu: null, su: null, ac: 'SH' }

/** Returns the country of the top-level domain. */
function countryOfHost(host: string): string | null {
  const [, ending] = /\.([a-z]{2})$/.exec(host.replace(/:\d+$/, '')) ?? []
  if (ending === undefined || GENERIC_CCTLDS.has(ending)) return null
  return ending in TLD_EXCEPTIONS ? (TLD_EXCEPTIONS[ending] ?? null) : ending.toUpperCase()
}
