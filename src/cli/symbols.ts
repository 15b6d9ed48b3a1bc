import type { Command } from 'commander'
import pc from 'picocolors'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { printable, Terminal } from './terminal.ts'

/** `pharos symbols [file]` */
export function addSymbols(program: Command): void {
  const command = program
    .command('symbols')
    .description('list the definitions in a file of a pack, or in all files')
    .argument('[file]', 'path of the file; without it those of all files')
    .addHelpText('after', '\nExample:\n  $ pharos symbols src/index.ts --pack repo.zip')
  addPackedOptions(command).action((path: string | undefined, flags: PackedFlags) => {
    const packed = openPacked(flags)
    if (path !== undefined) fileIn(packed, path, flags)
    const terminal = new Terminal(flags)
    const places = new Map<string, string>()
    packed.pack.chunks.forEach((chunk, i) => {
      if (chunk.symbol === null || (path !== undefined && chunk.path !== path) || places.has(chunk.symbol)) return
      places.set(chunk.symbol, `${packed.pack.refs[i]} ${chunk.path}:${chunk.startLine}`)
    })
    const symbols = packed.search.listSymbols(path)
    if (symbols.length === 0) terminal.note('no definitions: this is text, or code without a grammar')
    if (symbols.length === 0 && !terminal.isJson) return
    const lines = symbols.map((symbol) => `${printable(symbol)}  ${pc.dim(printable(places.get(symbol) ?? ''))}`)
    terminal.answer(lines.join('\n'), { path: path ?? null, symbols })
  })
}
