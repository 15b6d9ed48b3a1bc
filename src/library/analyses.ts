import type { AnalysedPage, PageAnalysis } from '../analysis/page-analysis.ts'
import type { Classification, Page, PageClass } from '../core/model.ts'

/** How a run over what is stored can stand. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const

/** One of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number]

/** What a run goes through, in this order. */
export const RUN_STAGES = ['db-setup', 'pages', 'domains', 'milestones', 'done'] as const

/** One of {@link RUN_STAGES}. */
export type RunStage = (typeof RUN_STAGES)[number]

/** What is asked of a run. */
export interface RunOptions {
  /** Pages that were analysed by this version, and by the gazetteer of today, are left alone. @default that of this program */
  readonly analysisVersion: number
  /** Most pages and hosts. @default all */
  readonly pageLimit: number | null
  readonly domainLimit: number | null
  readonly skipPages: boolean
  readonly skipDomains: boolean
  /** Writes nothing but the run itself. */
  readonly dryRun: boolean
  readonly verbose: boolean
}

/** How far a run is: kept with every batch that it writes, so that one that was killed goes on from there. */
export interface RunProgress {
  readonly pages: number
  readonly totalPages: number
  readonly articles: number
  readonly navs: number
  readonly others: number
  readonly places: number
  readonly hubs: number
  /** Pages that could not be analysed. */
  readonly failed: number
  readonly domains: number
  /** Of these, those that look like news. */
  readonly news: number
  readonly milestones: number
  /** Id of the last page that was looked at. */
  readonly lastPage: number
  /** The gazetteer that places are looked for by: with another one, all pages are to be looked at again. */
  readonly gazetteerRevision: string
}

/** A run as it is kept. */
export interface AnalysisRun {
  /** UUID. */
  readonly id: string
  readonly status: RunStatus
  readonly stage: RunStage
  readonly startedAt: number
  readonly endedAt: number | null
  /** Of the process that runs it. */
  readonly heartbeatAt: number
  readonly runner: string | null
  readonly options: RunOptions
  readonly progress: RunProgress
  readonly summary: Readonly<Record<string, unknown>> | null
  readonly error: string | null
}

/** Something that happened in a run. */
export interface RunEvent {
  readonly id: number
  readonly runId: string
  readonly at: number
  readonly stage: RunStage
  readonly message: string
  readonly details: Readonly<Record<string, unknown>> | null
}

/** What may change of a run. */
export type RunChange = Partial<Omit<AnalysisRun, 'id' | 'startedAt' | 'options'>>

/** Who works on a run: as long as nobody has taken it over, what they write counts. */
export interface RunHolder {
  readonly id: string
  readonly runner: string | null
}

/** How a run is begun. */
export interface RunBegin {
  /** As it is kept where none is taken up. */
  readonly run: AnalysisRun
  /** Whether a run that is not over has been left by whoever worked on it. */
  readonly isLeft: (run: AnalysisRun) => boolean
  /** Whether one that was left or cancelled is what is wanted, so that it is taken up instead. */
  readonly isWanted: (run: AnalysisRun) => boolean
}

/** A page that is to be analysed. */
export interface PageToAnalyse {
  /** Grows in the order in which addresses were found. */
  readonly id: number
  readonly sourceId: string
  readonly key: string
  readonly host: string
  /** When it was last confirmed: who finds another time there knows that it may have changed since. */
  readonly checkedAt: number | null
  readonly page: Page
}

/** What pages are to be analysed by: those that were not, or by something older, are pending. */
export interface PendingBy {
  readonly version: number
  /** Of the gazetteer. */
  readonly revision: string
  /** Of the rules that tell articles from hubs. */
  readonly classifierVersion: number
}

/** What is kept of an analysis. */
export interface KeptAnalysis {
  readonly classification: Classification
  /** Null while nobody has looked closer. */
  readonly analysis: PageAnalysis | null
  readonly analysedAt: number | null
}

/** The country that a host is of, as far as that is known. */
export interface HostLocale {
  /** ISO 3166-1 alpha-2. */
  readonly countryCode: string | null
  /** From 0 to 1. */
  readonly confidence: number
}

