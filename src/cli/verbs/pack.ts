import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { packName } from '../../core/pack/entries.ts'
import { createPack, type Pack } from '../../core/pack/pack.ts'
import { splitPack } from '../../core/pack/split.ts'
import { sumTokens } from '../../core/pack/tables.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import { isDocumentName } from '../../documents/formats.ts'
import { type ChunkedFolder, chunkFolder } from '../../ingest/chunk-folder.ts'
import { estimateFullBytes } from '../../ingest/estimate-pack.ts'
import { openBundledGrammars } from '../../ingest/grammars.ts'
import { checkPackPath, leaveOutChangedImages, writePacks } from '../../ingest/pack-output.ts'
import { nodeSha256 } from '../../ingest/sha256.ts'
import { chunkSource } from '../../library/import/chunk-source.ts'
import { labelOf } from '../../library/source.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, withLibrary } from '../library.ts'
import { type CommonFlags, configOf, wholeNumber } from '../options/options.ts'
import { countOf, printableLine, type Streams, shellWord, Terminal, writeNumber } from '../terminal.ts'

interface PackFlags extends CommonFlags {
  readonly out?: string
  readonly full?: boolean
  readonly compact?: boolean
  readonly split?: number
  readonly vectors?: boolean
}

/** `pharos pack <folder|source>` */
export function addPack(program: Command, streams: Streams): void {
  const command = program
    .command('pack')
    .description('write a folder, or a source of the library, as a portable pack')
    .argument('<folder|source>', 'folder or repository to pack; else a source of the library')
    .option('-o, --out <dir|zip>', 'where to write it (default: <folder>.llmx-<id>.zip in the current directory)')
    .option('--full', 'also write index.json, definitions, heading paths, an outline and more manifests')
    .addOption(program.createOption('--compact', 'the default').hideHelp())
    .option('--split <tokens>', 'cut the pack into parts of at most this many tokens', wholeNumber('--split', 1))
    .option('--vectors', 'add a vector for each chunk, so that the pack can be searched by meaning')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos pack ./docs --out docs.zip\n  $ pharos pack guide@2.0 --out guide.zip',
    )
  addLibraryOptions(command, [
    'maxFileBytes',
    'maxTotalBytes',
    'maxChunksPerFile',
    'maxTotalChunks',
    'chunkTargetChars',
    'chunkMaxChars',
    'cache',
  ])
  command.action(async (name: string, flags: PackFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    if (flags.full === true && flags.compact === true) {
      throw new PharosError('USAGE', { problem: '--full and --compact exclude each other' })
    }
    try {
      const pack = existsSync(name) ? packFolder : packSource
      await interruptible((signal) => pack(name, flags, config, terminal, signal))
    } finally {
      terminal.clear()
    }
  })
}

async function packFolder(
  folder: string,
  flags: PackFlags,
  config: EffectiveConfig,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { values } = config
  const targetChars = targetCharsIn(config)
  const maxChunksPerFile = chunksPerFileIn(config)
  if (flags.out !== undefined && flags.split === undefined) checkPackPath(flags.out)
  terminal.live(`looking through ${printableLine(folder)}`)
  const chunked = await chunkFolder(folder, {
    grammars: await openBundledGrammars(),
    signal,
    maxFileBytes: values.maxFileBytes,
    maxTotalBytes: values.maxTotalBytes,
    maxChunksPerFile,
    maxTotalChunks: values.maxTotalChunks,
    targetChars,
    maxChars: values.chunkMaxChars,
    cacheFolder: values.cache ? join(values.cacheFolder, 'folders') : undefined,
    exclude: flags.out === undefined ? [] : [resolve(flags.out)],
    onProgress: ({ done, total, chunks, path }) => {
      terminal.live(`${done}/${total} files, ${countOf(chunks, 'chunk')}  ${printableLine(path)}`)
    },
  })
  const pack = await createPackOf(chunked, folder, signal)
  if (pack.chunks.length === 0) throw emptyError(folder, chunked, pack)
  await writeParts(pack, chunked, { folder, stem: basename(resolve(folder)) }, { flags, terminal, signal })
}

