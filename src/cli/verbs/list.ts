import type { Command } from 'commander'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { reportSource } from '../../library/sources/source-status.ts'
import { listIncompleteCopies, writeIncompleteCopies } from '../incomplete-copies.ts'
import {
  addLibraryOptions,
  createHint,
  createHintFor,
  sourceRecord,
  withLibrary,
  writeEmptyLibrary,
} from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { type Streams, Terminal } from '../terminal.ts'
import { partialRecord, refreshRecord, writeRemedies, writeSourceLines } from '../text/status-text.ts'

/** `pharos list` */
export function addList(program: Command, streams: Streams): void {
  const command = program
    .command('list')
    .description('list the sources of the library')
    .addHelpText('after', '\nExample:\n  $ pharos list --json')
  addLibraryOptions(command).action(async (flags: CommonFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    await withLibrary(config, async (library) => {
      const { store, clock } = library
      const reports = []
      for (const source of await store.listSources()) reports.push(await reportSource(library, source))
      const incompleteCopies = await listIncompleteCopies(library)
      for (const line of writeIncompleteCopies(incompleteCopies, config)) terminal.note(line)
      if (reports.length === 0 && incompleteCopies.length === 0)
        terminal.note(writeEmptyLibrary(store.location, createHint(config)))
      if (reports.length === 0 && !terminal.isJson) return
      terminal.answer(writeSourceLines(reports, clock.now()).join('\n'), {
        library: store.location,
        sources: reports.map(({ source, status, pages, chunks, meaning, crawl, shortfall }) => ({
          ...sourceRecord(source),
          status,
          pages,
          chunks,
          meaning,
          partial: partialRecord(shortfall),
          last_crawl_at: isoOrNull(crawl?.endedAt ?? null),
          refresh: refreshRecord(source),
          scope: source.scope,
          settings: source.settings,
        })),
        unfinished_copies: incompleteCopies,
      })
      for (const report of reports) {
        for (const line of writeRemedies(report, await createHintFor(config, report.source))) terminal.note(line)
      }
    })
  })
}