/** On how many pages of a host the title names places of a country. */
export interface CountryMentions {
  readonly countryCode: string
  readonly pages: number
}

/** What the pages of a host come to. */
export type DomainFigures = Omit<DomainAnalysis, 'score' | 'isNews' | 'countryCode'>

/** What is known of a host from its pages. */
export interface DomainAnalysis {
  readonly host: string
  readonly pages: number
  readonly articles: number
  readonly sections: number
  /** Share of articles with a date in their address or page. */
  readonly datedRatio: number
  readonly score: number
  readonly isNews: boolean
  /** Addresses whose last answer, within so many minutes, was 429. */
  readonly rateLimited15: number
  readonly rateLimited60: number
  /** The country of its name, or else the one that its titles name by far the most; ISO 3166-1 alpha-2. */
  readonly countryCode: string | null
  /** Languages of its pages, those of most pages first. */
  readonly languages: readonly string[]
  readonly analysedAt: number
}

/** What a host has come to, for milestones. */
export interface HostAchievements {
  readonly host: string
  /** Answers between 200 and 399. */
  readonly downloads: number
  /** Pages at a depth of two. */
  readonly depth2: number
  /** Pages that were classified as such. */
  readonly articles: number
}

/**
 * What is found out about pages after they were stored, and the runs that do so. The classification of a page is written when it is
 * settled and stays until the page changes or newer rules look at it; there is one for each page, whoever wrote it.
 */
export interface Analyses {
  /**
   * Pages with larger ids that have no analysis of this version, gazetteer and classifier, in the order of ids: none when there are no
   * more, fewer than the limit where they are large. What a newer version has analysed is left alone.
   */
  listPending(of: PendingBy & { readonly after: number; readonly limit: number }): Promise<readonly PageToAnalyse[]>
  /** Counts pages that are pending, only those with larger ids than `after`. */
  countPending(by: PendingBy, after?: number): Promise<number>
  /**
   * Keeps analyses of pages, their places and hubs, and how far the run is, in one transaction. What changed meanwhile is left out.
   * False, and nothing is kept, when somebody else has taken the run over.
   */
  write(
    holder: RunHolder,
    pages: readonly { readonly page: PageToAnalyse; readonly analysed: AnalysedPage }[],
    progress: RunProgress,
    of: { readonly revision: string; readonly now: number },
  ): Promise<boolean>
  read(sourceId: string, key: string): Promise<KeptAnalysis | undefined>
  /** The class of a page alone; undefined where nobody has looked. */
  readClass(sourceId: string, key: string): Promise<PageClass | undefined>
  /** Hosts with pages, in their order. */
  listHosts(limit: number | null): Promise<readonly string[]>
  /** What its pages and answers tell of a host. */
  measureDomain(host: string, now: number): Promise<DomainFigures>
  writeDomain(domain: DomainAnalysis): Promise<void>
  /** Countries of the places in titles of a host, those of most pages first. */
  listTitleCountries(host: string): Promise<readonly CountryMentions[]>
  readLocale(host: string): Promise<HostLocale | undefined>
  writeLocale(host: string, locale: HostLocale): Promise<void>
  readDomain(host: string): Promise<DomainAnalysis | undefined>
  /** What hosts have come to, for milestones. */
  listAchievements(): Promise<readonly HostAchievements[]>

  /**
   * Begins a run, or takes up the newest one where that was left or cancelled and is wanted; others that were left are cancelled.
   * Refused with `ANALYSIS_RUNNING` while somebody works on one: there is one at a time.
   */
  beginRun(begin: RunBegin): Promise<AnalysisRun>
  /** Changes a run; false when somebody else has taken it over. */
  changeRun(holder: RunHolder, change: RunChange): Promise<boolean>
  findRun(id: string): Promise<AnalysisRun | undefined>
  /** Newest first. */
  listRuns(page: {
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly total: number; readonly items: readonly AnalysisRun[] }>
  addEvent(event: Omit<RunEvent, 'id'>): Promise<void>
  /** Newest first. */
  listEvents(runId: string, limit: number): Promise<readonly RunEvent[]>
}
