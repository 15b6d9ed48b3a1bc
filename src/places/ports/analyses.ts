import type { Page } from '../../core/model.ts'
import type { DomainAnalysis, StoredAnalysis } from '../../library/ports/findings.ts'
import type { AnalysedPage } from '../analysis/page-analysis.ts'

/** Statuses of an analysis run. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const

/** One of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number]

/** Stages of a run, in order. */
export const RUN_STAGES = ['db-setup', 'pages', 'domains', 'milestones', 'done'] as const

/** One of {@link RUN_STAGES}. */
export type RunStage = (typeof RUN_STAGES)[number]

/** Options of an analysis run. */
export interface RunOptions {
  /** Skips pages already analysed with this version and the current gazetteer. @default that of this program */
  readonly analysisVersion: number
  /** Maximum number of pages, and of hosts. @default all */
  readonly pageLimit: number | null
  readonly domainLimit: number | null
  readonly skipPages: boolean
  readonly skipDomains: boolean
  /** Writes only the run record. */
  readonly dryRun: boolean
  readonly verbose: boolean
}

/** Progress of a run. Every batch saves it in its own transaction, so that a killed run resumes from there. */
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
  /** Number of analysed hosts that look like news sites. */
  readonly news: number
  readonly milestones: number
  /** Id of the last page the run has processed. */
  readonly lastPage: number
  /** Revision of the gazetteer in use; a different revision means every page must be analysed again. */
  readonly gazetteerRevision: string
}

/** An analysis run as stored. */
export interface AnalysisRun {
  /** UUID. */
  readonly id: string
  readonly status: RunStatus
  readonly stage: RunStage
  readonly startedAt: number
  readonly endedAt: number | null
  /** Heartbeat and name of the process that executes the run. */
  readonly heartbeatAt: number
  readonly runner: string | null
  readonly options: RunOptions
  readonly progress: RunProgress
  readonly summary: Readonly<Record<string, unknown>> | null
  readonly error: string | null
}

/** A log entry of a run. */
export interface RunEvent {
  readonly id: number
  readonly runId: string
  readonly at: number
  readonly stage: RunStage
  readonly message: string
  readonly details: Readonly<Record<string, unknown>> | null
}

/** Fields of a run that may change. */
export type RunChange = Partial<Omit<AnalysisRun, 'id' | 'startedAt' | 'options'>>

/** The process that owns a run; its writes count only until another process takes the run over. */
export interface RunHolder {
  readonly id: string
  readonly runner: string | null
}

/** Input of `beginRun`. */
export interface RunRequest {
  /** Record to store when no earlier run is resumed. */
  readonly run: AnalysisRun
  /** Returns true when the process of an unfinished run has ended. */
  readonly isAbandoned: (run: AnalysisRun) => boolean
  /** Returns true when an abandoned or cancelled run fits the request, so that it is resumed. */
  readonly canResume: (run: AnalysisRun) => boolean
}

/** A page due for analysis. */
export interface PageToAnalyse {
  /** Ids grow in the order in which addresses were found. */
  readonly id: number
  readonly sourceId: string
  readonly key: string
  readonly host: string
  /** Time of the last check; a different value at write time means the page may have changed. */
  readonly checkedAt: number | null
  readonly page: Page
}

/** Versions to analyse with: a page without an analysis, or with an older one, is pending. */
export interface AnalysisVersions {
  readonly version: number
  /** Revision of the gazetteer. */
  readonly revision: string
  /** Version of the rules that separate articles from hubs. */
  readonly classifierVersion: number
}

/** Country of a host, if known. */
export interface HostLocale {
  /** ISO 3166-1 alpha-2. */
  readonly countryCode: string | null
  /** From 0 to 1. */
  readonly confidence: number
}

/** Number of pages of a host whose titles name places in a country. */
export interface CountryMentions {
  readonly countryCode: string
  readonly pages: number
}

/** Figures counted from the pages of a host. */
export type DomainFigures = Omit<DomainAnalysis, 'score' | 'isNews' | 'countryCode'>

/** Figures of a host that milestones are checked against. */
export interface HostAchievements {
  readonly host: string
  /** Responses with a status from 200 to 399. */
  readonly downloads: number
  /** Pages at a depth of two. */
  readonly depth2: number
  /** Pages classified as articles. */
  readonly articles: number
}

/**
 * Analyses of stored pages, and the runs that make them. A page has exactly one classification, written when the page is settled; it stays
 * until the page changes or newer rules classify it again.
 */
export interface Analyses {
  /**
   * Lists pages with ids above `after` that lack an analysis of this version, gazetteer and classifier, sorted by id. An empty list means
   * none are left; large pages make a batch smaller than `limit`. Pages analysed by a newer version are skipped.
   */
  listPending(
    query: AnalysisVersions & { readonly after: number; readonly limit: number },
  ): Promise<readonly PageToAnalyse[]>
  /** Counts pending pages, optionally only those with ids above `after`. */
  countPending(versions: AnalysisVersions, after?: number): Promise<number>
  /**
   * Writes analyses, places, hubs and the progress of the run in one transaction, skipping pages that changed meanwhile. Returns false and
   * writes nothing if another process has taken the run over.
   */
  write(
    holder: RunHolder,
    pages: readonly { readonly page: PageToAnalyse; readonly analysed: AnalysedPage }[],
    progress: RunProgress,
    context: { readonly revision: string; readonly now: number },
  ): Promise<boolean>
  read(sourceId: string, key: string): Promise<StoredAnalysis | undefined>
  /** Lists hosts with pages, sorted by name. */
  listHosts(limit: number | null): Promise<readonly string[]>
  /** Computes the figures of a host from its pages and responses. */
  measureDomain(host: string, now: number): Promise<DomainFigures>
  writeDomain(domain: DomainAnalysis): Promise<void>
  /** Lists countries of places named in the titles of a host, most pages first. */
  listTitleCountries(host: string): Promise<readonly CountryMentions[]>
  readLocale(host: string): Promise<HostLocale | undefined>
  writeLocale(host: string, locale: HostLocale): Promise<void>
  readDomain(host: string): Promise<DomainAnalysis | undefined>
  /** Lists the figures of all hosts that milestones are checked against. */
  listAchievements(): Promise<readonly HostAchievements[]>

  /**
   * Begins a run, or resumes the newest one if it was abandoned or cancelled and fits the request; other abandoned runs are cancelled.
   * Throws `ANALYSIS_RUNNING` while a process executes a run, because only one run may be active.
   */
  beginRun(request: RunRequest): Promise<AnalysisRun>
  /** Changes a run; returns false if another process has taken it over. */
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
