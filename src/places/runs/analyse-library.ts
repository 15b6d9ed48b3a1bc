import { CLASSIFIER_VERSION } from '../../core/classify/classify-page.ts'
import { messageOf, PharosError } from '../../core/errors.ts'
import { listSourcesAt } from '../../library/crawl/split-milestones.ts'
import type { NoteFrame } from '../../library/jobs/events/frames.ts'
import { ANALYSIS_JOB_ID, type StoredNote } from '../../library/ports/job-log.ts'
import { analysePage } from '../analysis/analyse-page.ts'
import { EMPTY_MATCHER, type PlaceMatcher } from '../analysis/matcher.ts'
import type { AnalysedPage, AnalysePage } from '../analysis/page-analysis.ts'
import {
  type Analyses,
  type AnalysisRun,
  type AnalysisVersions,
  type PageToAnalyse,
  RUN_STAGES,
  type RunChange,
  type RunEvent,
  type RunHolder,
  type RunOptions,
  type RunProgress,
  type RunStage,
} from '../ports/analyses.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'
import { addBatch } from './add-batch.ts'
import { beginRun, NO_PROGRESS, requireAnalyses } from './begin-run.ts'
import { HostLocales } from './host-locales.ts'
import { judgeDomain } from './judge-domain.ts'
import { listReached } from './reached-milestones.ts'

/** Input of an analysis run. */
export interface AnalyseInput {
  /**
   * Missing options have the defaults of {@link RunOptions}. An interrupted run is resumed if no options are given or they equal its own.
   */
  readonly options?: Partial<RunOptions>
  /** Id of a run that was recorded for this process to execute. */
  readonly runId?: string
  /** Leaves an aborted run open for the next process instead of cancelling it. @default false */
  readonly isLeftOpen?: boolean
  /** Number of pages per batch. @default 100 */
  readonly batch?: number
  /** @default {@link analysePage} */
  readonly analyse?: AnalysePage
}

/** Events of a run. */
export type AnalysisEvent =
  /** The run has started or resumed. */
  | { readonly type: 'started'; readonly run: AnalysisRun; readonly isResumed: boolean }
  | ({ readonly type: 'stage' } & Pick<RunEvent, 'stage' | 'message' | 'details'>)
  | { readonly type: 'progress'; readonly stage: RunStage; readonly progress: RunProgress }
  | { readonly type: 'milestone'; readonly note: NoteFrame }
  | { readonly type: 'ended'; readonly run: AnalysisRun }

const BATCH_SIZE = 100
/** An interrupted run that began longer ago restarts at the first page, because other processes may have added pages. */
const RESTART_AFTER_MS = 3_600_000
/** Maximum number of failed pages listed per run. */
const MAX_LISTED_FAILURES = 100

/**
 * Analyses stored pages not yet analysed with this version and gazetteer, then hosts, then milestones. Every batch saves the progress in
 * its own transaction, so a killed run resumes there with the same result. Throws `ANALYSIS_RUNNING` while another run is active.
 */
