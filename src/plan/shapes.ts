import type { PageKind } from '../crawl/ports.ts'
import type { Address } from './address.ts'
import type { LearnedPattern } from './plan-memory.ts'

/** How often addresses of one shape were seen and read, and what they were. */
export interface Shape {
  readonly pattern: string
  readonly seen: number
  /** How many were put into the frontier. */
  readonly planned: number
  readonly articles: number
  readonly hubs: number
  readonly others: number
  /** Addresses of it behind which nothing was. */
  readonly misses: number
  readonly examples: readonly string[]
  /** What the form of the addresses says. */
  readonly form: 'article' | 'pagination' | 'tag' | 'query' | 'list' | 'words'
}

type GrowingShape = { -readonly [K in keyof Shape]: Shape[K] } & { examples: string[] }

/** Shapes that are told apart; further ones are counted without their section. */
const MOST_SHAPES = 5000
const MOST_EXAMPLES = 3

/** Learns which shapes the addresses of a site have. */
export class ShapeBook {
  readonly #shapes = new Map<string, GrowingShape>()

  /** The shape of an address, counted where it is new. */
  note(address: Address): Shape {
    const shape = this.#find(address)
    shape.seen++
    if (shape.examples.length < MOST_EXAMPLES) shape.examples.push(address.url)
    return shape
  }

  /** Says that an address of a shape is going to be visited. */
  plan(address: Address): Shape {
    const shape = this.#find(address)
    shape.planned++
    return shape
  }

  /** Says what an address turned out to be; null where nothing was there. */
  read(address: Address, kind: PageKind | null): void {
    const shape = this.#find(address)
    if (kind === null) shape.misses++
    else if (kind === 'article') shape.articles++
    else if (kind === 'hub') shape.hubs++
    else shape.others++
  }

  /** Those that were seen most often first. */
  list(): Shape[] {
    return [...this.#shapes.values()].sort((a, b) => b.seen - a.seen || (a.pattern < b.pattern ? -1 : 1))
  }

  #find(address: Address): GrowingShape {
    const pattern = writeShape(address)
    const known = this.#shapes.get(pattern)
    if (known !== undefined) return known
    const isFull = this.#shapes.size >= MOST_SHAPES
    const kept = isFull ? writeShape(address, '{section}') : pattern
    const other = isFull ? this.#shapes.get(kept) : undefined
    if (other !== undefined) return other
    const counts = { seen: 0, planned: 0, articles: 0, hubs: 0, others: 0, misses: 0 }
    const shape: GrowingShape = { pattern: kept, ...counts, examples: [], form: formOf(address) }
    this.#shapes.set(kept, shape)
    return shape
  }
}

/** `/world/{year}/{month}/{day}/{slug}`; the first segment stands for itself where nothing is given for it. */
function writeShape({ segments, isPagination, hasQuery }: Address, section?: string): string {
  let pattern = ''
  for (let i = 0; i < segments.length; i++) {
    const { form, raw, ending } = segments[i] ?? NO_SEGMENT
    const slot = i === 0 && form === 'word' ? (section ?? raw) : SLOTS[form]
    pattern += `/${slot}${i > 0 ? ending : ''}`
  }
  if (isPagination) pattern += '/{page}'
  return hasQuery ? `${pattern}?{query}` : pattern || '/'
}

const NO_SEGMENT = { form: 'word', raw: '', ending: '' } as const

const SLOTS = {
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

/** What is behind addresses of a shape: what those that were read were, or else what their form says. */
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

/** How sure it is that a pattern holds, by how many of its kind were seen and how many were what it says. */
export function confidenceOf(seen: number, hits: number, misses: number): number {
  const bySeen = seen / (seen + 3)
  const share = (hits + 1) / (hits + misses + 1)
  return Math.round(bySeen * share * 100) / 100
}

/** Shapes with so many addresses are worth a word when nobody knows what they are. */
const LEAST_UNKNOWN = 5

/** Whether a plan cannot say what is behind a shape that is seen often. */
export function isUnknownShape(shape: Shape): boolean {
  const { seen, form, pattern } = shape
  return seen >= LEAST_UNKNOWN && form === 'words' && pattern.split('/').length > 2 && roleOf(shape) === 'other'
}
