import type { CrawlEvent } from './events.ts'

/** Pages two links away from the start that show that it has been looked at beyond its surface. */
const DEPTH_2_PAGES = 10

/** How far a crawl is, as far as milestones are about it. */
export interface MilestoneCounts {
  /** Pages two links away from the start that were read. */
  readonly secondLevel: number
  /** Answers with a body. */
  readonly downloads: number
  /** Pages that are articles. */
  readonly articles: number
}

/** What an interrupted crawl had come to. */
export interface ReachedBefore {
  readonly kinds: readonly string[]
  readonly counts: MilestoneCounts
}

/** Keeps which milestones a crawl has reached, so that each is told once, however often it is interrupted. */
export interface MilestoneMemory {
  read(): Promise<ReachedBefore>
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

/** Milestones that every crawl can reach, whether it has a plan or not. */
export class ProgressMilestones {
  readonly #target: string
  #counts: MilestoneCounts = { secondLevel: 0, downloads: 0, articles: 0 }
  #left = MILESTONES

  constructor(target: string) {
    this.#target = target
  }

  /** Whether something can still be reached. */
  get isOpen(): boolean {
    return this.#left.length > 0
  }

  /** Goes on from what an interrupted run of the crawl, or all processes, had come to. More may have been reached while that was read. */
  resume({ kinds, counts }: ReachedBefore): void {
    const { secondLevel, downloads, articles } = this.#counts
    this.#counts = {
      secondLevel: Math.max(secondLevel, counts.secondLevel),
      downloads: Math.max(downloads, counts.downloads),
      articles: Math.max(articles, counts.articles),
    }
    this.#left = this.#left.filter(({ kind }) => !kinds.includes(kind))
  }

  /** Takes what all processes have come to. Answers the milestones that were reached by it. */
  take(reached: ReachedBefore): Milestone[] {
    this.resume(reached)
    return this.#findReached()
  }

  /** Counts a visit. Answers the milestones that were reached by it. */
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
