/** Addresses of one list that are missing in a row before a sample of the whole list is requested; twice as many after each sample. */
const SUSPICIOUS = 50
/** Addresses of a sample. */
const SAMPLE = 200
/** Further missing addresses that set a list aside: the sample is among them, whatever else was under way when it was taken. */
const STALE = SAMPLE + 50

interface Trial {
  /** Missing addresses since the last one that was there. */
  misses: number
  /** Misses that call for the next sample. */
  suspiciousAt: number
  /** Misses that set the list aside; undefined until a sample was taken. */
  staleAt: number | undefined
}

/**
 * Watches which addresses of each list are there. After many missing ones in a row, a sample from all over the list is to be requested
 * next; where the sample is missing as well, the rest of the list is stale. Counts begin anew with each run of a crawl.
 */
export class ListTrials {
  readonly #trials = new Map<string, Trial>()

  /** Takes note of an address of a list that answered. Tells what has to be done next, if anything. */
  note(list: string, isMissing: boolean): 'sample' | 'set-aside' | undefined {
    const trial = this.#trials.get(list) ?? { misses: 0, suspiciousAt: SUSPICIOUS, staleAt: undefined }
    this.#trials.set(list, trial)
    trial.misses = isMissing ? trial.misses + 1 : 0
    if (!isMissing) trial.staleAt = undefined
    if (trial.staleAt === undefined) {
      if (trial.misses < trial.suspiciousAt) return undefined
      trial.suspiciousAt *= 2
      trial.staleAt = trial.misses + STALE
      return 'sample'
    }
    if (trial.misses < trial.staleAt) return undefined
    this.#trials.delete(list)
    return 'set-aside'
  }
}

/** Picks items from all over a sequence of unknown length: {@link SAMPLE} of them, or all. */
export class SpreadSample<T> {
  #picked: T[] = []
  #step = 1
  #count = 0

  add(item: T): void {
    if (this.#count++ % this.#step !== 0) return
    this.#picked.push(item)
    if (this.#picked.length < 2 * SAMPLE) return
    this.#picked = this.#picked.filter((_, i) => i % 2 === 0)
    this.#step *= 2
  }

  get items(): readonly T[] {
    const { length } = this.#picked
    if (length <= SAMPLE) return this.#picked
    return this.#picked.filter((_, i) => Math.floor((i * SAMPLE) / length) !== Math.floor(((i - 1) * SAMPLE) / length))
  }
}
