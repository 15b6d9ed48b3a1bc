import type { Command } from 'commander'
import type { Library } from '../../library/library.ts'
import type { HubCoverage } from '../../library/ports/findings.ts'
import type { JobRecord } from '../../library/ports/job-log.ts'
import { isTree } from '../../library/ports/tree.ts'
import type { Source } from '../../library/source.ts'
import { describeSource, type SourceDescription } from '../../library/sources/describe-source.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { listIncompleteCopies, writeIncompleteCopies } from '../incomplete-copies.ts'
import { addLibraryOptions, createHint, createHintFor, withLibrary, writeEmptyLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { type Streams, Terminal } from '../terminal.ts'
import { statusRecord, writeRemedies, writeSourceLines, writeStatus } from '../text/status-text.ts'
import {
  type SharedWork,
  workerRecord,
  writeJobLines,
  writeWaitingLines,
  writeWorkerLines,
} from '../text/worker-text.ts'

/** Number of addresses listed, without and with `--verbose`. */
const MAX_LISTED = { plain: 10, verbose: 100 } as const

interface StatusFlags extends CommonFlags {
  readonly all?: boolean
}

/** `pharos status [source]` */
export function addStatus(program: Command, streams: Streams): void {
  const command = program
    .command('status')
    .description('show the progress of a crawl, or the result of the last one')
    .argument('[source]', 'name, name@version, id or start URL of the source (default: all sources)')
    .option('--all', 'list every address that failed or was left out')
    .addHelpText('after', '\nExamples:\n  $ pharos status guide --all\n  $ pharos status --json')
  addLibraryOptions(command).action(async (text: string | undefined, flags: StatusFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    await withLibrary(config, async (library) => {
      const sources = text === undefined ? await library.store.listSources() : [await findSource(library, text)]
      const defaultLimit = terminal.isVerbose ? MAX_LISTED.verbose : MAX_LISTED.plain
      const limit = flags.all === true ? Number.MAX_SAFE_INTEGER : defaultLimit
      const reports = []
      for (const source of sources) reports.push(await describeSource(library, source, limit))
      const jobs = await readJobs(library)
      const shared = text === undefined ? await readSharedWork(library, jobs) : undefined
      const incompleteCopies = await listIncompleteCopies(library)
      const hint = createHint(config)
      for (const line of writeIncompleteCopies(incompleteCopies, config)) terminal.note(line)
      if (reports.length === 0 && incompleteCopies.length === 0)
        terminal.note(writeEmptyLibrary(library.store.location, hint))
      if (reports.length === 0 && shared === undefined && !terminal.isJson) return
      const now = library.clock.now()
      const isList = text === undefined && flags.all !== true
      const lines = isList ? writeSourceLines(reports, now) : []
      const coverageBySource = new Map<string, HubCoverage | null>()
      for (const { source } of isList && !terminal.isJson ? [] : reports)
        coverageBySource.set(source.id, await readCoverage(library, source))
      const coverageOf = ({ source }: SourceDescription) => coverageBySource.get(source.id) ?? null
      for (const report of isList ? [] : reports) {
        lines.push(writeStatus(report, await createHintFor(config, report.source), now, coverageOf(report)))
        lines.push(...writeJobLines(jobs, report))
      }
      if (shared !== undefined) lines.push(...writeWorkerLines(shared.workers), ...writeWaitingLines(shared, hint))
      terminal.answer(lines.join('\n').replace(/^\n/, ''), {
        library: library.store.location,
        sources: reports.map((report) => statusRecord(report, now, coverageOf(report))),
        ...(text === undefined
          ? { workers: (shared?.workers ?? []).map(workerRecord), waiting: shared?.waiting.length ?? 0 }
          : {}),
        unfinished_copies: incompleteCopies,
      })
      for (const report of isList ? reports : []) {
        for (const line of writeRemedies(report, await createHintFor(config, report.source))) terminal.note(line)
      }
    })
  })
}

/** Jobs that ended longer ago are not read, so that only recent failures are shown. */
const JOB_HISTORY_MS = 86_400_000

/** The jobs of a shared library, including recently ended ones; empty for a library file. */
async function readJobs({ workers }: Pick<Library, 'workers'>): Promise<readonly JobRecord[]> {
  return ((await workers?.listJobs(JOB_HISTORY_MS)) ?? []).map(({ record }) => record)
}

/** The workers and queued jobs of a shared library; undefined for a library file. */
async function readSharedWork(
  { workers }: Pick<Library, 'workers'>,
  jobs: readonly JobRecord[],
): Promise<SharedWork | undefined> {
  if (workers === undefined) return undefined
  return { workers: await workers.list(), waiting: jobs.filter(({ status }) => status === 'queued') }
}

/** How well the hubs of a site cover its places; null if no plan has examined the site. */
async function readCoverage({ findings }: Pick<Library, 'findings'>, source: Source): Promise<HubCoverage | null> {
  return isTree(source) ? null : ((await findings?.readCoverage(new URL(source.siteUrl).host)) ?? null)
}