/** Packs the pages of a source. */
async function packSource(
  name: string,
  flags: PackFlags,
  config: EffectiveConfig,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const sizes = { targetChars: targetCharsIn(config), maxChars: config.values.chunkMaxChars }
  if (flags.out !== undefined && flags.split === undefined) checkPackPath(flags.out)
  // A mistyped folder name must not create a library.
  const libraryPath = config.values.library
  if (!isPostgres(libraryPath) && !existsSync(libraryPath)) throw notFoundError(name, libraryPath, '')
  await withLibrary(config, async (library) => {
    const source = await findSource(library, name).catch((error: unknown) => {
      if (!(error instanceof PharosError) || error.code !== 'SOURCE_UNKNOWN') throw error
      throw notFoundError(name, library.store.location, String(error.details['nearest']), error)
    })
    terminal.live(`reading ${printableLine(labelOf(source))}`)
    const files = await chunkSource(library, source, sizes)
    const pack = createPack(files, { sha256: nodeSha256 })
    if (pack.chunks.length === 0) {
      throw new PharosError('SOURCE_EMPTY', { path: labelOf(source), problem: 'the library holds no pages of it' })
    }
    const chunked: ChunkedFolder = {
      files,
      skipped: [],
      filesRead: files.length,
      filesCut: files.length,
      filesUnchanged: 0,
    }
    const stem = labelOf(source).replace(/[^\w.@-]+/g, '-')
    await writeParts(pack, chunked, { folder: '.', stem }, { flags, terminal, signal })
  })
}

function notFoundError(name: string, library: string, nearest: string, cause?: unknown): PharosError {
  const path = `${name}, nor a source of that name in ${library}${nearest}`
  return new PharosError('SOURCE_NOT_FOUND', { path }, { cause })
}

