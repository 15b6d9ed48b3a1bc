import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { addLibraryOptions, createHintFor, sourceRecord, withLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { type Streams, Terminal } from '../terminal.ts'
import { explanationRecord, writeExplanation } from '../text/explanation-text.ts'

/** `pharos explain <source> <url>` */
export function addExplain(program: Command, streams: Streams): void {
  const command = program
    .command('explain')
    .description('show what happened to an address of a source, and why')
    .argument('<source>', 'name, name@version, id or start URL of the source')
    .argument('<url>', 'the address, or path of a file; a relative one starts at the site or folder of the source')
    .addHelpText('after', '\nExample:\n  $ pharos explain guide https://docs.example.com/guide/old')
  addLibraryOptions(command).action(async (text: string, url: string, flags: CommonFlags) => {
    if (url.trim() === '') throw usageError('expected an address, got an empty one')
    const terminal = new Terminal(flags, streams)
    const config = configOf(command)
    await withLibrary(config, async (library) => {
      // Loaded on demand, because it loads the list of public suffixes.
      const { explainUrl } = await import('../../library/sources/explain.ts')
      const source = await findSource(library, text)
      const explanation = await explainUrl(library, source, url)
      const { row } = explanation
      const analysis =
        row?.hasPage === true ? ((await library.findings?.readAnalysis(source.id, row.key)) ?? null) : null
      const hint = await createHintFor(config, source)
      terminal.answer(writeExplanation(explanation, source, hint, library.clock.now(), analysis), {
        source: sourceRecord(source),
        ...explanationRecord(explanation, analysis),
      })
    })
  })
}
