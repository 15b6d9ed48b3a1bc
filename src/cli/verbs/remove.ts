import type { Command } from 'commander'
import { PharosError } from '../../core/errors.ts'
import { labelOf } from '../../library/source.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { removeSource } from '../../library/sources/remove-source.ts'
import { reportSource } from '../../library/sources/source-status.ts'
import { AdvisedError } from '../advised-error.ts'
import { addLibraryOptions, createHint, printableLabel, sourceRecord, withLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { countOf, type Streams, Terminal } from '../terminal.ts'

interface RemoveFlags extends CommonFlags {
  readonly force?: boolean
}

/** `pharos remove <source>` */
export function addRemove(program: Command, streams: Streams): void {
  const command = program
    .command('remove')
    .description('remove a source from the library with all its pages, without confirmation')
    .argument('<source>', 'name, name@version, id or start URL of the source')
    .option('--force', 'remove it even while it is being crawled; this stops the crawl')
    .addHelpText('after', '\nExample:\n  $ pharos remove guide@2.0')
  addLibraryOptions(command).action(async (text: string, flags: RemoveFlags) => {
    const terminal = new Terminal(flags, streams)
    const config = configOf(command)
    await withLibrary(config, async (library) => {
      const source = await findSource(library, text)
      if (flags.force !== true && (await reportSource(library, source)).isRunning) {
        const anyway = createHint(config)('remove', labelOf(source), '--force')
        const error = new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
        throw new AdvisedError(error, `wait for it to end, or stop the crawl and remove it: \`${anyway}\``)
      }
      const { pages, chunks } = await removeSource(library, source.id)
      terminal.answer(`removed ${printableLabel(source)}: ${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')}`, {
        removed: sourceRecord(source),
        pages,
        chunks,
      })
    })
  })
}
