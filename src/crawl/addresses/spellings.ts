import { hostOf } from '../../core/url/key.ts'
import { compareKeyPreference } from '../../core/url/key-preference.ts'
import { foldKey, listDifferences } from '../../core/url/spelling.ts'

/** Number of equal pairs after which a difference counts as meaningless on a host. */
const MIN_EQUAL_PAIRS = 10
/** Limit of remembered folds. If folds are forgotten, the crawl sends more requests, but misses no page. */
const MAX_FOLDS = 100_000

/** Addresses with the same `foldKey`. */
interface Fold {
  /** The preferred key among the addresses that were offered. */
  best: string
  /** The first address of the fold that was read. */
  read: { readonly key: string; readonly contentHash: string } | undefined
}

/** The key that stands for an address, and the differences between the key and the address. */
export interface Spelling {
  readonly target: string
  readonly pattern: string
}

/**
 * Learns within one run which differences between addresses mean nothing on a host: a slash at the end, an index file, `?ref=`,
 * `?sort=`. The crawl fetches every address as it is linked until ten pairs had equal content and no pair had different
 * content. From then on it fetches only the preferred one of two linked addresses.
 */
export class Spellings {
  readonly #folds = new Map<string, Fold>()
  /** Count of equal pairs by host and difference; -Infinity once a pair had different content. */
  readonly #pairs = new Map<string, number>()
  #hasLearned = false

  /** Records an address that the crawl is going to fetch. */
  offer(key: string): void {
    const fold = this.#open(key)
    if (compareKeyPreference(key, fold.best) < 0) fold.best = key
  }

  /** Records the content of an address. */
  note(key: string, contentHash: string): void {
    const fold = this.#open(key)
    const other = fold.read
    if (other === undefined || other.key === key) {
      fold.read = { key, contentHash }
      return
    }
    for (const difference of listDifferences(key, other.key)) {
      const name = pairName(key, difference)
      const pairs = other.contentHash === contentHash ? (this.#pairs.get(name) ?? 0) + 1 : Number.NEGATIVE_INFINITY
      this.#pairs.set(name, pairs)
      this.#hasLearned ||= pairs >= MIN_EQUAL_PAIRS
    }
  }

  /** Finds the key that stands for an address; undefined if the address has to be fetched. */
  find(key: string): Spelling | undefined {
    if (!this.#hasLearned) return undefined
    const target = this.#folds.get(foldKey(key))?.best
    if (target === undefined || compareKeyPreference(target, key) >= 0) return undefined
    const differences = listDifferences(key, target)
    const isMeaningless = differences.every(
      (difference) => (this.#pairs.get(pairName(key, difference)) ?? 0) >= MIN_EQUAL_PAIRS,
    )
    return isMeaningless ? { target, pattern: differences.join(', ') } : undefined
  }

  #open(key: string): Fold {
    const name = foldKey(key)
    const known = this.#folds.get(name)
    if (known !== undefined) return known
    if (this.#folds.size >= MAX_FOLDS) this.#folds.clear()
    const fold: Fold = { best: key, read: undefined }
    this.#folds.set(name, fold)
    return fold
  }
}

function pairName(key: string, difference: string): string {
  return `${hostOf(key)} ${difference}`
}
