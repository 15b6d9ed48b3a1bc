import type { SegmentView } from './segment.ts'
import { encodeText, findStemEntry, type StemEntry } from './term-blocks.ts'
import type { TermPostings } from './term-postings.ts'

/** The postings of a term in one segment. */
export interface TermPart {
  readonly segment: number
  readonly postings: TermPostings
}

/** The short form `form`, and a term of a segment that it finds. */
interface LongForm {
  readonly form: string
  readonly term: string
  readonly segment: number
}

/** The lookup results for a stem. */
interface FoundStem {
  readonly stem: string
  readonly bytes: Uint8Array
  readonly terms: Set<string>
  readonly longForms: LongForm[]
  /** The segments that have been searched for the stem. */
  readonly segments: number[]
}

/** The terms that a query has found in the segments, numbered in the order of finding them. */
export class FoundTerms {
  readonly names: string[] = []
  readonly parts: TermPart[][] = []
  readonly #views: readonly SegmentView[]
  readonly #allSegments: readonly number[]
  readonly #ids = new Map<string, number>()
  readonly #stems = new Map<string, FoundStem>()
  /** The blocks that have been read, by segment. */
  readonly #blocks: readonly Map<number, Uint8Array>[]

  constructor(views: readonly SegmentView[]) {
    this.#views = views
    this.#allSegments = views.map((_, segment) => segment)
    this.#blocks = views.map(() => new Map<number, Uint8Array>())
  }

  has(term: string): boolean {
    return this.#ids.has(term)
  }

  id(term: string): number {
    return this.#ids.get(term) ?? -1
  }

  longForms(stem: string): readonly LongForm[] {
    return this.#stems.get(stem)?.longForms ?? []
  }

  /** Looks a stem up in all segments, and returns its terms in a new set. */
  addStem(stem: string): Set<string> {
    return new Set(this.lookUp(stem, this.#allSegments).terms)
  }

  /** Looks a stem up in some segments, once in each. */
  lookUp(stem: string, segments: readonly number[]): FoundStem {
    const found = this.#stems.get(stem) ?? this.#createStem(stem)
    for (const segment of segments) {
      if (found.segments.includes(segment)) continue
      found.segments.push(segment)
      const entry = this.#findEntry(segment, found)
      for (const [form, term] of entry?.longForms ?? []) found.longForms.push({ form, term, segment })
      for (const postings of entry?.terms ?? []) {
        found.terms.add(postings.term)
        this.#add(postings.term, { segment, postings })
      }
    }
    return found
  }

  #createStem(stem: string): FoundStem {
    const found = { stem, bytes: encodeText(stem), terms: new Set<string>(), longForms: [], segments: [] }
    this.#stems.set(stem, found)
    return found
  }

  #findEntry(segment: number, { stem, bytes }: FoundStem): StemEntry | undefined {
    const { directory, readBlock } = this.#views[segment]?.segment ?? {}
    const number = directory?.find(bytes) ?? -1
    if (number < 0) return undefined
    const block = this.#blocks[segment]?.get(number) ?? readBlock?.(number)
    if (block === undefined) return undefined
    this.#blocks[segment]?.set(number, block)
    return findStemEntry(block, stem, bytes)
  }

  #add(term: string, part: TermPart): void {
    const id = this.#ids.get(term)
    if (id === undefined) {
      this.#ids.set(term, this.names.length)
      this.names.push(term)
      this.parts.push([part])
    } else {
      this.parts[id]?.push(part)
    }
  }
}