export async function* analyseLibrary(
  library: PlacesLibrary,
  input: AnalyseInput = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<AnalysisEvent, void> {
  const { run, isResumed } = await beginRun(library, input, library.runner.id)
  const active = new ActiveRun(library, run, input, signal)
  try {
    yield { type: 'started', run, isResumed }
    yield* active.runStages()
    yield { type: 'ended', run: await active.end({ status: 'completed', summary: active.summary }) }
  } catch (error) {
    if (signal.aborted && input.isLeftOpen !== true) {
      yield { type: 'ended', run: await active.end({ status: 'cancelled' }) }
    } else if (!signal.aborted && !active.isLost) {
      yield { type: 'ended', run: await active.end({ status: 'failed', error: messageOf(error) }) }
      throw error
    } else if (active.isLost) throw error
  } finally {
    await active.leave()
  }
}

class ActiveRun {
  readonly #library: PlacesLibrary
  readonly #analyses: Analyses
  readonly #holder: RunHolder
  readonly #options: RunOptions
  readonly #signal: AbortSignal
  readonly #batch: number
  readonly #analyse: AnalysePage
  #run: AnalysisRun
  #places: PlaceMatcher = EMPTY_MATCHER
  readonly #locales: HostLocales
  #listedFailureCount = 0
  #isOver = false
  /** Set when another process has taken the run over. */
  isLost = false

  constructor(
    library: PlacesLibrary,
    run: AnalysisRun,
    { batch = BATCH_SIZE, analyse = analysePage }: AnalyseInput,
    signal: AbortSignal,
  ) {
    this.#library = library
    this.#analyses = requireAnalyses(library)
    this.#locales = new HostLocales(this.#analyses, run.options.dryRun)
    this.#holder = { id: run.id, runner: run.runner }
    this.#options = run.options
    this.#signal = signal
    this.#batch = batch
    this.#analyse = analyse
    this.#run = run
  }

  get #progress(): RunProgress {
    return this.#run.progress
  }

  /** Summary to store. */
  get summary(): Readonly<Record<string, unknown>> {
    const { lastPage, totalPages, gazetteerRevision, ...counts } = this.#progress
    const { analysisVersion, dryRun } = this.#options
    return { analysisVersion, gazetteerRevision, dryRun, ...counts }
  }

  /** Executes all stages, starting with the interrupted one. */
  async *runStages(): AsyncGenerator<AnalysisEvent, void> {
    this.#places = await openPlaces(this.#library)
    await this.#restartIfOutdated()
    const stages = [
      ['db-setup', this.#setUp],
      ['pages', this.#analysePages],
      ['domains', this.#analyseDomains],
      ['milestones', this.#noteMilestones],
    ] as const
    const first = RUN_STAGES.indexOf(this.#run.stage)
    for (const [stage, work] of stages) {
      if (RUN_STAGES.indexOf(stage) < first) continue
      await this.#change({ stage })
      yield* work.call(this)
    }
    await this.#change({ stage: 'done' })
    const words = this.#options.dryRun ? 'the dry run is done: nothing was stored' : 'the run is done'
    yield await this.#tell(words, this.summary)
  }

  /**
   * Restarts an interrupted run at the first page if other pages may be pending: after a change of the gazetteer, or after an hour.
   * Finished pages are not pending; pages analysed again count again. A dry run stored nothing, so its counts start over.
   */
  async #restartIfOutdated(): Promise<void> {
    const { stage, startedAt } = this.#run
    const isOld = this.#library.clock.now() - startedAt > RESTART_AFTER_MS
    if (stage === 'db-setup' || (this.#progress.gazetteerRevision === this.#places.revision && !isOld)) return
    const done = this.#options.dryRun ? NO_PROGRESS : this.#progress
    await this.#change({ stage: 'db-setup', progress: { ...done, lastPage: 0 } })
  }

  async *#setUp(): AsyncGenerator<AnalysisEvent, void> {
    yield await this.#tell('counting the pages to analyse')
    const { analysisVersion, skipPages } = this.#options
    const { revision } = this.#places
    await this.#settleLocales()
    const pending = skipPages ? 0 : await this.#analyses.countPending(this.#versions)
    const totalPages = this.#limitPages(this.#progress.pages + pending)
    await this.#change({ progress: { ...this.#progress, totalPages, gazetteerRevision: revision } })
    const words = revision === '' ? 'there is no gazetteer, so no places will be found' : 'the gazetteer is available'
    yield await this.#tell(`${totalPages - this.#progress.pages} pages to analyse; ${words}`, {
      pending,
      totalPages,
      analysisVersion,
      gazetteerRevision: revision,
    })
  }

  #limitPages(count: number): number {
    return Math.min(count, this.#options.pageLimit ?? Number.POSITIVE_INFINITY)
  }

  /** Recounts pages once the expected number is done, because a crawl may have added more. */
  async #withTotal(progress: RunProgress): Promise<RunProgress> {
    const { pages, totalPages, lastPage } = progress
    if (pages < totalPages) return progress
    const remaining = await this.#analyses.countPending(this.#versions, lastPage)
    return { ...progress, totalPages: Math.max(pages, this.#limitPages(pages + remaining)) }
  }

  /** Versions of everything that an analysis depends on; a page with an analysis of other versions is pending. */
  get #versions(): AnalysisVersions {
    const { analysisVersion: version } = this.#options
    return { version, revision: this.#places.revision, classifierVersion: CLASSIFIER_VERSION }
  }

  /** Determines the countries of hosts before their pages are analysed, so that all pages use the same country. */
  async #settleLocales(): Promise<void> {
    if (this.#options.skipPages || this.#options.dryRun) return
    for (const [i, host] of (await this.#analyses.listHosts(null)).entries()) {
      await this.#locales.settle(host)
      // Sends a heartbeat after every batch and yields to other work, because there may be many hosts.
      if (i % BATCH_SIZE === BATCH_SIZE - 1) await this.#change({})
      await this.#library.clock.sleep(0, this.#signal)
    }
  }

  async *#analysePages(): AsyncGenerator<AnalysisEvent, void> {
    if (this.#options.skipPages) {
      yield await this.#tell('pages are skipped as requested')
      return
    }
    yield await this.#tell('pages: beginning', { after: this.#progress.lastPage })
    for (let pages = await this.#nextPages(); pages.length > 0; pages = await this.#nextPages()) {
      yield* this.#analyseBatch(pages)
      // Yields between batches so that other work can run.
      await this.#library.clock.sleep(0, this.#signal)
    }
    // Pages removed meanwhile do not count as missing.
    await this.#change({ progress: { ...this.#progress, totalPages: this.#progress.pages } })
    const { pages, articles, navs, others, places, hubs, failed } = this.#progress
    yield await this.#tell(`pages: ${pages} done`, { pages, articles, navs, others, places, hubs, failed })
  }

  async #nextPages(): Promise<readonly PageToAnalyse[]> {
    this.#signal.throwIfAborted()
    const { pageLimit } = this.#options
    const limit = Math.min(this.#batch, (pageLimit ?? Number.POSITIVE_INFINITY) - this.#progress.pages)
    if (limit <= 0) return []
    return this.#analyses.listPending({ ...this.#versions, after: this.#progress.lastPage, limit })
  }

  async *#analyseBatch(pages: readonly PageToAnalyse[]): AsyncGenerator<AnalysisEvent, void> {
    const done: { readonly page: PageToAnalyse; readonly analysed: AnalysedPage }[] = []
    const failures: { readonly page: PageToAnalyse; readonly problem: string }[] = []
    for (const page of pages) {
      const hostCountry = await this.#locales.countryOf(page.host)
      try {
        const context = hostCountry === null ? {} : { hostCountry }
        done.push({ page, analysed: this.#analyse(page.page, this.#places, context) })
      } catch (error) {
        // An unexpected failure of one page must not stop the run; the next run retries the page.
        failures.push({ page, problem: messageOf(error) })
      }
    }
    const hubs = await this.#countHubs(done)
    const progress = await this.#withTotal(addBatch(this.#progress, { pages, done, hubs, failed: failures.length }))
    await this.#keep(progress, this.#options.dryRun ? [] : done)
    for (const { page, problem } of failures) {
      if (this.#listedFailureCount++ < MAX_LISTED_FAILURES) {
        yield await this.#tell('a page could not be analysed', { url: page.page.url, problem })
      }
    }
    if (this.#options.verbose) yield await this.#tell(`pages: ${progress.pages} of ${progress.totalPages}`)
    yield { type: 'progress', stage: 'pages', progress }
  }

  /** Counts hubs by their first pages. A later page of a hub counts only if the hub is not stored yet. */
  async #countHubs(
    done: readonly { readonly page: PageToAnalyse; readonly analysed: AnalysedPage }[],
  ): Promise<number> {
    const firstPages = new Set<string>()
    const laterPages = new Set<string>()
    for (const { page, analysed } of done) {
      if (analysed.hub !== null) (analysed.hub.url === page.page.url ? firstPages : laterPages).add(analysed.hub.url)
    }
    let hubs = firstPages.size
    for (const url of laterPages) {
      if (!firstPages.has(url) && (await this.#library.placeHubs?.find(url)) === undefined) hubs++
    }
    return hubs
  }

  async *#analyseDomains(): AsyncGenerator<AnalysisEvent, void> {
    const { skipDomains, domainLimit, dryRun, verbose } = this.#options
    if (skipDomains) {
      yield await this.#tell('hosts are skipped as requested')
      return
    }
    yield await this.#tell('hosts: beginning')
    // A resumed run repeats this stage from the start, because it is fast and deterministic.
    let progress = { ...this.#progress, domains: 0, news: 0 }
    for (const host of await this.#analyses.listHosts(domainLimit)) {
      this.#signal.throwIfAborted()
      const figures = await this.#analyses.measureDomain(host, this.#library.clock.now())
      const domain = judgeDomain(figures, await this.#locales.countryOf(host))
      if (!dryRun) await this.#analyses.writeDomain(domain)
      progress = { ...progress, domains: progress.domains + 1, news: progress.news + Number(domain.isNews) }
      await this.#keep(progress, [])
      if (verbose || dryRun)
        yield await this.#tell(`${host} ${domain.isNews ? 'looks' : 'does not look'} like news`, { ...domain })
      yield { type: 'progress', stage: 'domains', progress }
      await this.#library.clock.sleep(0, this.#signal)
    }
    const { domains, news } = progress
    yield await this.#tell(`hosts: ${domains} done`, { domains, news })
  }

  async *#noteMilestones(): AsyncGenerator<AnalysisEvent, void> {
    const { dryRun } = this.#options
    const { jobLog, clock } = this.#library
    yield await this.#tell('milestones: beginning')
    let milestones = 0
    for (const note of listReached(await this.#analyses.listAchievements(), this.#holder.id)) {
      const recorded = await this.#findRecorded(note)
      // Also counts milestones that this run recorded before its interruption.
      if (recorded !== undefined && recorded.details?.['runId'] !== this.#holder.id) continue
      milestones++
      if (recorded !== undefined) continue
      if (!dryRun) await jobLog?.append([{ jobId: ANALYSIS_JOB_ID, at: clock.now(), type: 'milestone', data: note }])
      yield { type: 'milestone', note }
      yield await this.#tell(`${note.scope}: ${note.kind}${dryRun ? ' would be recorded' : ''}`, note.details)
    }
    await this.#keep({ ...this.#progress, milestones }, [])
    yield await this.#tell(`milestones: ${milestones} ${dryRun ? 'would be recorded' : 'recorded'}`)
  }

  /** Finds a recorded milestone, ignoring one from before the site was removed and added again. */
  async #findRecorded({ kind, scope }: NoteFrame): Promise<StoredNote | undefined> {
    const { jobLog, store } = this.#library
    const host = scope ?? ''
    const [newest] = (await jobLog?.listMilestones({ kind, scope: host, limit: 1 })) ?? []
    const since = (await listSourcesAt(store, host)).map(({ createdAt }) => createdAt)
    const isCurrent = newest !== undefined && (since.length === 0 || newest.at >= Math.min(...since))
    return isCurrent ? newest : undefined
  }

  /** Stores pages and progress in one transaction. */
  async #keep(progress: RunProgress, pages: Parameters<Analyses['write']>[1]): Promise<void> {
    const now = this.#library.clock.now()
    const { revision } = this.#places
    if (!(await this.#analyses.write(this.#holder, pages, progress, { revision, now }))) this.#lose()
    this.#run = { ...this.#run, progress, heartbeatAt: now }
  }

  async #change(change: RunChange): Promise<void> {
    this.#signal.throwIfAborted()
    const changed = { ...change, heartbeatAt: this.#library.clock.now() }
    if (!(await this.#analyses.changeRun(this.#holder, changed))) this.#lose()
    this.#run = { ...this.#run, ...changed }
  }

  #lose(): never {
    this.isLost = true
    throw new PharosError('ANALYSIS_RUNNING', { run: this.#holder.id })
  }

  /** Stores an event and returns it. */
  async #tell(message: string, details: RunEvent['details'] = null): Promise<AnalysisEvent> {
    const { id: runId } = this.#holder
    const { stage } = this.#run
    await this.#analyses.addEvent({ runId, at: this.#library.clock.now(), stage, message, details })
    return { type: 'stage', stage, message, details }
  }

  async end(change: RunChange): Promise<AnalysisRun> {
    const now = this.#library.clock.now()
    const ended = { ...change, endedAt: now, heartbeatAt: now }
    this.#isOver = true
    // If this write fails, the run still ends, because its heartbeat becomes stale.
    await this.#analyses.changeRun(this.#holder, ended).catch(() => false)
    this.#run = { ...this.#run, ...ended }
    return this.#run
  }

  /** Leaves an unfinished run to the next process. */
  async leave(): Promise<void> {
    if (this.#isOver || this.isLost) return
    this.#isOver = true
    await this.#analyses.changeRun(this.#holder, { runner: null, heartbeatAt: 0 }).catch(() => false)
  }
}

/** Opens the place matcher. Throws if the name index is unreadable, because a run without it would delete all places found before. */
async function openPlaces({ openPlaces: open, gazetteer }: PlacesLibrary): Promise<PlaceMatcher> {
  const places = (await open?.()) ?? EMPTY_MATCHER
  if (places.revision === '' && ((await gazetteer?.revision()) ?? '') !== '')
    throw new PharosError('GAZETTEER_UNREADABLE')
  return places
}
