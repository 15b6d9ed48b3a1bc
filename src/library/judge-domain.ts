import type { DomainAnalysis, DomainFigures } from './analyses.ts'

/** From this score on a host looks like news. */
const LEAST_NEWS = 0.4

/** Says what the pages of a host come to: much to read, in several sections, with dates, is news. */
export function judgeDomain(figures: DomainFigures): DomainAnalysis {
  const { host, articles, sections, datedRatio } = figures
  const score = Math.min(0.5, articles / 100) + Math.min(0.2, sections / 25) + Math.min(0.3, datedRatio)
  return { ...figures, score, isNews: score >= LEAST_NEWS, countryCode: countryOf(host) }
}

/** Endings of two letters that anybody uses, whatever country they were given to. */
const ANYBODYS = new Set('ai am cc co fm gg io la ly me nu sh st to tv vc ws'.split(' '))
/** Endings that are not the code of their country. */
const OTHER_CODES: Readonly<Record<string, string | null>> = { uk: 'GB', eu: null, su: null, ac: 'SH' }

/** The country that the name of a host ends with. */
function countryOf(host: string): string | null {
  const [, ending] = /\.([a-z]{2})$/.exec(host.replace(/:\d+$/, '')) ?? []
  if (ending === undefined || ANYBODYS.has(ending)) return null
  return ending in OTHER_CODES ? (OTHER_CODES[ending] ?? null) : ending.toUpperCase()
}
