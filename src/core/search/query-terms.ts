import type { Analyzer } from './analyzer.ts'
import type { Postings } from './postings.ts'
import { parseQuery } from './query.ts'
import type { QueryWord } from './ranked-query.ts'
import { StemGroups } from './stem-groups.ts'
import type { Steps } from './steps.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The beginning of a word, and its completions. */
export interface Completion {
  readonly beginning: string
  /** The most frequent first. */
  readonly terms: readonly string[]
}

/** A single letter would have too many completions. */
const MIN_PREFIX_CHARS = 2
const MAX_COMPLETIONS = 8

/** Finds the terms of a vocabulary that the words of a query match or begin. */
export class QueryTerms {
  readonly #vocabulary: Vocabulary
  readonly #analyzer: Analyzer
  readonly #matchesVariants: boolean
  readonly #postings: () => readonly Postings[]
  readonly #stems: StemGroups

  /** `postings` returns those of the current documents, for the frequency of a term. */
  constructor(
    vocabulary: Vocabulary,
    analyzer: Analyzer,
    matchesVariants: boolean,
    postings: () => readonly Postings[],
  ) {
    this.#vocabulary = vocabulary
    this.#analyzer = analyzer
    this.#matchesVariants = matchesVariants
    this.#postings = postings
    this.#stems = new StemGroups(vocabulary, analyzer)
  }

  /** Processes terms added since the last call, in steps; a lookup does the remaining steps itself. */
  update(): Steps<void> {
    return this.#stems.update()
  }

  /** The words of a query with their matching terms. */
  find(query: string, completes: boolean): QueryWord[] {
    const unfinished = completes ? this.#findUnfinished(query) : []
    return parseQuery(query, this.#analyzer).map(({ word, forms, weight, phraseGap }) => {
      const exact = forms.map((form) => this.#vocabulary.find(form)).filter((id) => id >= 0)
      const related = unfinished.includes(word) ? this.#findCompletions(word) : this.#findRelated(word)
      const variants = this.#sortTerms(related.filter((id) => !exact.includes(id)))
      return { word, exact, variants, weight, ...(phraseGap !== undefined && { phraseGap }) }
    })
  }

  /** Completions of the last word of a query, if no document has that word; undefined otherwise. */
  complete(query: string): Completion | undefined {
    const beginning = this.#findUnfinished(query).at(-1)
    if (beginning === undefined) return undefined
    return { beginning, terms: this.#findCompletions(beginning).map((id) => this.#vocabulary.term(id)) }
  }

  #findRelated(word: string): number[] {
    return this.#matchesVariants ? this.#stems.find(word) : []
  }

  /** Words at the very end of a query that no document has, but that begin other terms: an identifier, and then its last part. */
  #findUnfinished(query: string): string[] {
    const last = new Set<string>()
    this.#analyzer.visitTokens(query, (source, start, end, at) => {
      if (at + end - start === query.length) last.add(source.slice(start, end))
    })
    return parseQuery(query, this.#analyzer)
      .filter(({ word, forms }) => last.has(word) && this.#isUnknown(word, forms))
      .map(({ word }) => word)
      .filter((word) => this.#findCompletions(word).length > 0)
  }

  #isUnknown(word: string, forms: readonly string[]): boolean {
    return forms.every((form) => this.#vocabulary.find(form) < 0) && this.#findRelated(word).length === 0
  }

  /** The most frequent terms that begin with a word. */
  #findCompletions(beginning: string): number[] {
    if (beginning.length < MIN_PREFIX_CHARS) return []
    const postings = this.#postings()
    const countOf = (id: number) =>
      postings.reduce((sum, { offsets }) => sum + (offsets[id + 1] ?? 0) - (offsets[id] ?? 0), 0)
    return this.#vocabulary
      .findByPrefix(beginning)
      .map((id) => ({ id, term: this.#vocabulary.term(id), count: countOf(id) }))
      .filter(({ term, count }) => count > 0 && !this.#analyzer.isStopWord(term))
      .sort((a, b) => b.count - a.count || this.#analyzer.compare(a.term, b.term))
      .slice(0, MAX_COMPLETIONS)
      .map(({ id }) => id)
  }

  /** Sorts terms, because their numbers depend on the order of adding. */
  #sortTerms(ids: readonly number[]): number[] {
    if (ids.length < 2) return [...ids]
    const termEntries = ids.map((id) => ({ id, term: this.#vocabulary.term(id) }))
    return termEntries.sort((a, b) => this.#analyzer.compare(a.term, b.term)).map(({ id }) => id)
  }
}
