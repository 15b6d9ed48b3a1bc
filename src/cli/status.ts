import type { Command } from 'commander'
import { isFolder } from '../library/folder.ts'
import type { Library } from '../library/library.ts'
import { describeSource, type SourceDescription } from '../library/operations/describe-source.ts'
import { findSource } from '../library/operations/find-source.ts'
import type { HubCoverage } from '../library/place-hubs.ts'
import type { Source } from '../library/source.ts'
import type { WorkerRecord } from '../library/workers.ts'
import { addLibraryOptions, createHint, createHintFor, withLibrary, writeEmpty } from './library.ts'
import { type CommonFlags, configOf } from './options.ts'
import { statusRecord, writeSourceLines, writeStatus } from './status-text.ts'
import { type Streams, Terminal } from './terminal.ts'
import { workerRecord, writeWorkerLines } from './worker-text.ts'

/** Addresses that are listed; with `--verbose` more. */
const LISTED = { plain: 10, verbose: 100 } as const

interface StatusFlags extends CommonFlags {
  readonly all?: boolean
}

/** `pharos status [source]` */
export function addStatus(program: Command, streams: Streams): void {
  const command = program
    .command('status')
    .description('tell how far a crawl is, or what the last one came to')
    .argument('[source]', 'its name, name@version, id or start URL; without it all of them')
    .option('--all', 'list every address that failed or was left out')
    .addHelpText('after', '\nExamples:\n  $ pharos status guide --all\n  $ pharos status --json')
  addLibraryOptions(command).action(async (text: string | undefined, flags: StatusFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    await withLibrary(config, async (library) => {
      const sources = text === undefined ? await library.store.listSources() : [await findSource(library, text)]
      const some = terminal.isVerbose ? LISTED.verbose : LISTED.plain
      const limit = flags.all === true ? Number.MAX_SAFE_INTEGER : some
      const reports = []
      for (const source of sources) reports.push(await describeSource(library, source, limit))
      const workers = text === undefined ? await readWorkers(library) : []
      if (reports.length === 0) terminal.note(writeEmpty(library.store.location, createHint(config)))
      if (reports.length === 0 && workers.length === 0 && !terminal.isJson) return
      const now = library.clock.now()
      const isList = text === undefined && flags.all !== true
      const lines = isList ? writeSourceLines(reports, now) : []
      const understood = new Map<string, HubCoverage | null>()
      for (const { source } of isList && !terminal.isJson ? [] : reports)
        understood.set(source.id, await readUnderstanding(library, source))
      const coverageOf = ({ source }: SourceDescription) => understood.get(source.id) ?? null
      for (const one of isList ? [] : reports) {
        lines.push(writeStatus(one, await createHintFor(config, one.source), now, coverageOf(one)))
      }
      terminal.answer([...lines, ...writeWorkerLines(workers)].join('\n'), {
        library: library.store.location,
        sources: reports.map((one) => statusRecord(one, now, coverageOf(one))),
        ...(text === undefined ? { workers: workers.map(workerRecord) } : {}),
      })
    })
  })
}

/** Those who share the work of a library; none where it is a file. */
async function readWorkers({ workers }: Library): Promise<readonly WorkerRecord[]> {
  return (await workers?.list()) ?? []
}

/** How well a site is understood; null where no plan has ever looked at it. */
async function readUnderstanding({ planMemory, placeHubs }: Library, source: Source): Promise<HubCoverage | null> {
  if (isFolder(source) || planMemory === undefined || placeHubs === undefined) return null
  const { host } = new URL(source.siteUrl)
  return (await planMemory.readPatterns(host)).length === 0 ? null : placeHubs.coverage(host)
}