/** Writes a pack in the requested form and reports it. `folder` contains its images. */
async function writeParts(
  pack: Pack,
  chunked: ChunkedFolder,
  { folder, stem }: { readonly folder: string; readonly stem: string },
  { flags, terminal, signal }: { readonly flags: PackFlags; readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<void> {
  const out = flags.out ?? `${packName(stem, pack)}.zip`
  const complete = flags.vectors === true ? await addVectors(pack, terminal, signal) : pack
  const parts = flags.split === undefined ? [complete] : splitByTokens(complete, flags.split)
  const paths = parts.map((part) => (part.part === undefined ? out : partPath(out, part.part)))
  terminal.live(`writing ${printableLine(out)}`)
  const bytes = await writePacks(
    parts.map((part, i) => ({ pack: part, out: paths[i] ?? out })),
    { root: folder, compact: flags.full !== true, signal },
  )
  const isEstimated = flags.full !== true && terminal.showsNotes
  const fullBytes = isEstimated ? await estimateFullBytes(complete, bytes, /\.zip$/i.test(out)) : undefined
  reportPack(terminal, pack, chunked, { paths, bytes, fullBytes })
  const stale = listOtherParts(out, paths)
  if (stale.length > 0)
    terminal.note(`parts of an earlier pack are still there: ${stale.map(printableLine).join(', ')}`)
}

/** Adds the vectors of the built-in model to a pack. */
async function addVectors(pack: Pack, terminal: Terminal, signal: AbortSignal): Promise<Pack> {
  const { embedPack } = await import('../../embed/embed-pack.ts')
  const vectors = await embedPack(pack, {
    signal,
    onProgress: (done, total) => terminal.live(`embedding ${done}/${countOf(total, 'chunk')}`),
  })
  return { ...pack, vectors }
}

/** Creates a pack without images that have changed since they were chunked. */
async function createPackOf(chunked: ChunkedFolder, folder: string, signal: AbortSignal): Promise<Pack> {
  const { files, warnings } = await leaveOutChangedImages(chunked.files, folder, signal)
  const pack = createPack(files, { sha256: nodeSha256 })
  return { ...pack, warnings: [...pack.warnings, ...warnings].sort((a, b) => compareUtf8(a.path, b.path)) }
}

/** If only the maximum size of a chunk is lowered, the target size is capped to it. */
function targetCharsIn({ values, origins }: EffectiveConfig): number {
  const { chunkTargetChars, chunkMaxChars } = values
  if (origins.chunkTargetChars === 'default') return Math.min(chunkTargetChars, chunkMaxChars)
  if (chunkTargetChars <= chunkMaxChars) return chunkTargetChars
  const problem = `chunk-target-chars (${chunkTargetChars}) is above chunk-max-chars (${chunkMaxChars})`
  throw usageError(problem)
}

/** If only the total number of chunks is lowered, the maximum per file is capped to it. */
function chunksPerFileIn({ values, origins }: EffectiveConfig): number {
  const { maxChunksPerFile, maxTotalChunks } = values
  if (origins.maxChunksPerFile === 'default') return Math.min(maxChunksPerFile, maxTotalChunks)
  if (maxChunksPerFile <= maxTotalChunks) return maxChunksPerFile
  const problem = `max-chunks-per-file (${maxChunksPerFile}) is above max-total-chunks (${maxTotalChunks})`
  throw usageError(problem)
}

function splitByTokens(pack: Pack, tokens: number): Pack[] {
  const largest = pack.chunks.reduce((maximum, chunk) => Math.max(maximum, chunk.tokenEstimate), 1)
  if (tokens >= largest) return splitPack(pack, tokens)
  const problem = `--split ${tokens} is less than the largest chunk, which has ${largest} tokens`
  throw usageError(problem)
}

/** `docs.zip` → `docs.part-2.zip`; `docs` → `docs/part-2` */
function partPath(out: string, part: { readonly number: number; readonly of: number }): string {
  const number = String(part.number).padStart(String(part.of).length, '0')
  return /\.zip$/i.test(out) ? out.replace(/(\.zip)$/i, `.part-${number}$1`) : join(out, `part-${number}`)
}

/** Parts of an earlier pack beside the parts that were just written. */
function listOtherParts(out: string, paths: readonly string[]): string[] {
  const isZip = /\.zip$/i.test(out)
  const folder = isZip ? dirname(out) : out
  const stem = isZip ? basename(out).replace(/zip$/i, '') : ''
  const isPart = (name: string) => name.startsWith(stem) && /^part-\d+(?:\.zip)?$/i.test(name.slice(stem.length))
  const written = new Set(paths.map((path) => basename(path)))
  return readdirSync(folder)
    .filter((name) => isPart(name) && !written.has(name))
    .map((name) => join(folder, name))
}

function emptyError(folder: string, chunked: ChunkedFolder, pack: Pack): PharosError {
  const skipped = chunked.skipped.length
  const problem =
    skipped + pack.warnings.length + chunked.files.length === 0
      ? 'the folder is empty'
      : `${countOf(chunked.files.length, 'file')} without text, ${skipped} skipped, ${countOf(pack.warnings.length, 'warning')}`
  return new PharosError('SOURCE_EMPTY', { path: folder, problem })
}

/** Warnings that the flag of the same name can prevent. */
const LIMIT_WARNINGS = ['max_file_bytes', 'max_total_bytes', 'max_chunks_per_file', 'max_total_chunks'] as const

interface WrittenPack {
  readonly paths: readonly string[]
  readonly bytes: number
  /** About the size of the full form; undefined if it was written, or nobody is told. */
  readonly fullBytes: number | undefined
}

function reportPack(terminal: Terminal, pack: Pack, chunked: ChunkedFolder, written: WrittenPack): void {
  const { paths, bytes, fullBytes } = written
  const tokens = sumTokens(pack.chunks)
  for (const { path, reason } of chunked.skipped) terminal.detail(`skipped ${printableLine(path)} (${reason})`)
  for (const { path, message } of pack.warnings)
    terminal.detail(`warning ${printableLine(path)}: ${printableLine(message)}`)
  terminal.note(
    [
      countOf(pack.files.length, 'file'),
      countOf(pack.chunks.length, 'chunk'),
      `about ${countOf(tokens, 'token')}`,
      `${writeBytes(bytes)}${fullBytes === undefined ? '' : ` (about ${writeBytes(fullBytes)} with --full)`}`,
      ...(chunked.filesUnchanged === 0 ? [] : [`${countOf(chunked.filesUnchanged, 'file')} unchanged`]),
    ].join(', '),
  )
  const skipped = countEach(chunked.skipped.map(({ reason }) => reason))
  const warnings = countEach(pack.warnings.map(({ code }) => code))
  const more = terminal.isVerbose ? '' : ' (--verbose lists them)'
  if (skipped !== '') terminal.note(`skipped: ${skipped}${more}`)
  const documents = chunked.skipped.filter(({ path, reason }) => reason === 'binary' && isDocumentName(path)).length
  if (documents > 0) {
    const text = 'a pack of a folder holds text files only; to include documents, run `pharos add` and pack that source'
    terminal.note(`left out: ${countOf(documents, 'document')} such as PDF; ${text}`)
  }
  if (warnings !== '') terminal.note(terminal.noteColors.yellow(`warnings: ${warnings}${more}`))
  const limits = LIMIT_WARNINGS.filter((limit) => pack.warnings.some(({ code }) => code === limit))
  const flags = limits.map((limit) => `--${limit.replaceAll('_', '-')}`)
  if (flags.length > 0) terminal.note(`limits left something out; raise ${flags.join(' or ')} to include more`)
  terminal.answer((terminal.isAnswerOnTerminal ? paths.map(printableLine) : paths).join('\n'), {
    out: paths,
    index_id: pack.indexId,
    files: pack.files.length,
    chunks: pack.chunks.length,
    token_estimate: tokens,
    files_read: chunked.filesRead,
    files_cut: chunked.filesCut,
    files_unchanged: chunked.filesUnchanged,
    skipped: chunked.skipped,
    warnings: pack.warnings,
    bytes,
  })
  const firstPath = shellWord(printableLine(paths[0] ?? ''))
  if (terminal.isAnswerOnTerminal)
    terminal.note(terminal.noteColors.dim(`search it: pharos search "…" --pack ${firstPath}`))
}

/** `3 binary, 1 link`, sorted by name. */
function countEach(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names.toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${writeNumber(count)} ${name}`).join(', ')
}
