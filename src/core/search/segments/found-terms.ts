import type { Segment } from './segment.ts'
import { encodeText, findStemEntry, type StemEntry } from './term-blocks.ts'
import type { TermPostings } from './term-postings.ts'

/** The postings of a term in one segment. */
export interface TermPart {
  readonly segment: number
  readonly postings: TermPostings
}

/** The lookup results for a stem. */
export interface FoundStem {
  readonly stem: string
  readonly bytes: Uint8Array
  readonly terms: Set<string>
  /** The entry of each segment: undefined if the segment has not been searched, null if it lacks the stem. */
  readonly entries: (StemEntry | null | undefined)[]
}

/** The terms that a query has found in the segments, numbered in the order of finding them. */
export class FoundTerms {
  readonly names: string[] = []
  /** The postings of each term, by ascending segment. */
  readonly parts: TermPart[][] = []
  readonly #segments: readonly Segment[]
  readonly #ids = new Map<string, number>()
  readonly #stems = new Map<string, FoundStem>()
  /** The blocks that have been read, by segment. */
  readonly #blocks: readonly Map<number, Uint8Array>[]

  constructor(segments: readonly Segment[]) {
    this.#segments = segments
    this.#blocks = segments.map(() => new Map<number, Uint8Array>())
  }

  has(term: string): boolean {
    return this.#ids.has(term)
  }

  id(term: string): number {
    return this.#ids.get(term) ?? -1
  }

  /** Looks a stem up in all segments. */
  addStem(stem: string): FoundStem {
    const found = this.#openStem(stem)
    for (let segment = 0; segment < this.#segments.length; segment++) this.#lookUp(found, segment)
    return found
  }

  /** Looks a term up in one segment, once. */
  lookUp(term: string, stem: string, segment: number): TermPostings | undefined {
    return this.#lookUp(this.#openStem(stem), segment)?.terms.find((postings) => postings.term === term)
  }

  #openStem(stem: string): FoundStem {
    const known = this.#stems.get(stem)
    if (known) return known
    const found = { stem, bytes: encodeText(stem), terms: new Set<string>(), entries: [] }
    this.#stems.set(stem, found)
    return found
  }

  #lookUp(found: FoundStem, segment: number): StemEntry | null {
    const known = found.entries[segment]
    if (known !== undefined) return known
    const entry = this.#findEntry(segment, found) ?? null
    found.entries[segment] = entry
    for (const postings of entry?.terms ?? []) {
      found.terms.add(postings.term)
      this.#add(postings.term, { segment, postings })
    }
    return entry
  }

  #findEntry(segment: number, { stem, bytes }: FoundStem): StemEntry | undefined {
    const { directory, readBlock } = this.#segments[segment] ?? {}
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
      return
    }
    const parts = this.parts[id]
    if (parts === undefined) return
    // A segment that was searched for a long form comes before those that are searched for the stem itself.
    let at = parts.length
    while (at > 0 && (parts[at - 1]?.segment ?? 0) > part.segment) at--
    parts.splice(at, 0, part)
  }
}
