import type { Command } from 'commander'
import { findSource } from '../library/operations/find-source.ts'
import { addLibraryOptions, nameOf, sourceRecord, withLibrary } from './library.ts'
import { type CommonFlags, configOf } from './options.ts'
import { countOf, type Streams, Terminal } from './terminal.ts'

/** `pharos remove <source>` */
export function addRemove(program: Command, streams: Streams): void {
  const command = program
    .command('remove')
    .description('remove a source from the library with all its pages; nothing is asked')
    .argument('<source>', 'its name, name@version, id or start URL')
    .addHelpText('after', '\nExample:\n  $ pharos remove guide@2.0')
  addLibraryOptions(command).action(async (text: string, flags: CommonFlags) => {
    const terminal = new Terminal(flags, streams)
    await withLibrary(configOf(command), async (library) => {
      const source = await findSource(library, text)
      const { pages, chunks } = await library.store.removeSource(source.id)
      terminal.answer(`removed ${nameOf(source)}: ${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')}`, {
        removed: sourceRecord(source),
        pages,
        chunks,
      })
    })
  })
}
