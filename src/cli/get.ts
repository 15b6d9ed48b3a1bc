import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import { chunkRecord } from '../core/pack/index-json.ts'
import { findNearest } from '../core/text/nearest.ts'
import { addPackedOptions, openPacked, type PackedFlags, suggest } from './packed.ts'
import { printable, printableLine, type Streams, Terminal } from './terminal.ts'

/** `pharos get <chunk>` */
export function addGet(program: Command, streams: Streams): void {
  const command = program
    .command('get')
    .description('print a chunk of a pack exactly, with its citation')
    .argument('<chunk>', 'its ref (c0001), its id, or the beginning of its id')
    .addHelpText('after', '\nExample:\n  $ pharos get c0001 --pack docs.zip')
  addPackedOptions(command).action((name: string, flags: PackedFlags) => {
    const packed = openPacked(command, flags)
    const found = packed.search.find(name)
    if (found === undefined) {
      const nearest = suggest(findNearest(name, packed.pack.refs))
      throw new PharosError('CHUNK_NOT_FOUND', { chunk: name, pack: packed.name, nearest })
    }
    const { chunk, ref } = found
    const terminal = new Terminal(flags, streams)
    const place = printableLine(`${chunk.path}:${chunk.startLine}-${chunk.endLine}`)
    const headings = chunk.headingPath.length === 0 ? '' : `  ${printableLine(chunk.headingPath.join(' > '))}`
    terminal.note(terminal.noteColors.dim(place + headings))
    terminal.answer(terminal.isRead ? printable(chunk.content) : chunk.content, { ref, ...chunkRecord(chunk) })
  })
}
