import { ANYBODYS_TLDS } from '../analysis/match-context.ts'
import type { CountryMentions, DomainAnalysis, DomainFigures, HostLocale } from './analyses.ts'

/** From this score on a host looks like news. */
const LEAST_NEWS = 0.4

/** Says what the pages of a host come to: much to read, in several sections, with dates, is news. */
export function judgeDomain(figures: DomainFigures, countryCode: string | null): DomainAnalysis {
  const { articles, sections, datedRatio } = figures
  const score = Math.min(0.5, articles / 100) + Math.min(0.2, sections / 25) + Math.min(0.3, datedRatio)
  return { ...figures, score, isNews: score >= LEAST_NEWS, countryCode }
}

/** Titles that have to name places before they say where a host is at home, and the share that one country needs of them. */
const LEAST_TITLES = 20
const LEAST_SHARE = 0.6

/** Says which country a host is of: that of its name, else the one that its titles are mostly about, where that is clear. */
export function judgeLocale(host: string, mentions: readonly CountryMentions[]): HostLocale {
  const own = countryOfHost(host)
  if (own !== null) return { countryCode: own, confidence: 1 }
  const total = mentions.reduce((sum, { pages }) => sum + pages, 0)
  const [most] = mentions
  if (most === undefined || total < LEAST_TITLES || most.pages < LEAST_SHARE * total) {
    return { countryCode: null, confidence: 0 }
  }
  return { countryCode: most.countryCode, confidence: Math.round((100 * most.pages) / total) / 100 }
}

/** Endings that are not the code of their country. */
const OTHER_CODES: Readonly<Record<string, string | null>> = { uk: 'GB', eu: null, su: null, ac: 'SH' }

/** The country that the name of a host ends with. */
function countryOfHost(host: string): string | null {
  const [, ending] = /\.([a-z]{2})$/.exec(host.replace(/:\d+$/, '')) ?? []
  if (ending === undefined || ANYBODYS_TLDS.has(ending)) return null
  return ending in OTHER_CODES ? (OTHER_CODES[ending] ?? null) : ending.toUpperCase()
}
