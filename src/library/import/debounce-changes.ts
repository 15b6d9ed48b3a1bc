import { WALK_RULE_FILES } from '../../core/folder/walk-tree.ts'
import { baseName } from '../../core/text/path.ts'

/** Path of a change anywhere in the folder. */
export const ANY_PATH = ''

/** Limits of a {@link ChangeDebouncer}. */
export interface DebounceLimits {
  /** A path is ready after this many milliseconds without events. */
  readonly quietMs: number
  /** When a path is ready, paths that become ready within this time are taken with it, because they often belong together. */
  readonly batchWindowMs: number
  /** A path with continuous events is ready after this many milliseconds. */
  readonly maxWaitMs: number
  /** From this many waiting paths or events on, every event counts as a change of everything: operating systems drop events under load. */
  readonly maxPaths: number
  readonly maxEvents: number
}

/** Default limits. */
export const DEBOUNCE_LIMITS: DebounceLimits = {
  quietMs: 1000,
  batchWindowMs: 250,
  maxWaitMs: 30_000,
  maxPaths: 1000,
  maxEvents: 8000,
}

/** Debounces changes of the paths in a folder. */
export class ChangeDebouncer {
  readonly #limits: DebounceLimits
  readonly #changes = new Map<string, { readonly first: number; last: number }>()
  #events = 0

  constructor(limits: DebounceLimits = DEBOUNCE_LIMITS) {
    this.#limits = limits
  }

  /** Records an event. A change of an ignore file or pack manifest counts as a change of everything, because it affects other files. */
  note(path: string, now: number): void {
    const { maxPaths, maxEvents } = this.#limits
    this.#events++
    const affectsOthers = path === ANY_PATH || WALK_RULE_FILES.includes(baseName(path))
    const isOverLimit = this.#changes.size >= maxPaths || this.#events >= maxEvents
    if (affectsOthers || isOverLimit || this.#changes.has(ANY_PATH)) this.#widen(now)
    else this.#put(path, now)
  }

  /** Time from which `take` returns paths; null if no path has changed. */
  nextAt(): number | null {
    let next: number | null = null
    for (const change of this.#changes.values()) next = Math.min(next ?? Infinity, this.#readyAt(change))
    return next === null ? null : next + this.#limits.batchWindowMs
  }

  /** Takes the paths that are ready. */
  take(now: number): string[] {
    if ((this.nextAt() ?? Infinity) > now) return []
    const ready = [...this.#changes].filter(([, change]) => this.#readyAt(change) <= now).map(([path]) => path)
    for (const path of ready) this.#changes.delete(path)
    if (this.#changes.size === 0) this.#events = 0
    return ready
  }

  #readyAt({ first, last }: { readonly first: number; readonly last: number }): number {
    return Math.min(last + this.#limits.quietMs, first + this.#limits.maxWaitMs)
  }

  /** Replaces all entries by one for everything, with the oldest start time. */
  #widen(now: number): void {
    const first = Math.min(now, ...[...this.#changes.values()].map((change) => change.first))
    this.#changes.clear()
    this.#changes.set(ANY_PATH, { first, last: now })
  }

  #put(path: string, now: number): void {
    const known = this.#changes.get(path)
    if (known === undefined) this.#changes.set(path, { first: now, last: now })
    else known.last = now
  }
}
