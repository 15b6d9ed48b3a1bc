import type { PageKind } from '../../crawl/ports.ts'
import type { LearnedPattern } from '../../library/ports/findings.ts'
import type { Address } from './address.ts'

/** Counts of the addresses of one shape: how many were seen, planned and read, and which kinds of pages they had. */
export interface Shape {
  readonly pattern: string
  readonly seen: number
  /** Number of addresses put into the frontier. */
  readonly planned: number
  readonly articles: number
  readonly hubs: number
  readonly others: number
  /** Number of addresses without a page. */
  readonly misses: number
  readonly examples: readonly string[]
  /** The kind of page that the form of the addresses suggests. */
  readonly form: 'article' | 'pagination' | 'tag' | 'query' | 'list' | 'words'
}

type MutableShape = { -readonly [K in keyof Shape]: Shape[K] } & { examples: string[] }

/** Limit of shapes that are distinguished; further ones are counted without their section. */
const MAX_SHAPES = 5000
const MAX_EXAMPLES = 3

/** Learns the shapes of a site's addresses. */
export class ShapeIndex {
  readonly #shapes = new Map<string, MutableShape>()

  /** Records an address and returns its shape. */
  note(address: Address): Shape {
    const shape = this.#find(address)
    shape.seen++
    if (shape.examples.length < MAX_EXAMPLES) shape.examples.push(address.url)
    return shape
  }

  /** Records that an address will be visited, and returns its shape. */
  notePlanned(address: Address): Shape {
    const shape = this.#find(address)
    shape.planned++
    return shape
  }

  /** Records the kind of page at an address; null when there was none. */
  noteRead(address: Address, kind: PageKind | null): void {
    const shape = this.#find(address)
    if (kind === null) shape.misses++
    else if (kind === 'article') shape.articles++
    else if (kind === 'hub') shape.hubs++
    else shape.others++
  }

  /** All shapes, most frequent first. */
  list(): Shape[] {
    return [...this.#shapes.values()].sort((a, b) => b.seen - a.seen || (a.pattern < b.pattern ? -1 : 1))
  }

  #find(address: Address): MutableShape {
    const pattern = writeShape(address)
    const known = this.#shapes.get(pattern)
    if (known !== undefined) return known
    const isFull = this.#shapes.size >= MAX_SHAPES
    const storedPattern = isFull ? writeShape(address, '{section}') : pattern
    const other = isFull ? this.#shapes.get(storedPattern) : undefined
    if (other !== undefined) return other
    const counts = { seen: 0, planned: 0, articles: 0, hubs: 0, others: 0, misses: 0 }
    const shape: MutableShape = { pattern: storedPattern, ...counts, examples: [], form: formOf(address) }
    this.#shapes.set(storedPattern, shape)
    return shape
  }
}

/** Writes `/world/{year}/{month}/{day}/{slug}`; the first segment stays as it is unless `section` replaces it. */
function writeShape({ segments, isPagination, hasQuery }: Address, section?: string): string {
  let pattern = ''
  for (let i = 0; i < segments.length; i++) {
    const { form, raw, ending } = segments[i] ?? NO_SEGMENT
    const slot = i === 0 && form === 'word' ? (section ?? raw) : PLACEHOLDERS[form]
    pattern += `/${slot}${i > 0 ? ending : ''}`
  }
  if (isPagination) pattern += '/{page}'
  return hasQuery ? `${pattern}?{query}` : pattern || '/'
}

const NO_SEGMENT = { form: 'word', raw: '', ending: '' } as const

const PLACEHOLDERS = {
  word: '{slug}',
  headline: '{slug}',
  id: '{slug}',
  number: '{number}',
  year: '{year}',
  month: '{month}',
  day: '{day}',
} as const

function formOf({ kind, isPagination, isTag, hasQuery, date }: Address): Shape['form'] {
  if (isPagination) return 'pagination'
  if (isTag) return 'tag'
  if (hasQuery) return 'query'
  if (kind === 'article') return 'article'
  return kind === 'nav' || date !== null ? 'list' : 'words'
}

/** The role of a shape: the kind of most pages that were read, otherwise what the form suggests. */
export function roleOf({ form, articles, hubs, others }: Shape): LearnedPattern['role'] {
  if (form === 'pagination' || form === 'tag') return form
  const read = articles + hubs + others
  if (read > 0) {
    if (articles * 2 > read) return 'article'
    return hubs * 2 > read ? 'topic-hub' : 'other'
  }
  if (form === 'article') return 'article'
  return form === 'list' ? 'topic-hub' : 'other'
}

/** Confidence in a pattern, by the number of its addresses and the share of correct ones. */
export function confidenceOf(seen: number, hits: number, misses: number): number {
  const bySeen = seen / (seen + 3)
  const share = (hits + 1) / (hits + misses + 1)
  return Math.round(bySeen * share * 100) / 100
}

/** Minimum number of addresses from which an unknown shape is reported. */
const MIN_UNKNOWN = 5

/** Whether a frequent shape has an unknown role. */
export function isUnknownShape(shape: Shape): boolean {
  const { seen, form, pattern } = shape
  return seen >= MIN_UNKNOWN && form === 'words' && pattern.split('/').length > 2 && roleOf(shape) === 'other'
}
