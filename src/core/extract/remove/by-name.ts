import type { Element } from '../../html/tree.ts'
import { linkShare, type Statistics, type StatisticsMap } from '../content/statistics.ts'
import { type Chrome, wordsIn } from './rule.ts'
import { TermReader } from './terms.ts'

/** Concerns by term. */
export interface TermRules {
  readonly strong: ReadonlyMap<string, Chrome>
  readonly weak: ReadonlyMap<string, Chrome>
}

/** Makes rules out of concerns. Where two share a term, it is of the later. */
export function indexTerms(concerns: readonly Chrome[]): TermRules {
  const index = (list: (concern: Chrome) => string) =>
    new Map(concerns.flatMap((concern) => wordsIn(list(concern)).map((term) => [term, concern] as const)))
  return { strong: index(({ terms = '' }) => terms), weak: index(({ weakTerms = '' }) => weakTerms) }
}

/** Never chrome, whatever they are called. */
const KEPT = new Set(wordsIn('html body main article h1 h2 h3 h4 h5 h6 pre code table tbody tr td th dt dd blockquote'))

/** Says of elements whether the names that their author gave them make them chrome, and why. */
export function createNameJudge(
  { strong, weak }: TermRules,
  statistics: StatisticsMap,
  root: Element,
): (element: Element) => string | undefined {
  const whole = statistics.get(root)
  const terms = new TermReader()
  return (element) => {
    if (KEPT.has(element.name)) return undefined
    const counts = statistics.get(element)
    if (counts.text === 0 || holdsContent(counts, whole)) return undefined
    for (const { text, isLast } of terms.read(element)) {
      const concern = strong.get(text) ?? (isLast && isThin(counts, whole) ? weak.get(text) : undefined)
      if (concern !== undefined && counts.text <= (concern.maxChars ?? Infinity)) return concern.reason
    }
    return undefined
  }
}

/** Whether so much of the page is in an element that its name must tell of the layout. */
function holdsContent(counts: Statistics, whole: Statistics): boolean {
  if (counts.mains > 0 || counts.text > whole.text * 0.4) return true
  const share = counts.prose / Math.max(1, whole.prose)
  return counts.titles > 0 ? share > 0.1 : share > 0.3
}

function isThin(counts: Statistics, whole: Statistics): boolean {
  return counts.titles === 0 && counts.codes === 0 && (counts.prose < whole.prose * 0.03 || linkShare(counts) > 0.5)
}
