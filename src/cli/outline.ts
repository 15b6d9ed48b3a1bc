import type { Command } from 'commander'
import pc from 'picocolors'
import { chunkLabel } from '../core/pack/label.ts'
import { groupByFile } from '../core/pack/tables.ts'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { countOf, printable, Terminal } from './terminal.ts'

/** `pharos outline [file]` */
export function addOutline(program: Command): void {
  const command = program
    .command('outline')
    .description('print the structure of a file in a pack, or the list of its files')
    .argument('[file]', 'path of the file; without it all files are listed')
    .addHelpText('after', '\nExample:\n  $ pharos outline README.md --pack docs.zip')
  addPackedOptions(command).action((path: string | undefined, flags: PackedFlags) => {
    const packed = openPacked(flags)
    const terminal = new Terminal(flags)
    const groups = groupByFile(packed.pack)
    if (path === undefined) {
      const files = groups.map(({ file, chunks }) => ({ path: file.path, kind: file.kind, chunks: chunks.length }))
      const lines = files.map(
        (file) => `${printable(file.path)}  ${pc.dim(`${file.kind}, ${countOf(file.chunks, 'chunk')}`)}`,
      )
      terminal.answer(lines.join('\n'), { files })
      return
    }
    const file = fileIn(packed, path, flags)
    const group = groups.find((one) => one.file.path === path)
    const chunks = (group?.chunks ?? []).map((chunk, i) => {
      return {
        ref: group?.refs[i],
        lines: [chunk.startLine, chunk.endLine],
        depth: chunk.headingPath.length,
        label: chunkLabel(chunk),
      }
    })
    const text = chunks.map(({ ref, lines, depth, label }) => {
      return `${'  '.repeat(Math.max(0, depth - 1))}${pc.bold(ref ?? '')} ${pc.dim(`(${lines.join('-')})`)} ${printable(label)}`
    })
    terminal.answer(text.join('\n'), {
      path,
      kind: file.kind,
      lines: file.lineCount,
      headings: packed.search.listOutline(path),
      chunks: chunks.map(({ depth, ...chunk }) => chunk),
    })
  })
}
