import type { Command } from 'commander'
import { PharosError, usageError } from '../../core/errors.ts'
import { writeDuration } from '../../core/text/duration.ts'
import { type EmbedInput, type EmbedProgress, embedLibrary } from '../../library/embed/embed-library.ts'
import type { SyncProgress } from '../../library/embed/sync-vectors.ts'
import type { Library } from '../../library/library.ts'
import { labelOf, type Source } from '../../library/source.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { flagName } from '../../settings/settings.ts'
import { AdvisedError } from '../advised-error.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, createHint, type Hint, withLibrary } from '../library.ts'
import { type CommonFlags, configOf, oneOf } from '../options/options.ts'
import { countOf, printableLine, type Streams, Terminal, writeNumber } from '../terminal.ts'
import { EMBED_SETTINGS, showEmbedStatus } from '../text/embed-status.ts'
import { RateMeter, writeRate } from '../text/progress.ts'

const SHOWN_ACTIONS = ['status', 'run', 'sync'] as const
/** `install` only exists for scripts written for versions without a built-in model. */
const ACTIONS = [...SHOWN_ACTIONS, 'install'] as const
type Action = (typeof ACTIONS)[number]

const NOTHING_TO_INSTALL = 'nothing to install: the model is built in, and pages are embedded automatically'

interface EmbedFlags extends CommonFlags {
  readonly replace?: boolean
  readonly retryRefused?: boolean
  readonly rebuild?: boolean
}

/** `pharos embed status|run|sync [source…]` */
export function addEmbed(program: Command, streams: Streams): void {
  const command = program
    .command('embed')
    .description('manage the vectors for search by meaning: show their status, make missing ones, sync them to Qdrant')
    .argument('<what>', SHOWN_ACTIONS.join(', '), oneOf('<what>', ACTIONS))
    .argument('[source...]', 'for run: sources to embed (default: all)')
    .option('--replace', 'for run: replace all vectors if they are of another model')
    .option('--retry-refused', 'for run: retry chunks that could not be embedded before')
    .option(
      '--rebuild',
      'for sync: write all points again, even unchanged ones; a collection with points of other programs is never dropped',
    )
    .addHelpText(
      'after',
      '\nThe model is built in. Commands that crawl also embed\nwhat they read. run embeds what they left out, and\nlibraries of older versions. To use an embedding service\ninstead, give --embedder and --embed-endpoint.\nsync updates the copy in Qdrant.\n\nExamples:\n  $ pharos embed run guide\n  $ pharos embed run --embedder tei --embed-endpoint http://localhost:8080\n  $ pharos embed sync --qdrant-url http://localhost:6333\n  $ pharos embed status --json',
    )
  addLibraryOptions(command, EMBED_SETTINGS)
  command.action((what: Action, texts: readonly string[], flags: EmbedFlags) => {
    refuseStrayArguments(what, texts, flags)
    const terminal = new Terminal(flags, streams)
    switch (what) {
      case 'install':
        return terminal.answer(NOTHING_TO_INSTALL, { model: 'built-in' })
      case 'status':
        return showEmbedStatus(configOf(command), terminal)
      case 'run':
        return run(command, texts, flags, terminal)
      case 'sync':
        return sync(command, flags, terminal)
    }
  })
}

/** Flags that apply to one action only. */
const ACTION_FLAGS: Readonly<Record<'replace' | 'retryRefused' | 'rebuild', Action>> = {
  replace: 'run',
  retryRefused: 'run',
  rebuild: 'sync',
}

function refuseStrayArguments(what: Action, texts: readonly string[], flags: EmbedFlags): void {
  const refuse = (problem: string): never => {
    throw usageError(problem)
  }
  if (what !== 'run' && texts.length > 0) refuse(`embed ${what} takes no source, got ${texts.join(', ')}`)
  for (const [name, action] of Object.entries(ACTION_FLAGS) as [keyof typeof ACTION_FLAGS, Action][]) {
    if (flags[name] === undefined || what === action) continue
    refuse(`embed ${what} takes no --${flagName(name)}: that is for embed ${action}`)
  }
}

