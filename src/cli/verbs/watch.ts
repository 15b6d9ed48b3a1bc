import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { type EffectiveConfig, libraryDataFolder } from '../../config.ts'
import { CHUNK_PROFILES, type ChunkProfile } from '../../core/chunk/profiles.ts'
import { messageOf, PharosError, usageError } from '../../core/errors.ts'
import { parseDuration } from '../../core/text/duration.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { appendFailure } from '../../ingest/failure-log.ts'
import { embedLibrary } from '../../library/embed/embed-library.ts'
import { findOrAddFolder } from '../../library/import/find-or-add-folder.ts'
import type { WatchEvent, WatchInput } from '../../library/import/watch-tree.ts'
import type { Library } from '../../library/library.ts'
import { DEFAULT_SETTINGS, labelOf, type Source } from '../../library/source.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, createHint, type Hint, printableLabel, withLibrary } from '../library.ts'
import { type CommonFlags, collectList, configOf, oneOf, wholeNumber } from '../options/options.ts'
import { addEmbedOptions, isEmbedRequired } from '../options/search-settings.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'
import { RateMeter, writeProgress } from '../text/progress.ts'
import { failureLine, WatchCounts, watchRecord, writeWatchEvent } from '../text/watch-text.ts'
import { requireEmbedder } from './embed.ts'

interface WatchFlags extends CommonFlags {
  readonly name?: string
  readonly version?: string
  readonly allow?: readonly string[]
  readonly block?: readonly string[]
  readonly maxDepth?: number
  readonly chunks?: ChunkProfile
  readonly poll?: string
}

/** `pharos watch <folder>` */
export function addWatch(program: Command, streams: Streams): void {
  const command = program
    .command('watch')
    .description('watch a folder and keep its pages in the library up to date, until you stop it')
    .argument('<folder>', 'the folder; it is added to the library if it is new')
    .option('--name <name>', 'name of the source (default: name of the folder)')
    .option('--version <label>', 'version of the documented product')
    .option('--allow <glob>', 'read only paths that match; repeat it, or use commas', collectList)
    .option('--block <glob>', 'leave out paths that match, even if --allow matches them', collectList)
    .option('--max-depth <folders>', 'read at most this many levels of folders', wholeNumber('--max-depth', 0))
    .option(
      '--chunks <profile>',
      `how pages are cut: ${CHUNK_PROFILES.join(', ')} (default: ${DEFAULT_SETTINGS.chunks})`,
      oneOf('--chunks', CHUNK_PROFILES),
    )
    .option(
      '--poll <duration>',
      'poll at this interval, such as 10s, instead of waiting for change events; needed on network disks',
    )
    .addHelpText(
      'after',
      '\nStarts with the changes since the last run. A file is read one second after its\nlast change. If a file cannot be read, its page is kept, the failure is logged\n(--failures), and the file is retried after 5 s, 30 s, 3 min and 15 min, and\nwhenever it changes. Press Ctrl-C to stop; nothing is lost. Ignore files above\nthe folder apply, but are not watched: restart when one of them changes.\n\nExamples:\n  $ pharos watch ./docs\n  $ pharos watch ./notes --name notes --json\n  $ pharos watch /mnt/share/handbook --poll 30s',
    )
  addLibraryOptions(addEmbedOptions(command), ['failures', 'maxFileBytes'])
  command.action(async (folder: string, flags: WatchFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    const pollMs = flags.poll === undefined ? undefined : parsePoll(flags.poll)
    await interruptible(
      (signal) =>
        withLibrary(config, async (library) => {
          if (isEmbedRequired(config)) await requireEmbedder(library)
          const { name, version, allow, block, maxDepth, chunks } = flags
          const { source, hasOtherSettings, ...firstRun } = await findOrAddFolder(library, folder, {
            ...{ name, version, scope: withoutUndefined({ allow, block, maxDepth }) },
            settings: withoutUndefined({ chunks }),
          })
          if (hasOtherSettings) {
            const label = labelOf(source)
            const problem = `${label} is in the library with other settings: leave out these options, or run \`${createHint(config)('remove', label)}\` first`
            throw usageError(problem)
          }
          await watch({ library, source, terminal, config, signal }, { ...firstRun, pollMs })
        }),
      () => {
        if (terminal.isLive) terminal.note('stopping … (press Ctrl-C again to stop at once)')
      },
    )
  })
}

