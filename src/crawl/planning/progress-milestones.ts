import type { CrawlEvent } from '../events.ts'

/** Number of pages two links from the start that the milestone `depth2-coverage` needs. */
const DEPTH_2_PAGES = 10

/** The counts that milestones depend on. */
export interface MilestoneCounts {
  /** Pages read two links from the start. */
  readonly secondLevel: number
  /** Responses with a body. */
  readonly downloads: number
  /** Pages that are articles. */
  readonly articles: number
}

/** Milestones that a crawl has reached, and its counts, from the store. */
export interface StoredMilestones {
  readonly kinds: readonly string[]
  readonly counts: MilestoneCounts
}

/** Stores the reached milestones, so that each is emitted once, however often a crawl is interrupted or repeated. */
export interface MilestoneStore {
  /** Milestones of this crawl, with its counts before an interruption and the downloads of earlier crawls. */
  read(isResumed: boolean): Promise<StoredMilestones>
  /** Stores a milestone. Returns whether the site had not reached it before. */
  write(kind: string): Promise<boolean>
}

const MILESTONES: readonly {
  readonly kind: string
  readonly countKey: keyof MilestoneCounts
  readonly minCount: number
  readonly what: string
}[] = [
  {
    kind: 'depth2-coverage',
    countKey: 'secondLevel',
    minCount: DEPTH_2_PAGES,
    what: 'pages two links away from the start were read',
  },
  { kind: 'downloads-1k', countKey: 'downloads', minCount: 1000, what: 'documents were downloaded' },
  { kind: 'articles-identified-1k', countKey: 'articles', minCount: 1000, what: 'pages turned out to be articles' },
  { kind: 'articles-identified-10k', countKey: 'articles', minCount: 10_000, what: 'pages turned out to be articles' },
]

const DETAIL_FIELDS: Readonly<Record<keyof MilestoneCounts, string>> = {
  secondLevel: 'pages',
  downloads: 'downloads',
  articles: 'articles',
}

type Milestone = Extract<CrawlEvent, { type: 'milestone' }>

/** Milestones of every crawl, with or without a planner. */
export class ProgressMilestones {
  readonly #target: string
  #counts: MilestoneCounts = { secondLevel: 0, downloads: 0, articles: 0 }
  #remaining = MILESTONES

  constructor(target: string) {
    this.#target = target
  }

  /** Whether the crawl can still reach a milestone. */
  get isOpen(): boolean {
    return this.#remaining.length > 0
  }

  /**
   * Continues from the counts of earlier runs or of all processes. The counts of this process may have grown meanwhile, so the larger
   * number of each wins.
   */
  resume({ kinds, counts }: StoredMilestones): void {
    const { secondLevel, downloads, articles } = this.#counts
    this.#counts = {
      secondLevel: Math.max(secondLevel, counts.secondLevel),
      downloads: Math.max(downloads, counts.downloads),
      articles: Math.max(articles, counts.articles),
    }
    this.#remaining = this.#remaining.filter(({ kind }) => !kinds.includes(kind))
  }

  /** Takes over the counts of all processes. Returns the newly reached milestones. */
  take(stored: StoredMilestones): Milestone[] {
    this.resume(stored)
    return this.#findReached()
  }

  /** Counts a visit. Returns the newly reached milestones. */
  note(visit: {
    readonly isPage: boolean
    readonly depth: number
    readonly bytes: number
    readonly isArticle: boolean
  }): Milestone[] {
    const { secondLevel, downloads, articles } = this.#counts
    this.#counts = {
      secondLevel: secondLevel + Number(visit.isPage && visit.depth === 2),
      downloads: downloads + Number(visit.bytes > 0),
      articles: articles + Number(visit.isPage && visit.isArticle),
    }
    return this.#findReached()
  }

  #findReached(): Milestone[] {
    const reached = this.#remaining.filter(({ countKey, minCount }) => this.#counts[countKey] >= minCount)
    if (reached.length === 0) return []
    this.#remaining = this.#remaining.filter((milestone) => !reached.includes(milestone))
    return reached.map(({ kind, countKey, minCount, what }) => ({
      type: 'milestone',
      kind,
      target: this.#target,
      message: `${minCount} ${what}`,
      details: { [DETAIL_FIELDS[countKey]]: minCount },
    }))
  }
}
