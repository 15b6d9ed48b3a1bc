import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { type EffectiveConfig, readConfig } from '../../config.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { CopyProgress } from '../../library/copy/copy-input.ts'
import { type CopyResult, copyLibrary } from '../../library/copy/copy-library.ts'
import { discardCopy } from '../../library/copy/open-copy-session.ts'
import type { CopyGroup } from '../../library/copy/table-columns.ts'
import type { OpenLibrary } from '../../open-library.ts'
import { AdvisedError } from '../advised-error.ts'
import { interruptibleAt } from '../interrupt.ts'
import { shownLibrary, withLibrary } from '../library.ts'
import { addCommonOptions, type CommonFlags, configOf, nonEmptyText } from '../options/options.ts'
import { countOf, printableLine, type Streams, shellWord, Terminal, writeNumber } from '../terminal.ts'
import { RateMeter, writeRate } from '../text/progress.ts'

interface CopyFlags extends CommonFlags {
  readonly add?: boolean
  readonly discard?: boolean
}

/** `pharos copy <from> [to]` */
export function addCopy(program: Command, streams: Streams): void {
  const command = program
    .command('copy')
    .description('copy a library to another one; each may be a file or a PostgreSQL database')
    .argument('<from>', 'the library to copy: its file, or the address of its database', nonEmptyText('<from>'))
    .argument('[to]', 'the library to copy to (default: the configured library)', nonEmptyText('<to>'))
    .option('--add', 'add the sources to a target that already has sources')
    .option('--discard', 'remove what an interrupted copy has written')
    .addHelpText(
      'after',
      `
Everything is copied: sources, addresses, pages, chunks, vectors, analysis
results, places, the job history and the request pacing of hosts.
Sources become visible when everything is copied and verified. To resume an
interrupted copy, run the same command again. To remove it, run the command
with --discard, which works even if <from> is gone.
Unfinished jobs do not continue in the copy: start those crawls again there.
The origin may be in use. A library of an older version is upgraded first, as
by any other command.

Examples:
  $ pharos copy library.db postgres://me@db.example/pharos
  $ pharos copy postgres://me@db.example/pharos backup.db
  $ pharos copy other.db --add`,
    )
  addCommonOptions(command).action((from: string, to: string | undefined, flags: CopyFlags) =>
    copy(command, { from, to }, flags, streams),
  )
}

interface CopyLocations {
  readonly from: string
  readonly to: string | undefined
}

async function copy(command: Command, locations: CopyLocations, flags: CopyFlags, streams: Streams): Promise<void> {
  const terminal = new Terminal(flags, streams)
  const configs = {
    from: configFor('<from>', locations.from, flags),
    to: locations.to === undefined ? configOf(command) : configFor('<to>', locations.to, flags),
  }
  if (flags.add === true && flags.discard === true) {
    throw usageError('--add and --discard cannot be given together')
  }
  if (flags.discard === true) return discard(configs, terminal)
  await requireOrigin(configs)
  try {
    await interruptibleAt(terminal, (signal) =>
      withLibrary(configs.from, (from) =>
        withLibrary(configs.to, (to) => copyInForeground({ from, to, flags, terminal, signal })),
      ),
    )
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'INTERRUPTED') throw error
    throw new AdvisedError(error, `nothing is lost; go on with: ${writeRepeatCommand(configs, flags)}`)
  }
}

/** Reads the configuration for a library that is given as an argument instead of `--library`. */
function configFor(name: string, library: string, { config: file }: CommonFlags): EffectiveConfig {
  try {
    return readConfig({ flags: { library }, file })
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'USAGE') throw error
    throw usageError(String(error.details['problem']).replace('--library', name))
  }
}

/** The command line that repeats this command. */
function writeRepeatCommand({ from, to }: Configs, { add, config }: CopyFlags): string {
  const options = [...(add === true ? ['--add'] : []), ...(config === undefined ? [] : ['--config', config])]
  const words = [...[from, to].map(({ values }) => shownLibrary(values)), ...options]
  return ['pharos', 'copy', ...words.map((word) => shellWord(printableLine(word)))].join(' ')
}

/** Whether a library exists. The check does not open it, because that would create a missing library. */
async function hasLibrary({ values }: EffectiveConfig): Promise<boolean> {
  if (!isPostgres(values.library)) return existsSync(values.library)
  const { openInspector } = await import('../../store/postgres/inspect.ts')
  const inspector = await openInspector(values.library)
  const { schemaVersion } = await inspector.inspect().finally(() => inspector.close())
  return schemaVersion > 0
}

async function requireOrigin({ from, to }: Configs): Promise<void> {
  if (await hasLibrary(from)) return
  const { library: path } = from.values
  if (!isPostgres(path)) throw new PharosError('INPUT_NOT_FOUND', { path })
  const [origin, target] = [shownLibrary(from.values), shownLibrary(to.values)]
  const problem = 'there is no library in it'
  throw new PharosError('COPY_REFUSED', { origin, target, problem, advice: 'correct the address, or its ?schema=' })
}

interface Configs {
  readonly from: EffectiveConfig
  readonly to: EffectiveConfig
}

