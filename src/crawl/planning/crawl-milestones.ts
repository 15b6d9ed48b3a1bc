import type { EventQueue } from '../event-queue.ts'
import type { CrawlEvent } from '../events.ts'
import type { Sharing } from '../sharing.ts'
import { type MilestoneStore, ProgressMilestones } from './progress-milestones.ts'

/** Milestones are recounted after this many visits by other processes, and again each time that number grows by the factor below. */
const FIRST_RECOUNT = 10
const RECOUNT_FACTOR = 4

/** Options of {@link CrawlMilestones}. */
export interface CrawlMilestonesOptions {
  readonly startUrl: string
  /** Whether another process started the crawl: a joined process sees only a part of it, so it emits no milestones. */
  readonly isJoined: boolean
  /** Absent if the library keeps no milestones; then none are emitted. */
  readonly store: MilestoneStore | undefined
  readonly sharing: Sharing
  readonly events: EventQueue<CrawlEvent>
}

/** Emits the milestones of a crawl. Each is stored before it is emitted: missing one is better than a duplicate. */
export class CrawlMilestones {
  readonly #options: CrawlMilestonesOptions
  readonly #progress: ProgressMilestones
  /** Number of visits by other processes at which milestones are recounted. */
  #recountAt = FIRST_RECOUNT

  constructor(options: CrawlMilestonesOptions) {
    this.#options = options
    this.#progress = new ProgressMilestones(options.startUrl)
  }

  /** Whether this process can still emit a milestone. */
  get isOpen(): boolean {
    const { isJoined, store } = this.#options
    return !isJoined && store !== undefined && this.#progress.isOpen
  }

  /** Continues from what earlier runs reached. */
  async begin(isResumed: boolean): Promise<void> {
    const reached = this.isOpen ? await this.#options.store?.read(isResumed) : undefined
    if (reached !== undefined) this.#progress.resume(reached)
  }

  /** Emits the milestones that a visit has reached. */
  async note(visit: Parameters<ProgressMilestones['note']>[0]): Promise<void> {
    if (!this.isOpen) return
    await this.#emit(this.#progress.note(visit))
    const { visited } = await this.#options.sharing.readJoinedCounts()
    if (visited >= this.#recountAt) await this.#recount(visited)
  }

  /** Emits the milestones that all processes have reached together. */
  async emitShared(): Promise<void> {
    await this.#recount((await this.#options.sharing.readJoinedCounts(true)).visited)
  }

  /** Counts milestones from the ledger, because visits of other processes are not reported to this one. */
  async #recount(visited: number): Promise<void> {
    const { store } = this.#options
    if (visited === 0 || store === undefined || !this.#progress.isOpen) return
    // Set before the first await, so that only one of several concurrent visits recounts.
    this.#recountAt = Math.max(this.#recountAt, visited) * RECOUNT_FACTOR
    await this.#emit(this.#progress.take(await store.read(true)))
  }

  async #emit(reached: readonly Extract<CrawlEvent, { type: 'milestone' }>[]): Promise<void> {
    for (const event of reached) {
      if (await this.#options.store?.write(event.kind)) this.#options.events.push(event)
    }
  }
}
