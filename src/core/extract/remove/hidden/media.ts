/** Whether a condition of a style sheet applies to readers. */
export type Applicability = 'always' | 'sometimes' | 'never'

/**
 * Assumed screen width in pixels. A condition that depends on a wider screen applies only sometimes, so its rules can make an element
 * visible but never hide one.
 */
const SCREEN_WIDTH = 1200

/** Whether a list of media queries applies to a screen of common width. */
export function mediaApplies(list: string): Applicability {
  const results = list
    .toLowerCase()
    .split(',')
    .map((query) => queryApplies(query.trim()))
  if (results.includes('always')) return 'always'
  return results.includes('sometimes') ? 'sometimes' : 'never'
}

function queryApplies(query: string): Applicability {
  if (/^not (?:all|screen)$/.test(query)) return 'never'
  if (/^not (?:print|speech)$/.test(query)) return 'always'
  if (/\b(?:not|or)\b/.test(query)) return 'sometimes'
  const terms = query.replace(/^only\s+/, '').split(/(?<!\s)\s*\band\b\s*/)
  const results = terms.map(termApplies)
  if (results.includes('never')) return 'never'
  return results.includes('sometimes') ? 'sometimes' : 'always'
}

const WIDTH = /^\(\s*(?:(min|max)-(?:device-)?width\s*:|width\s*([<>])=?)\s*([\d.]+)(px|r?em)?\s*\)$/

function termApplies(term: string): Applicability {
  if (term === '' || term === 'all' || term === 'screen') return 'always'
  if (/^[a-z-]+$/.test(term)) return 'never'
  const [, bound, sign, number, unit] = WIDTH.exec(term) ?? []
  if (number === undefined) return 'sometimes'
  const pixels = Number(number) * (unit === undefined || unit === 'px' ? 1 : 16)
  const isMinimum = bound === 'min' || sign === '>'
  if (isMinimum) return pixels <= SCREEN_WIDTH ? 'always' : 'sometimes'
  return pixels < SCREEN_WIDTH ? 'never' : 'sometimes'
}
