import type { Command } from 'commander'
import { chunkLabel } from '../core/pack/label.ts'
import { groupByFile } from '../core/pack/tables.ts'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { countOf, printableLine, type Streams, Terminal } from './terminal.ts'

/** `pharos outline [file]` */
export function addOutline(program: Command, streams: Streams): void {
  const command = program
    .command('outline')
    .description('print the structure of a file in a pack, or the list of its files')
    .argument('[file]', 'path of the file; without it all files are listed')
    .addHelpText('after', '\nExample:\n  $ pharos outline README.md --pack docs.zip')
  addPackedOptions(command).action((path: string | undefined, flags: PackedFlags) => {
    const packed = openPacked(command, flags)
    const terminal = new Terminal(flags, streams)
    const { bold, dim } = terminal.answerColors
    const groups = groupByFile(packed.pack)
    if (path === undefined) {
      const files = groups.map(({ file, chunks }) => ({ path: file.path, kind: file.kind, chunks: chunks.length }))
      const lines = files.map(
        (file) => `${printableLine(file.path)}  ${dim(`${file.kind}, ${countOf(file.chunks, 'chunk')}`)}`,
      )
      terminal.answer(lines.join('\n'), { files })
      return
    }
    const file = fileIn(packed, path)
    const group = groups.find((one) => one.file === file)
    const chunks = (group?.chunks ?? []).map((chunk, i) => {
      return {
        ref: group?.refs[i] ?? '',
        start_line: chunk.startLine,
        end_line: chunk.endLine,
        depth: chunk.headingPath.length,
        label: chunkLabel(chunk),
      }
    })
    const text = chunks.map(({ ref, start_line, end_line, depth, label }) => {
      const indent = '  '.repeat(Math.max(0, depth - 1))
      return `${bold(printableLine(ref))} ${indent}${printableLine(label)}  ${dim(`${start_line}-${end_line}`)}`
    })
    terminal.answer(text.join('\n'), {
      path: file.path,
      kind: file.kind,
      line_count: file.lineCount,
      headings: packed.search.listOutline(file.path),
      chunks: chunks.map(({ depth, ...chunk }) => chunk),
    })
  })
}