/** With a shorter interval the program would do little but poll. */
const MIN_POLL_INTERVAL_MS = 1000
/** Safely below the longest delay of a timer, which is a few weeks. */
const MAX_POLL_INTERVAL_MS = 86_400_000

function parsePoll(text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined && ms >= MIN_POLL_INTERVAL_MS && ms <= MAX_POLL_INTERVAL_MS) return ms
  const problem = `--poll: expected a duration from 1s to 1d, such as 10s, got ${JSON.stringify(text)}`
  throw usageError(problem)
}

/** The path of the failure log. */
function failureLogPath({ values }: EffectiveConfig): string {
  if (values.failures !== '') return values.failures
  const { library } = values
  return join(libraryDataFolder(library), isPostgres(library) ? 'failed.jsonl' : `${basename(library)}.failed.jsonl`)
}

/** The environment of a watch. */
interface WatchContext {
  readonly library: Library
  readonly source: Source
  readonly terminal: Terminal
  readonly config: EffectiveConfig
  readonly signal: AbortSignal
}

async function watch(watching: WatchContext, input: WatchInput): Promise<void> {
  const { library, source, terminal, config, signal } = watching
  // Loaded on demand: loading the crawler takes longer than most commands run.
  const { watchTree } = await import('../../library/import/watch-tree.ts')
  const hint = createHint(config)
  const rate = new RateMeter()
  const counts = new WatchCounts()
  const log = createLog(watching)
  terminal.live(`${printableLabel(source)}: starting`)
  try {
    for await (const event of watchTree(library, source, input, signal)) {
      counts.add(event)
      if (event.type === 'progress') {
        const { progress } = event
        const perSecond = rate.add(progress.elapsedMs, progress.indexed + progress.unchanged)
        terminal.live(writeProgress(printableLabel(source), progress, perSecond))
        continue
      }
      log(event)
      reportEvent(terminal, event, source, hint)
      if (event.type === 'caught-up' || event.type === 'settled') await embed(watching)
    }
  } catch (error) {
    throw error instanceof PharosError && error.code === 'SOURCE_UNKNOWN' ? removedError(watching, error) : error
  } finally {
    terminal.clear()
  }
  terminal.answer(counts.write(printableLabel(source)), { event: 'stopped', ...counts.record() })
}

/** The error for a source that another process removed during the watch. */
function removedError({ library, source }: WatchContext, cause: unknown): PharosError {
  const suffix = ': it was removed while it was watched'
  const details = { source: labelOf(source), library: library.store.location, nearest: suffix }
  return new PharosError('SOURCE_UNKNOWN', details, { cause })
}

/** Reports an event in one line: every event except `settled` as JSON, the relevant ones as text. */
function reportEvent(
  terminal: Terminal,
  event: Exclude<WatchEvent, { type: 'progress' }>,
  source: Source,
  hint: Hint,
): void {
  if (terminal.isJson) {
    if (event.type !== 'settled') terminal.answer('', watchRecord(event, source))
    return
  }
  const line = writeWatchEvent(event, source, hint)
  if (line === undefined) return
  if (line.isDetail) terminal.detail(line.text)
  else terminal.note(line.text)
}

/** Logs failures and recoveries. If the log cannot be written, this is reported once and the watch continues. */
function createLog({ library, source, terminal, config }: WatchContext): (event: WatchEvent) => void {
  const file = failureLogPath(config)
  const folder = fileURLToPath(source.url)
  let isBroken = false
  return (event) => {
    const line = failureLine(event, folder, library.clock.now())
    if (line === undefined || isBroken) return
    try {
      appendFailure(file, line)
    } catch (error) {
      isBroken = true
      terminal.notice(printableLine(`${file} cannot be written: ${messageOf(error)}; failures are only shown here`))
    }
  }
}

/** Embeds chunks without a vector. A failure is reported, and retried with the next batch. */
async function embed({ library, source, terminal, signal }: WatchContext): Promise<void> {
  if (library.embedsNew !== true || signal.aborted) return
  let embeddedAtStart: number | undefined
  let embeddedNow = 0
  try {
    for await (const { embedded } of embedLibrary(library, { signal, sourceIds: [source.id] })) {
      embeddedAtStart ??= embedded
      embeddedNow = embedded
    }
    const added = embeddedNow - (embeddedAtStart ?? 0)
    if (added > 0) terminal.note(`embedded ${countOf(added, 'chunk')}`)
  } catch (error) {
    if (!signal.aborted) terminal.notice(printableLine(`could not embed: ${messageOf(error)}`))
  }
}
