import { statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { PharosError } from '../core/errors.ts'
import { packName } from '../core/pack/entries.ts'
import { createPack, type Pack } from '../core/pack/pack.ts'
import { splitPack } from '../core/pack/split.ts'
import { type ChunkedFolder, chunkFolder, nodeSha256 } from '../ingest/chunk-folder.ts'
import { openBundledGrammars } from '../ingest/grammars.ts'
import { writePack } from '../ingest/pack-output.ts'
import { addCommonOptions, addSettings, type CommonFlags, configOf, wholeNumber } from './options.ts'
import { countOf, printable, Terminal } from './terminal.ts'

interface PackFlags extends CommonFlags {
  readonly out?: string
  readonly compact: boolean
  readonly split?: number
}

/** `pharos pack <folder>` */
export function addPack(program: Command, signal: AbortSignal): void {
  const command = program
    .command('pack')
    .description('cut a folder into chunks and write them as a portable pack')
    .argument('<folder>', 'folder or repository to pack')
    .option('-o, --out <dir|zip>', 'where to write it (default: <folder>.llmx-<id>.zip in the current directory)')
    .option('--compact', 'only llm.md, manifest.llm.tsv, chunks and images', false)
    .option('--split <tokens>', 'cut the pack into parts of at most this many tokens', wholeNumber(1))
    .addHelpText('after', '\nExample:\n  $ pharos pack ./docs --out docs.zip')
  addSettings(addCommonOptions(command), [
    'maxFileBytes',
    'maxTotalBytes',
    'maxChunksPerFile',
    'chunkTargetChars',
    'chunkMaxChars',
    'cache',
  ])
  command.action(async (folder: string, flags: PackFlags) => {
    const { values } = configOf(command, flags)
    if (values.chunkTargetChars > values.chunkMaxChars) {
      const problem = `chunk-target-chars (${values.chunkTargetChars}) is above chunk-max-chars (${values.chunkMaxChars})`
      throw new PharosError('USAGE', { problem })
    }
    const terminal = new Terminal(flags)
    const grammars = await openBundledGrammars()
    const chunked = await chunkFolder(folder, {
      grammars,
      signal,
      maxFileBytes: values.maxFileBytes,
      maxTotalBytes: values.maxTotalBytes,
      maxChunksPerFile: values.maxChunksPerFile,
      targetChars: values.chunkTargetChars,
      maxChars: values.chunkMaxChars,
      cacheFolder: values.cache ? join(values.cacheFolder, 'folders') : undefined,
      exclude: flags.out === undefined ? [] : [resolve(flags.out)],
      onProgress: ({ done, total, chunks, path }) => {
        terminal.live(`${done}/${total} files, ${countOf(chunks, 'chunk')}  ${printable(path)}`)
      },
    })
    const pack = createPack(chunked.files, { sha256: nodeSha256 })
    if (pack.chunks.length === 0) throw emptyError(folder, chunked, pack)

    const out = flags.out ?? `${packName(basename(resolve(folder)), pack)}.zip`
    const parts = flags.split === undefined ? [pack] : splitByTokens(pack, flags.split)
    const places = parts.map((part) => (part.part === undefined ? out : partPlace(out, part.part)))
    for (const [i, part] of parts.entries()) {
      terminal.live(`writing ${places[i]}`)
      await writePack(part, { out: places[i] ?? out, root: folder, compact: flags.compact, signal })
    }
    reportPack(terminal, pack, chunked, places)
  })
}

function splitByTokens(pack: Pack, tokens: number): Pack[] {
  const largest = pack.chunks.reduce((most, chunk) => Math.max(most, chunk.tokenEstimate), 1)
  if (tokens >= largest) return splitPack(pack, tokens)
  const problem = `--split ${tokens} is less than the largest chunk, which has ${largest} tokens`
  throw new PharosError('USAGE', { problem })
}

/** `docs.zip` → `docs.part-2.zip`; `docs` → `docs/part-2` */
function partPlace(out: string, part: { readonly number: number; readonly of: number }): string {
  const number = String(part.number).padStart(String(part.of).length, '0')
  return /\.zip$/i.test(out) ? out.replace(/(\.zip)$/i, `.part-${number}$1`) : join(out, `part-${number}`)
}

function emptyError(folder: string, chunked: ChunkedFolder, pack: Pack): PharosError {
  const skipped = chunked.skipped.length
  const problem =
    skipped + pack.warnings.length + chunked.files.length === 0
      ? 'the folder is empty'
      : `${countOf(chunked.files.length, 'file')} without text, ${skipped} skipped, ${countOf(pack.warnings.length, 'warning')}`
  return new PharosError('SOURCE_EMPTY', { path: folder, problem })
}

function reportPack(terminal: Terminal, pack: Pack, chunked: ChunkedFolder, places: readonly string[]): void {
  const tokens = pack.chunks.reduce((sum, chunk) => sum + chunk.tokenEstimate, 0)
  const counts = new Map<string, number>()
  for (const { reason } of chunked.skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  for (const { path, reason } of chunked.skipped) terminal.detail(`skipped ${printable(path)} (${reason})`)
  for (const warning of pack.warnings) terminal.detail(`warning ${printable(warning.path)}: ${warning.message}`)
  const isFresh = chunked.filesCut === pack.files.length
  terminal.note(
    [
      countOf(pack.files.length, 'file'),
      countOf(pack.chunks.length, 'chunk'),
      `about ${countOf(tokens, 'token')}`,
      ...(isFresh ? [] : [`${countOf(chunked.filesRead, 'file')} read, ${chunked.filesCut} cut anew`]),
    ].join(', '),
  )
  if (counts.size > 0) terminal.note(`skipped: ${[...counts].map(([reason, n]) => `${n} ${reason}`).join(', ')}`)
  if (pack.warnings.length > 0) {
    const more = terminal.isVerbose ? '' : ' (--verbose lists them)'
    terminal.note(pc.yellow(`${countOf(pack.warnings.length, 'warning')}${more}`))
  }
  terminal.answer(places.join('\n'), {
    out: places,
    index_id: pack.indexId,
    files: pack.files.length,
    chunks: pack.chunks.length,
    token_estimate: tokens,
    files_read: chunked.filesRead,
    files_cut: chunked.filesCut,
    skipped: chunked.skipped,
    warnings: pack.warnings,
    bytes: places.reduce((sum, place) => sum + (place.endsWith('.zip') ? statSync(place).size : 0), 0),
  })
  if (process.stdout.isTTY) terminal.note(pc.dim(`search it: pharos search "…" --pack ${places[0]}`))
}
