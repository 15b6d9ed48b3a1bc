import { DECIDING_FILES } from '../core/folder/walk-tree.ts'
import { baseName } from '../core/text/path.ts'

/** Stands for anything anywhere in a folder. */
export const EVERYTHING = ''

/** How changes are gathered. */
export interface GatherLimits {
  /** A path is ready when nothing happened to it for so many milliseconds. */
  readonly quietMs: number
  /** When one is ready, those are waited for that are ready so many later: what belongs together is settled together. */
  readonly togetherMs: number
  /** One that something happens to all the time is ready after so many. */
  readonly mostMs: number
  /** So many paths, or so many times that something happened, stand for everything: systems stop telling when they have too much to tell. */
  readonly mostPaths: number
  readonly mostEvents: number
}

/** What holds unless somebody says otherwise. */
export const GATHER_LIMITS: GatherLimits = {
  quietMs: 1000,
  togetherMs: 250,
  mostMs: 30_000,
  mostPaths: 1000,
  mostEvents: 8000,
}

/** Gathers what happens to the paths of a folder until each has come to rest. */
export class ChangeGatherer {
  readonly #limits: GatherLimits
  readonly #changes = new Map<string, { readonly first: number; last: number }>()
  #events = 0

  constructor(limits: GatherLimits = GATHER_LIMITS) {
    this.#limits = limits
  }

  /** Something happened to a path. What decides about other files concerns all of them. */
  note(path: string, now: number): void {
    const { mostPaths, mostEvents } = this.#limits
    this.#events++
    const isDeciding = path === EVERYTHING || DECIDING_FILES.includes(baseName(path))
    const isTooMuch = this.#changes.size >= mostPaths || this.#events >= mostEvents
    if (isDeciding || isTooMuch || this.#changes.has(EVERYTHING)) this.#widen(now)
    else this.#put(path, now)
  }

  /** When there will be something to take; null without any. */
  nextAt(): number | null {
    let next: number | null = null
    for (const change of this.#changes.values()) next = Math.min(next ?? Infinity, this.#readyAt(change))
    return next === null ? null : next + this.#limits.togetherMs
  }

  /** Takes those that are ready, together. */
  take(now: number): string[] {
    if ((this.nextAt() ?? Infinity) > now) return []
    const ready = [...this.#changes].filter(([, change]) => this.#readyAt(change) <= now).map(([path]) => path)
    for (const path of ready) this.#changes.delete(path)
    if (this.#changes.size === 0) this.#events = 0
    return ready
  }

  #readyAt({ first, last }: { readonly first: number; readonly last: number }): number {
    return Math.min(last + this.#limits.quietMs, first + this.#limits.mostMs)
  }

  /** One entry for all, which is as old as the oldest of them. */
  #widen(now: number): void {
    const first = Math.min(now, ...[...this.#changes.values()].map((change) => change.first))
    this.#changes.clear()
    this.#changes.set(EVERYTHING, { first, last: now })
  }

  #put(path: string, now: number): void {
    const known = this.#changes.get(path)
    if (known === undefined) this.#changes.set(path, { first: now, last: now })
    else known.last = now
  }
}
