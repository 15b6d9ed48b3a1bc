import type { Analyzer } from './analyzer.ts'
import { Vocabulary } from './vocabulary.ts'

/** Knows which terms of a vocabulary share a stem. Each term is stemmed once, when the groups are next asked for. */
export class StemGroups {
  readonly #analyzer: Analyzer
  readonly #terms: Vocabulary
  readonly #stems = new Vocabulary()
  /** Last term of each stem, plus one. */
  #heads = new Uint32Array(0)
  /** The term before this one with the same stem, plus one. */
  #previous = new Uint32Array(0)
  #known = 0

  constructor(terms: Vocabulary, analyzer: Analyzer) {
    this.#terms = terms
    this.#analyzer = analyzer
  }

  /** Numbers of the terms with the stem of `word`, in no particular order. */
  find(word: string): number[] {
    this.#update()
    const group: number[] = []
    const stem = this.#stems.find(this.#analyzer.stem(word))
    if (stem < 0) return group
    for (let next = this.#heads[stem] ?? 0; next > 0; next = this.#previous[next - 1] ?? 0) group.push(next - 1)
    return group
  }

  #update(): void {
    const { size } = this.#terms
    if (this.#known === size) return
    this.#previous = extend(this.#previous, size)
    this.#heads = extend(this.#heads, size)
    for (; this.#known < size; this.#known++) {
      const stem = this.#analyzer.stem(this.#terms.term(this.#known))
      const group = this.#stems.intern(stem, 0, stem.length)
      this.#previous[this.#known] = this.#heads[group] ?? 0
      this.#heads[group] = this.#known + 1
    }
  }
}

function extend(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const extended = new Uint32Array(length)
  extended.set(array)
  return extended
}