async function run(command: Command, texts: readonly string[], flags: EmbedFlags, terminal: Terminal): Promise<void> {
  const config = configOf(command)
  await interruptible((signal) =>
    withLibrary(config, async (library) => {
      const sources: Source[] = []
      for (const text of texts) sources.push(await findSource(library, text))
      const embedding = { library, terminal, signal, hint: createHint(config) }
      const { replace = false, retryRefused = false } = flags
      const outcome = await embedInForeground(embedding, sources, { replace, retryRefused })
      const { made, embedded, chunks, refused, skipped, elapsedMs } = outcome
      terminal.answer(writeEmbedSummary(outcome), {
        made,
        embedded,
        chunks,
        refused,
        skipped,
        elapsed_ms: Math.round(elapsedMs),
      })
      if (skipped > 0) terminal.note(writeSkipped(outcome))
      else if (refused > 0) terminal.note(writeRefused(refused, createHint(config)))
      const { problem = null, location = '' } = library.vectorCopy ?? {}
      if (problem !== null) terminal.note(writeCopyBehind(location, problem, createHint(config)))
    }),
  )
}

/** Summary of a run: `embedded 20 chunks in 3s: 20 of 20 chunks have a vector` */
export function writeEmbedSummary({ made, embedded, chunks, skipped, elapsedMs }: EmbedResult): string {
  const all = `${writeNumber(embedded)} of ${countOf(chunks, 'chunk')} have a vector`
  if (made === 0 && skipped === 0) return `nothing to embed: ${all}`
  return `embedded ${countOf(made, 'chunk')} in ${writeDuration(Math.ceil(elapsedMs / 1000) * 1000)}: ${all}`
}

/** Note about skipped chunks: `2 chunks could not be embedded (searchable by words only); the first: …` */
export function writeSkipped({ skipped, problem }: EmbedProgress): string {
  const first = problem === null ? '' : `; the first: ${printableLine(problem)}`
  return `${countOf(skipped, 'chunk')} could not be embedded (searchable by words only)${first}`
}

/** Note about chunks that earlier runs could not embed. */
function writeRefused(refused: number, hint: Hint): string {
  const again = hint('embed', 'run', '--retry-refused')
  const count = countOf(refused, 'chunk')
  return `${count} could not be embedded before (searchable by words only); try again with: ${again}`
}

/** Note about an incomplete copy of the vectors. */
function writeCopyBehind(location: string, problem: string, hint: Hint): string {
  return `the copy at ${printableLine(location)} is incomplete: ${printableLine(problem)}; when it answers again, run: ${hint('embed', 'sync')}`
}

/** Fails early if the embedder is missing or does not respond, instead of at the end of the work. */
export async function requireEmbedder({ openEmbedder }: Pick<Library, 'openEmbedder'>): Promise<void> {
  if ((await openEmbedder?.()) === undefined) throw new PharosError('EMBEDDER_MISSING')
}

/** Options of embedding in the foreground. */
export interface EmbedContext {
  readonly library: Library
  readonly terminal: Terminal
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  readonly hint: Hint
  /** Formats the live line. The pace begins with a comma. @default {@link writeEmbedProgress} */
  readonly writeLive?: (progress: EmbedProgress, pace: string) => string
}

/** The result of embedding. */
export interface EmbedResult extends EmbedProgress {
  /** Number of vectors that this run has added. */
  readonly made: number
  readonly elapsedMs: number
}

