import type { Command } from 'commander'
import { messageOf, PharosError } from '../core/errors.ts'
import { writeDuration } from '../core/text/duration.ts'
import { isoOrNull } from '../core/text/iso-time.ts'
import { treeKindOf } from '../core/url/tree-url.ts'
import type { CrawlInput } from '../library/crawl/crawl-source.ts'
import { machineOf } from '../library/library.ts'
import { isTree } from '../library/ports/tree.ts'
import { claimRefresh, listScheduled, noteRefreshProblem } from '../library/refresh/claim-due.ts'
import { isDue, writeSchedule } from '../library/refresh/schedule.ts'
import { setRefreshInterval } from '../library/refresh/set-interval.ts'
import type { Source } from '../library/source.ts'
import { findSource } from '../library/sources/find-source.ts'
import { ChecksFailedError } from './checks-failed-error.ts'
import { type CrawlContext, crawlExisting, crawlInForeground } from './foreground-crawl.ts'
import { printableLabel, sourceRecord } from './library.ts'
import type { EveryFlags } from './options/every-option.ts'
import { countOf, printableLine } from './terminal.ts'

/** Flags that say which sources a command crawls. */
export interface TargetFlags extends EveryFlags {
  readonly all?: boolean
  readonly due?: boolean
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** Adds the argument and the flag that name the sources to crawl. */
export function addTargets(command: Command): Command {
  return command
    .argument('[source]', 'name, name@version, id, start URL or path of the source')
    .option('--all', 'crawl every source, one after another')
}

/** Throws unless the command line names one source, or several in one way. */
export function checkTargets(source: string | undefined, flags: TargetFlags, hasDue: boolean): void {
  const { all = false, due = false } = flags
  const ways = [...(source === undefined ? [] : ['a source']), ...(all ? ['--all'] : []), ...(due ? ['--due'] : [])]
  if (ways.length === 0) {
    const problem = hasDue ? 'name a source, or give --all or --due' : 'name a source, or give --all'
    throw new PharosError('USAGE', { problem })
  }
  const [first, second] = ways
  if (second !== undefined) throw new PharosError('USAGE', { problem: `${first} and ${second} exclude each other` })
  if (source !== undefined) return
  const refuse = (flag: string, why: string) => {
    throw new PharosError('USAGE', { problem: `${flag} cannot be given with ${first}: ${why}` })
  }
  if (flags.header !== undefined) refuse('--header', 'every site would get the header')
  if (flags.detach === true) refuse('--detach', 'name the source to leave to the server')
  if (due && flags.every !== undefined) refuse('--every', 'only sources that have an interval can be due')
}

/** Says which programs crawl a source again, because an interval alone starts nothing, and what they lack of this command line. */
export async function noteEvery(
  { terminal, hintFor, givenPrivate }: CrawlContext,
  source: Source,
  { every, header }: TargetFlags,
): Promise<void> {
  if (every === undefined || every.ms === null) return
  const hint = await hintFor(source)
  const words = `crawled again every ${writeDuration(every.ms)} while \`${hint('serve')}\` runs, or by \`${hint('setup', '--timer')}\``
  terminal.note(terminal.noteColors.dim(words))
  if (header !== undefined) {
    terminal.notice('these crawls do not send --header: name a variable with its value in the setting siteHeaders')
  }
  if (givenPrivate.length > 0 && !isTree(source)) {
    const hosts = JSON.stringify(givenPrivate)
    terminal.notice(
      printableLine(
        `the timer has no --allow-private: set "allowPrivate": ${hosts} in pharos.config.json for its crawls`,
      ),
    )
  }
}

/** A crawl of a source that the command line names. */
type CrawlOne = (source: Source) => Promise<void>

/** Crawls the named source, or all of them. With `--every never`, only the schedule changes. */
export async function crawlTargets(
  crawling: CrawlContext,
  source: string | undefined,
  flags: TargetFlags,
  inputFor: (source: Source) => CrawlInput,
): Promise<void> {
  const { library, terminal } = crawling
  const { every } = flags
  const crawlOne: CrawlOne = async (found) => {
    const input = inputFor(found)
    if (every !== undefined) await setRefreshInterval(library, found, every.ms)
    if (every?.ms !== null) {
      await noteEvery(crawling, found, flags)
      return crawlExisting(crawling, found.id, input)
    }
    const record = { ...sourceRecord(found), every: null }
    terminal.answer(`${printableLabel(found)} is no longer crawled again by itself`, record)
  }
  if (source !== undefined) return crawlOne(await findSource(library, source))
  const sources = await library.store.listSources()
  const readable = sources.filter((one) => findObstacle(crawling, one) === undefined)
  for (const one of sources) {
    const obstacle = findObstacle(crawling, one)
    if (obstacle !== undefined) terminal.note(`${printableLabel(one)} is left out: ${obstacle}`)
  }
  const { failed } = await crawlEach(crawling, readable, async (one) => {
    await crawlOne(one)
    return true
  })
  if (failed > 0) throw new ChecksFailedError()
}

/** Why a source cannot be crawled from here; undefined if it can. */
function findObstacle({ library }: CrawlContext, { url, settings: { machine } }: Source): string | undefined {
  if (treeKindOf(url) === 'import') return 'it was imported'
  if (machine !== undefined && machine !== machineOf(library.runner)) return printableLine(`it is on ${machine}`)
  return undefined
}

/** Refreshes the sources that are due, once. A server does the same continuously; each refresh is claimed, so both may run. */
export async function crawlDue(crawling: CrawlContext): Promise<void> {
  const { library, terminal, signal } = crawling
  const scheduled = await listScheduled(library)
  const now = library.clock.now()
  const due = scheduled.filter(({ refresh }) => isDue(refresh, now))
  const { done, failed } = await crawlEach(crawling, due, async (source) => {
    if (!(await claimRefresh(library, source.id))) return false
    await crawlInForeground(crawling, source, { kind: 'recrawl' }).catch(async (error: unknown) => {
      if (!signal.aborted) await noteRefreshProblem(library, source.id, messageOf(error))
      throw error
    })
    return true
  })
  if (failed > 0) throw new ChecksFailedError()
  if (done > 0) return
  const next = scheduled.find(({ refresh }) => !isDue(refresh, now))
  if (next === undefined) {
    terminal.answer('nothing is due: no source has an interval; give one with --every', { due: 0, next: null })
    return
  }
  const { refresh } = next
  terminal.answer(`nothing is due; next is ${printableLabel(next)}: ${printableLine(writeSchedule(refresh, now))}`, {
    due: 0,
    next: { ...sourceRecord(next), next_at: isoOrNull(refresh.dueAt) },
  })
}

/** Crawls sources one after another. A failure is printed, and the next source follows. `crawlOne` returns false if it left one out. */
async function crawlEach(
  { terminal, signal }: CrawlContext,
  sources: readonly Source[],
  crawlOne: (source: Source) => Promise<boolean>,
): Promise<{ readonly done: number; readonly failed: number }> {
  let done = 0
  let failed = 0
  for (const source of sources) {
    try {
      if (await crawlOne(source)) done++
    } catch (error) {
      if (signal.aborted) throw error
      failed++
      const message = printableLine(messageOf(error))
      const code = error instanceof PharosError ? error.code : 'INTERNAL'
      if (terminal.isJson) terminal.answer('', { ...sourceRecord(source), error: { code, message } })
      else terminal.notice(`${printableLabel(source)}: ${message}`)
    }
  }
  if (sources.length > 1) terminal.note(`${countOf(done, 'source')} crawled${failed === 0 ? '' : `, ${failed} failed`}`)
  return { done, failed }
}
