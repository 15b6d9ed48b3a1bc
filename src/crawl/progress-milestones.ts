import type { CrawlEvent } from './events.ts'

/** Pages two links from the start after which the site counts as explored beyond its surface. */
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

/** Stores the reached milestones of a crawl, so that each is emitted once, however often the crawl is interrupted. */
export interface MilestoneStore {
  read(): Promise<StoredMilestones>
  write(kind: string): Promise<void>
}

const MILESTONES: readonly {
  readonly kind: string
  readonly counts: keyof MilestoneCounts
  readonly least: number
  readonly what: string
}[] = [
  {
    kind: 'depth2-coverage',
    counts: 'secondLevel',
    least: DEPTH_2_PAGES,
    what: 'pages two links away from the start were read',
  },
  { kind: 'downloads-1k', counts: 'downloads', least: 1000, what: 'documents were downloaded' },
  { kind: 'articles-identified-1k', counts: 'articles', least: 1000, what: 'pages turned out to be articles' },
  { kind: 'articles-identified-10k', counts: 'articles', least: 10_000, what: 'pages turned out to be articles' },
]

const FIELDS: Readonly<Record<keyof MilestoneCounts, string>> = {
  secondLevel: 'pages',
  downloads: 'downloads',
  articles: 'articles',
}

type Milestone = Extract<CrawlEvent, { type: 'milestone' }>

/** Milestones of every crawl, with or without a planner. */
export class ProgressMilestones {
  readonly #target: string
  #counts: MilestoneCounts = { secondLevel: 0, downloads: 0, articles: 0 }
  #left = MILESTONES

  constructor(target: string) {
    this.#target = target
  }

  /** Whether a milestone is left to reach. */
  get isOpen(): boolean {
    return this.#left.length > 0
  }

  /**
   * Continues from the counts of an interrupted run or of all processes. The own counts may have grown while they were read, so the larger
   * ones win.
   */
  resume({ kinds, counts }: StoredMilestones): void {
    const { secondLevel, downloads, articles } = this.#counts
    this.#counts = {
      secondLevel: Math.max(secondLevel, counts.secondLevel),
      downloads: Math.max(downloads, counts.downloads),
      articles: Math.max(articles, counts.articles),
    }
    this.#left = this.#left.filter(({ kind }) => !kinds.includes(kind))
  }

  /** Takes over the counts of all processes. Returns the newly reached milestones. */
  take(reached: StoredMilestones): Milestone[] {
    this.resume(reached)
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
    const reached = this.#left.filter(({ counts, least }) => this.#counts[counts] >= least)
    if (reached.length === 0) return []
    this.#left = this.#left.filter((milestone) => !reached.includes(milestone))
    return reached.map(({ kind, counts, least, what }) => ({
      type: 'milestone',
      kind,
      target: this.#target,
      message: `${least} ${what}`,
      details: { [FIELDS[counts]]: least },
    }))
  }
}