interface CopyContext {
  readonly from: OpenLibrary
  readonly to: OpenLibrary
  readonly flags: CopyFlags
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

async function copyInForeground({ from, to, flags, terminal, signal }: CopyContext): Promise<void> {
  const began = performance.now()
  const rates = new Map<CopyProgress['step'], RateMeter>()
  const onProgress = (progress: CopyProgress): void => {
    const rate = rates.get(progress.step) ?? new RateMeter()
    rates.set(progress.step, rate)
    terminal.live(writeProgress(progress, rate.add(performance.now() - began, progress.done)))
  }
  const result = await copyLibrary({ from, to, add: flags.add === true, onProgress, signal })
  const locations = { from: from.store.location, to: to.store.location }
  const elapsedMs = Math.round(performance.now() - began)
  const { running, openJobs, skipped } = result
  if (running > 0)
    terminal.note(`${countOf(running, 'crawl')} not finished yet; resume with pharos recrawl in the copy`)
  if (openJobs > 0) {
    terminal.note(`${countOf(openJobs, 'job')} not finished yet and not continued in the copy; start again there`)
  }
  for (const { group, problem } of skipped) {
    if (problem !== null) terminal.notice(printableLine(`left out: ${GROUP_NAMES[group]}: ${problem}`))
  }
  terminal.answer(writeCopied(result, locations, elapsedMs), { ...locations, ...recordOf(result, elapsedMs, from) })
}

/** Discards an incomplete copy, even if the original library is gone or its server does not respond. */
async function discard({ from, to }: Configs, terminal: Terminal): Promise<void> {
  const [origin, target] = [shownLibrary(from.values), shownLibrary(to.values)]
  const originExists = await hasLibrary(from).catch(() => false)
  // A library that cannot be opened is identified by its location.
  const readId = () => withLibrary(from, ({ libraryCopy }) => libraryCopy.readLibraryId()).catch(() => undefined)
  const id = originExists ? await readId() : undefined
  const { isDiscarded, others } = (await hasLibrary(to))
    ? await withLibrary(to, (library) => discardCopy(library, { location: origin, id }))
    : { isDiscarded: false, others: [] }
  const lines = isDiscarded
    ? [`removed what was copied from ${origin} to ${target}`]
    : [`there is no interrupted copy of ${origin} to ${target}`, ...others.map((other) => `there is one of ${other}`)]
  terminal.answer(lines.map(printableLine).join('\n'), { from: origin, to: target, discarded: isDiscarded, others })
}

/** Labels for groups of tables that are left out together. */
const GROUP_NAMES: Readonly<Record<CopyGroup, string>> = {
  content: 'pages',
  hosts: 'hosts',
  history: 'jobs',
  understanding: 'analyses',
  places: 'places of the world',
  placed: 'places in articles, and hubs',
  vectors: 'vectors',
}

/** `copying: 12,000 of 40,000 rows, 8,200/s, now: chunks` */
function writeProgress({ step, label, done, total }: CopyProgress, perSecond: number): string {
  if (step === 'indexing') return 'indexing'
  return `${step}: ${writeNumber(done)} of ${countOf(total, 'row')}, ${writeRate(perSecond)}/s, now: ${label}`
}

function writeCopied(result: CopyResult, { from, to }: { from: string; to: string }, elapsedMs: number): string {
  const { wasComplete, isResumed, sources, written, verified, durationsMs } = result
  const rows = sumOf(verified, ({ rows }) => rows)
  const fromTo = printableLine(`${from} to ${to}`)
  const rate = durationsMs.copying < 1000 ? '' : `, ${writeNumber(rowsPerSecond(result))} rows/s while writing`
  const pace = `${countOf(written, 'row')} in ${writeDuration(elapsedMs)}${rate}`
  const outcome = wasComplete ? `already copied: ${fromTo}` : `copied ${fromTo}: ${isResumed ? 'the last ' : ''}${pace}`
  const [pages, chunks] = ['pages', 'chunks'].map((name) => countHashed(result, name))
  const mismatches = countHashMismatches(result)
  return [
    outcome,
    `verified: ${countOf(pages ?? 0, 'page')} and ${countOf(chunks ?? 0, 'chunk')} by their content hashes, all ${countOf(rows, 'row')} of ${countOf(verified.length, 'table')} and ${countOf(sources, 'source')} one by one`,
    ...(mismatches === 0
      ? []
      : [`${countOf(mismatches, 'text')} with a hash that differs from the recorded one, in the original too`]),
  ].join('\n')
}

function rowsPerSecond({ written, durationsMs }: CopyResult): number {
  return Math.round((written * 1000) / Math.max(1, durationsMs.copying))
}

function sumOf<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0)
}

function countHashed({ verified }: CopyResult, name: string): number {
  return verified.find(({ table }) => table.name === name)?.hashed ?? 0
}

/** The number of pages and chunks whose text does not match the recorded hash. */
function countHashMismatches({ verified }: CopyResult): number {
  const hashed = verified.filter(({ table }) => table.name === 'pages' || table.name === 'chunks')
  return sumOf(hashed, (table) => table.rows - table.hashed)
}

function recordOf(result: CopyResult, elapsedMs: number, { sha256 }: OpenLibrary): Record<string, unknown> {
  const { wasComplete, isResumed, written, verified, skipped, running, openJobs, durationsMs } = result
  return {
    copied_before: wasComplete,
    resumed: isResumed,
    sources: result.sources,
    rows_written: written,
    rows_per_second: rowsPerSecond(result),
    elapsed_ms: elapsedMs,
    copying_ms: durationsMs.copying,
    verifying_ms: durationsMs.verifying,
    indexing_ms: durationsMs.indexing,
    unfinished_crawls: running,
    unfinished_jobs: openJobs,
    left_out: skipped.filter(({ problem }) => problem !== null),
    verified: {
      rows: sumOf(verified, ({ rows }) => rows),
      pages_by_hash: countHashed(result, 'pages'),
      chunks_by_hash: countHashed(result, 'chunks'),
      texts_of_another_hash: countHashMismatches(result),
      sha256: sha256(verified.map(({ table, rows, digest }) => `${table.name} ${rows} ${digest}\n`).join('')),
      tables: verified.map(({ table, rows, digest }) => ({ table: table.name, rows, sha256: digest })),
    },
  }
}
