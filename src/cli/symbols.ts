import type { Command } from 'commander'
import { findDefinition } from '../core/pack/definition.ts'
import type { Pack } from '../core/pack/pack.ts'
import { compareUtf8 } from '../core/text/order.ts'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { printableLine, type Streams, Terminal } from './terminal.ts'

/** `pharos symbols [file]` */
export function addSymbols(program: Command, streams: Streams): void {
  const command = program
    .command('symbols')
    .description('list the definitions in a file of a pack, or in all files')
    .argument('[file]', 'path of the file; without it those of all files')
    .addHelpText('after', '\nExample:\n  $ pharos symbols src/index.ts --pack repo.zip')
  addPackedOptions(command).action((given: string | undefined, flags: PackedFlags) => {
    const packed = openPacked(command, flags)
    const path = given === undefined ? undefined : fileIn(packed, given).path
    const terminal = new Terminal(flags, streams)
    const symbols = listDefinitions(packed.pack, path)
    if (symbols.length === 0) terminal.note(explainNone(packed.pack))
    if (symbols.length === 0 && !terminal.isJson) return
    const lines = symbols.map((one) => {
      const place = `${printableLine(one.ref)}  ${printableLine(one.path)}:${one.start_line}`
      return `${printableLine(one.symbol)}  ${terminal.answerColors.dim(place)}`
    })
    terminal.answer(lines.join('\n'), { path: path ?? null, symbols })
  })
}

function explainNone({ files }: Pack): string {
  // Of its files a compact pack keeps no digests either; a full one has that of each.
  const isCompact = files.every(({ sha256 }) => sha256 === '')
  if (isCompact) return 'no definitions: a compact pack keeps no symbols; pack again without --compact'
  return 'no definitions: this is text, or code without a grammar'
}

/** Sorted by name; a definition cut into several chunks stands at its first. */
function listDefinitions(pack: Pack, path: string | undefined) {
  const definitions = new Map<string, { symbol: string; ref: string; path: string; start_line: number }>()
  for (const [i, chunk] of pack.chunks.entries()) {
    const { symbol } = chunk
    const key = `${chunk.path}\n${symbol}`
    if (symbol === null || (path !== undefined && chunk.path !== path) || definitions.has(key)) continue
    const start_line = findDefinition(chunk)?.line ?? chunk.startLine
    definitions.set(key, { symbol, ref: pack.refs[i] ?? '', path: chunk.path, start_line })
  }
  return [...definitions.values()].sort((a, b) => compareUtf8(a.symbol, b.symbol))
}
