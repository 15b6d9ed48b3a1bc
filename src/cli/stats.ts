import type { Command } from 'commander'
import { writeBytes } from '../core/text/bytes.ts'
import { addLibraryOptions, timeRecord, withLibrary, writeTime } from './library.ts'
import { type CommonFlags, configOf } from './options.ts'
import { printableLine, type Streams, Terminal } from './terminal.ts'

/** `pharos stats` */
export function addStats(program: Command, streams: Streams): void {
  const command = program
    .command('stats')
    .description('tell how large the library is')
    .addHelpText('after', '\nExample:\n  $ pharos stats --json')
  addLibraryOptions(command).action(async (flags: CommonFlags) => {
    const terminal = new Terminal(flags, streams)
    await withLibrary(configOf(command), async ({ store }) => {
      const { sources, pages, chunks, bytes, changedAt } = await store.stats()
      const text = [
        `Library: ${printableLine(store.location)}`,
        `Sources: ${sources.toLocaleString('en')}`,
        `Pages: ${pages.toLocaleString('en')}`,
        `Chunks: ${chunks.toLocaleString('en')}`,
        `Size: ${writeBytes(bytes)}`,
        `Last change: ${changedAt === null ? 'never' : writeTime(changedAt)}`,
      ]
      const changed_at = timeRecord(changedAt)
      terminal.answer(text.join('\n'), { library: store.location, sources, pages, chunks, bytes, changed_at })
    })
  })
}