/** Embeds chunks without a vector and shows progress; for all sources if none are given. */
export async function embedInForeground(
  { library, terminal, signal, hint, writeLive }: EmbedContext,
  sources: readonly Source[],
  options: Pick<EmbedInput, 'replace' | 'retryRefused'> = {},
): Promise<EmbedResult> {
  const started = performance.now()
  const rate = new RateMeter()
  const input: EmbedInput = {
    signal,
    ...options,
    ...(sources.length === 0 ? {} : { sourceIds: sources.map(({ id }) => id) }),
  }
  let embeddedAtStart: number | undefined
  let last: EmbedProgress = { embedded: 0, chunks: 0, refused: 0, skipped: 0, problem: null }
  try {
    for await (const progress of embedLibrary(library, input)) {
      const left = progress.chunks - progress.refused - progress.embedded
      // The live line is missing where the output is a file.
      if (embeddedAtStart === undefined && left > 0 && !terminal.isLive)
        terminal.note(`embedding ${countOf(left, 'chunk')} for search by meaning`)
      embeddedAtStart ??= progress.embedded
      last = progress
      const perSecond = rate.add(performance.now() - started, progress.embedded - embeddedAtStart)
      terminal.live(writeLive?.(progress, writePace(progress, perSecond)) ?? writeEmbedProgress(progress, perSecond))
    }
  } catch (error) {
    const { embedded, chunks } = last
    if (!signal.aborted && embedded > (embeddedAtStart ?? 0)) {
      terminal.clear()
      terminal.note(
        `embedded ${writeNumber(embedded)} of ${countOf(chunks, 'chunk')} before the failure; these are kept`,
      )
    }
    if (!signal.aborted) throw error
    const command = hint('embed', 'run', ...sources.map(labelOf))
    throw new AdvisedError(new PharosError('INTERRUPTED'), `nothing is lost; go on with: ${command}`)
  } finally {
    terminal.clear()
  }
  return { ...last, made: last.embedded - (embeddedAtStart ?? 0), elapsedMs: performance.now() - started }
}

/** `embedding: 1,200 of 13,441 chunks, 8 %, 52/s, 4m left` */
export function writeEmbedProgress(
  { embedded, chunks }: Pick<EmbedProgress, 'embedded' | 'chunks'>,
  perSecond: number,
): string {
  const share = chunks === 0 ? 100 : Math.floor((100 * embedded) / chunks)
  const pace = writePace({ embedded, chunks, refused: 0 }, perSecond)
  return `embedding: ${writeNumber(embedded)} of ${countOf(chunks, 'chunk')}, ${share} %${pace}`
}

/** `, 52/s, 4m left` */
function writePace(
  { embedded, chunks, refused }: Pick<EmbedProgress, 'embedded' | 'chunks' | 'refused'>,
  perSecond: number,
): string {
  const leftMs = perSecond > 0 ? Math.ceil((chunks - refused - embedded) / perSecond) * 1000 : 0
  return `, ${writeRate(perSecond)}/s${leftMs === 0 ? '' : `, ${writeDuration(leftMs)} left`}`
}

/** The share of embeddable chunks that have a vector, from 0 to 1. */
export function shareOf({ embedded, chunks, refused }: Pick<EmbedProgress, 'embedded' | 'chunks' | 'refused'>): number {
  return chunks <= refused ? 1 : embedded / (chunks - refused)
}

/** Synchronizes the copy of the vectors in Qdrant with the library. */
async function sync(command: Command, { rebuild = false }: EmbedFlags, terminal: Terminal): Promise<void> {
  const config = configOf(command)
  const { syncVectors } = await import('../../library/embed/sync-vectors.ts')
  await interruptible((signal) =>
    withLibrary(config, async ({ store, vectors, vectorCopy: copy }) => {
      if (vectors === undefined || copy === undefined) {
        throw usageError('no copy in Qdrant is configured: name one with --qdrant-url')
      }
      let last: SyncProgress = { looked: 0, vectors: 0, copied: 0, removed: 0 }
      try {
        for await (const progress of syncVectors({ store, vectors, copy }, { rebuild }, signal)) {
          last = progress
          terminal.live(`copying: ${writeNumber(progress.looked)} of ${countOf(progress.vectors, 'vector')}`)
        }
      } catch (error) {
        if (!signal.aborted) throw error
        const again = createHint(config)('embed', 'sync')
        throw new AdvisedError(new PharosError('INTERRUPTED'), `nothing is lost; go on with: ${again}`)
      } finally {
        terminal.clear()
      }
      const { vectors: all, copied, removed } = last
      const done = `wrote ${writeNumber(copied)} of ${countOf(all, 'vector')}, removed ${countOf(removed, 'stale one')}`
      terminal.answer(`${printableLine(copy.location)} is up to date: ${done}`, { copy: copy.location, ...last })
    }),
  )
}
