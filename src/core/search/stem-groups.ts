import type { Analyzer } from './analyzer.ts'
import { runSteps, type Steps } from './steps.ts'
import { Vocabulary } from './vocabulary.ts'

/** Terms processed in one step. */
const TERMS_PER_STEP = 256

/**
 * Finds the terms of a vocabulary that a word matches: those that share its stem and those it is a short form of. Each new term is analyzed
 * once, at the next lookup.
 */
export class StemGroups {
  readonly #analyzer: Analyzer
  readonly #terms: Vocabulary
  readonly #stems = new Vocabulary()
  /** Number of the last term of each stem, plus one. */
  #heads = new Uint32Array(0)
  /** The previous term with the same stem, plus one. */
  #previous = new Uint32Array(0)
  /** Numbers of the terms that each short form stands for. */
  readonly #longForms = new Map<string, number[]>()
  /** Number of terms that were processed. */
  #termCount = 0

  constructor(terms: Vocabulary, analyzer: Analyzer) {
    this.#terms = terms
    this.#analyzer = analyzer
  }

  /** Numbers of the terms that have the stem of `word` or that `word` is a short form of, in no particular order. */
  find(word: string): number[] {
    runSteps(this.update())
    const group = [...(this.#longForms.get(word) ?? [])]
    const stem = this.#stems.find(this.#analyzer.stem(word))
    if (stem < 0) return group
    for (let next = this.#heads[stem] ?? 0; next > 0; next = this.#previous[next - 1] ?? 0) group.push(next - 1)
    return group
  }

  /** Processes terms added since the last call. The next call resumes an interrupted one. */
  *update(): Steps<void> {
    const { size } = this.#terms
    if (this.#termCount === size) return
    if (this.#previous.length < size) this.#previous = extend(this.#previous, size)
    if (this.#heads.length < size) this.#heads = extend(this.#heads, size)
    while (this.#termCount < size) {
      const stop = Math.min(size, this.#termCount + TERMS_PER_STEP)
      for (; this.#termCount < stop; this.#termCount++) this.#addTerm()
      yield
    }
  }

  #addTerm(): void {
    const term = this.#terms.term(this.#termCount)
    for (const shortForm of this.#analyzer.shortForms?.(term) ?? []) this.#addLongForm(shortForm)
    const stem = this.#analyzer.stem(term)
    const group = this.#stems.intern(stem, 0, stem.length)
    this.#previous[this.#termCount] = this.#heads[group] ?? 0
    this.#heads[group] = this.#termCount + 1
  }

  #addLongForm(shortForm: string): void {
    const longForms = this.#longForms.get(shortForm)
    if (longForms) longForms.push(this.#termCount)
    else this.#longForms.set(shortForm, [this.#termCount])
  }
}

function extend(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const extended = new Uint32Array(length)
  extended.set(array)
  return extended
}
