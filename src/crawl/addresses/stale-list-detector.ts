/** Consecutive missing addresses of a list after which a sample of the whole list is requested; doubled after each sample. */
const SUSPICIOUS_MISS_COUNT = 50
/** Size of a sample. */
const SAMPLE_SIZE = 200
/** Further missing addresses after which a list is set aside: the whole sample, plus visits in progress when it was taken. */
const STALE_MISS_COUNT = SAMPLE_SIZE + 50

interface ListStats {
  /** Missing addresses since the last existing one. */
  misses: number
  /** Number of misses that triggers the next sample. */
  suspiciousAt: number
  /** Number of misses that sets the list aside; undefined until a sample was taken. */
  staleAt: number | undefined
}

/**
 * Tracks which addresses of each list exist. After many consecutive missing ones, a sample from the whole list is requested next. If the
 * sample is missing too, the rest of the list is stale. Counts start again with each run of a crawl.
 */
export class StaleListDetector {
  readonly #stats = new Map<string, ListStats>()

  /** Records whether an address of a list exists. Returns the next step, if there is one. */
  note(list: string, isMissing: boolean): 'sample' | 'set-aside' | undefined {
    const stats = this.#stats.get(list) ?? { misses: 0, suspiciousAt: SUSPICIOUS_MISS_COUNT, staleAt: undefined }
    this.#stats.set(list, stats)
    stats.misses = isMissing ? stats.misses + 1 : 0
    if (!isMissing) stats.staleAt = undefined
    if (stats.staleAt === undefined) {
      if (stats.misses < stats.suspiciousAt) return undefined
      stats.suspiciousAt *= 2
      stats.staleAt = stats.misses + STALE_MISS_COUNT
      return 'sample'
    }
    if (stats.misses < stats.staleAt) return undefined
    this.#stats.delete(list)
    return 'set-aside'
  }
}

/** Whether an address that a list names exists. */
export type ListedAddressState = 'found' | 'missing'

/** Hosts on which listed addresses may exist: an address of the sample was found there, or none there has a result yet. */
export function listSparedHosts(
  sample: Iterable<readonly [host: string, answer: ListedAddressState | undefined]>,
): string[] {
  const answers = new Map<string, Set<ListedAddressState | undefined>>()
  for (const [host, answer] of sample) answers.set(host, (answers.get(host) ?? new Set()).add(answer))
  return [...answers].filter(([, states]) => states.has('found') || !states.has('missing')).map(([host]) => host)
}

/** Picks {@link SAMPLE_SIZE} items, or all if there are fewer, evenly from a sequence of unknown length. */
export class SpreadSample<T> {
  #picked: T[] = []
  #step = 1
  #count = 0

  add(item: T): void {
    if (this.#count++ % this.#step !== 0) return
    this.#picked.push(item)
    if (this.#picked.length < 2 * SAMPLE_SIZE) return
    this.#picked = this.#picked.filter((_, i) => i % 2 === 0)
    this.#step *= 2
  }

  get items(): readonly T[] {
    const { length } = this.#picked
    if (length <= SAMPLE_SIZE) return this.#picked
    return this.#picked.filter(
      (_, i) => Math.floor((i * SAMPLE_SIZE) / length) !== Math.floor(((i - 1) * SAMPLE_SIZE) / length),
    )
  }
}
