import { createAssets, createLazyAssets, pageFolder } from '../../src/cli/serve/assets.ts'
import type { HttpPorts } from '../../src/http/ports.ts'
import { compareVersions } from '../../src/library/changes/compare-versions.ts'
import { addSource } from '../../src/library/crawl/add-source.ts'
import type { Dispatcher } from '../../src/library/jobs/dispatcher.ts'
import { createFeed } from '../../src/library/jobs/events/create-feed.ts'
import type { QueueFrame } from '../../src/library/jobs/events/frames.ts'
import { LocalDispatcher } from '../../src/library/jobs/local-dispatcher.ts'
import type { Library } from '../../src/library/library.ts'
import type { JobLog, JobNote, JobRecord } from '../../src/library/ports/job-log.ts'
import { listDuplicates } from '../../src/library/search/list-duplicates.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { AnalysisProcessRunner } from '../../src/places/index.ts'
import { createSpawnRunner } from '../../src/processes/spawn-crawl.ts'
import { runCrawl, UNPACED } from '../sites/crawl.ts'
import { type Answer, openSite, type Site } from '../sites/site.ts'

/** A library filled by a real crawl, with a job history and everything a server needs. */
export interface PageFixture {
  readonly ports: HttpPorts
  readonly dispatcher: Dispatcher
  readonly library: OpenLibrary
  readonly log: JobLog
  /** Warnings that the server logged. */
  readonly warnings: readonly string[]
  /** The site that was crawled, and its address. */
  readonly site: Site
  readonly origin: string
  /** Makes the library fail from now on, or work again. */
  setStoreBroken(isBroken: boolean): void
  close(): Promise<void>
}

/** The input of a page fixture. */
export interface PageFixtureInput {
  readonly pages: Readonly<Record<string, Answer>>
  readonly block?: readonly string[]
  readonly jobs?: readonly JobRecord[]
  readonly notes?: readonly JobNote[]
  readonly token?: string
}

/** Opens a page fixture. */
export async function openPageFixture(input: PageFixtureInput): Promise<PageFixture> {
  const site = await openSite(input.pages)
  const library = await openLibrary({
    path: ':memory:',
    version: '0.0.0',
    allowPrivate: ['127.0.0.0/8'],
    limits: UNPACED,
  })
  const source = await addSource(library, {
    url: `${site.origin}/`,
    name: 'guide',
    version: '2.0',
    scope: { block: input.block ?? [] },
    settings: { crawlType: 'basic' },
  })
  await runCrawl(library, source, { kind: 'add' }, site.origin)
  const log = jobLogOf(library)
  for (const job of input.jobs ?? []) await log.add(job)
  await log.append(input.notes ?? [])
  const warnings: string[] = []
  let isBroken = false
  const unlessBroken = async <T>(value: T): Promise<T> => {
    if (!isBroken) return value
    // The error of the database when its file is missing.
    throw Object.assign(new Error('disk I/O error at /secret/place'), { code: 'SQLITE_IOERR' })
  }
  const dispatcher = new LocalDispatcher({
    runner: createSpawnRunner({ command: process.execPath, args: ['--version'] }),
    jobLog: async () => log,
    feed: createFeed({ epoch: 'test', clock: library.clock }),
    clock: library.clock,
    newId: library.newId,
    libraryPath: ':memory:',
    maxJobs: 1,
    maxRequests: 4,
  })
  const analysis = new AnalysisProcessRunner({
    runner: createSpawnRunner({ command: process.execPath, args: ['--version'] }),
    library: async () => library,
    feed: dispatcher.feed,
    clock: library.clock,
    libraryPath: ':memory:',
  })
  const ports: HttpPorts = {
    version: '0.0.0',
    library: () => unlessBroken<Library>(library),
    waitForCheck: async () => undefined,
    search: (input, signal) => searchLibrary(library, input, signal),
    listDuplicates: (input, signal) => listDuplicates(library, input, signal),
    compareVersions: (input, signal) => compareVersions(library, input, signal),
    jobLog: () => unlessBroken(log),
    dispatcher,
    analysis,
    mcp: async () => new Response(null, { status: 404 }),
    readAsset: createAssets(pageFolder('dashboard')),
    readLocal: createLazyAssets(pageFolder('local')),
    system: {
      read: async () => ({
        dbSizeBytes: null,
        freeDiskBytes: null,
        memory: { rss: 0, heapUsed: 0, heapTotal: 0 },
        cpu: { percent: 0, percentOfOneCore: 0 },
        journalMode: null,
        walAutocheckpoint: null,
      }),
    },
    packs: {
      begin: () => Promise.reject(new Error('this fixture writes no packs')),
      list: () => [],
      find: () => undefined,
      read: async () => undefined,
    },
    log: { info: () => undefined, warn: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`) },
    settings: {
      hosts: [],
      allowedOrigins: [],
      token: input.token ?? null,
      defaultStartUrl: null,
      libraryPath: ':memory:',
      traceStart: false,
    },
  }
  return {
    ports,
    dispatcher,
    library,
    log,
    warnings,
    site,
    origin: site.origin,
    setStoreBroken: (broken) => {
      isBroken = broken
    },
    async close() {
      await analysis.close()
      await dispatcher.close()
      await library.close()
      await site.close()
    },
  }
}

function jobLogOf(library: Library): JobLog {
  if (library.jobLog === undefined) throw new Error('this library keeps no history of jobs')
  return library.jobLog
}

/** A completed job, with the given fields replaced. */
export function jobOf(id: string, given: Partial<JobRecord> = {}): JobRecord {
  return {
    id,
    url: 'https://docs.example/',
    args: ['https://docs.example/', '--depth=2'],
    process: { pid: 4242, began: null },
    status: 'done',
    createdAt: MOMENT,
    startedAt: MOMENT,
    endedAt: MOMENT + 60_000,
    crawlId: null,
    sourceId: null,
    restarts: 0,
    progress: null,
    problem: null,
    code: null,
    signal: null,
    ...given,
  }
}

/** 2026-02-20T10:30:00Z */
export const MOMENT: number = Date.UTC(2026, 1, 20, 10, 30)

/** An event of the queue of a job. */
export function queueNote(jobId: string, at: number, url: string, given: Partial<QueueFrame> = {}): JobNote {
  const data = { depth: 1, host: null, reason: null, queueSize: 3, alias: null, ...given }
  return { jobId, at, type: 'queue', data: { action: 'enqueued', url, ...data } }
}
