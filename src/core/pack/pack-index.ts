import { SearchIndex } from '../search/search-index.ts'
import { type Steps, sortInSteps } from '../search/steps.ts'
import { textAnalyzer } from '../text/analyzer.ts'
import { compareUtf8 } from '../text/order.ts'
import { findDefinition } from './definition.ts'
import type { Pack } from './pack.ts'

/** The indexed fields of a chunk, each with the weight of a match. */
export const FIELDS = { title: 2, heading: 2, symbol: 2, path: 1, body: 1 } as const

/** Chunks indexed in one step. */
const CHUNKS_PER_STEP = 4

/** Chunks that get their rank in one step. */
const RANKED_PER_STEP = 1024

/**
 * The index of a pack: built once, on first use, for searches and for `index.json` alike. Chunks are stored under their ids, which gives
 * the order of `index.json`; searches order equal scores by ref.
 */
export class PackIndex {
  readonly #building: Steps<SearchIndex>
  #index: SearchIndex | undefined

  constructor(pack: Pack) {
    this.#building = buildIndex(pack)
  }

  /** Builds the index for searches or for listing its terms, in steps. An interrupted build resumes at the next call. */
  *prepare(use: 'search' | 'terms'): Steps<SearchIndex> {
    // A `yield*` or a `for` loop would end the build when a caller stops early, and it could not resume; so this calls `next`.
    while (this.#index === undefined) {
      const step = this.#building.next()
      if (step.done) this.#index = step.value
      else yield
    }
    yield* use === 'search' ? this.#index.prepareSearch() : this.#index.prepareTerms()
    return this.#index
  }
}

function* buildIndex(pack: Pack): Steps<SearchIndex> {
  const ranks = yield* rankByRef(pack)
  const paths = new Map<string, string>()
  const index = new SearchIndex({
    fields: FIELDS,
    analyzer: textAnalyzer,
    rankOf: (id) => ranks.get(id) ?? 0,
    pageOf: (id) => paths.get(id) ?? '',
  })
  const titles = findTitles(pack)
  for (const [i, chunk] of pack.chunks.entries()) {
    paths.set(chunk.id, chunk.path)
    index.add(chunk.id, {
      title: titles.get(chunk.path) ?? '',
      heading: [...chunk.headingPath, findDefinition(chunk)?.text ?? ''],
      symbol: chunk.symbol ?? '',
      path: chunk.path,
      body: chunk.content,
    })
    if (i % CHUNKS_PER_STEP === 0) yield
  }
  return index
}

/** The rank of each chunk, by its id, in the order of refs. */
function* rankByRef({ chunks, refs }: Pack): Steps<ReadonlyMap<string, number>> {
  const positions = yield* sortInSteps([...chunks.keys()], (a, b) => compareUtf8(refs[a] ?? '', refs[b] ?? ''))
  const ranks = new Map<string, number>()
  for (const position of positions) {
    ranks.set(chunks[position]?.id ?? '', ranks.size)
    if (ranks.size % RANKED_PER_STEP === 0) yield
  }
  return ranks
}

/** The titles of files: the first line of a web page, which is its `<title>`; elsewhere the first outermost heading. */
export function findTitles(pack: Pack): Map<string, string> {
  const titles = new Map<string, string>()
  for (const { path, kind, headingPath, content } of pack.chunks) {
    const title = kind === 'html' ? content.slice(0, 400).split('\n', 1)[0] : headingPath[0]
    if (title !== undefined && kind !== 'json' && !titles.has(path)) titles.set(path, title)
  }
  return titles
}
