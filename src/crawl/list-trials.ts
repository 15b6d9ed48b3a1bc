/** Addresses of one list that fail in a row before a sample of the whole list is asked for. */
const SUSPICIOUS = 50
/** Addresses of a sample. */
const SAMPLE = 200
/** Failures in a row that set a list aside: the sample is among them, whatever else was under way when it was taken. */
const STALE = SUSPICIOUS + SAMPLE + 50

interface Trial {
  /** Addresses that failed since the last one that did not. */
  misses: number
  isSampled: boolean
  isStale: boolean
  /** Every `step`-th address of the list, from {@link SAMPLE} on up to twice as many. */
  sample: string[]
  step: number
  listed: number
}

/**
 * Watches what becomes of the addresses that each list names. Where many in a row fail, a sample of addresses from all over the list is
 * to be asked for next; where the sample fails as well, the rest of the list is stale.
 */
export class ListTrials {
  readonly #trials = new Map<string, Trial>()

  /** Takes note of an address that a list names. */
  add(list: string, url: string): void {
    const trial = this.#trialOf(list)
    if (trial.listed++ % trial.step !== 0) return
    trial.sample.push(url)
    if (trial.sample.length < 2 * SAMPLE) return
    trial.sample = trial.sample.filter((_, i) => i % 2 === 0)
    trial.step *= 2
  }

  /** Takes note of an address of a list that was asked for. Tells what has to be done next, if anything. */
  note(list: string, isMissing: boolean): 'sample' | 'set-aside' | undefined {
    const trial = this.#trialOf(list)
    if (!isMissing) {
      trial.misses = 0
      trial.isSampled = false
      return undefined
    }
    trial.misses++
    if (trial.misses >= SUSPICIOUS && !trial.isSampled) {
      trial.isSampled = true
      return 'sample'
    }
    if (trial.misses < STALE || trial.isStale) return undefined
    trial.isStale = true
    return 'set-aside'
  }

  isStale(list: string): boolean {
    return this.#trials.get(list)?.isStale === true
  }

  /** Addresses from all over a list, as far as it was read: {@link SAMPLE} of them, or all. */
  sampleOf(list: string): readonly string[] {
    const { sample } = this.#trialOf(list)
    if (sample.length <= SAMPLE) return sample
    const share = sample.length / SAMPLE
    return Array.from({ length: SAMPLE }, (_, i) => sample[Math.floor(i * share)] ?? '')
  }

  #trialOf(list: string): Trial {
    const known = this.#trials.get(list)
    if (known !== undefined) return known
    const trial: Trial = { misses: 0, isSampled: false, isStale: false, sample: [], step: 1, listed: 0 }
    this.#trials.set(list, trial)
    return trial
  }
}
