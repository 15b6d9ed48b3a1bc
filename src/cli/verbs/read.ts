import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { listPackageFacts } from '../../library/search/display-text.ts'
import { findPage } from '../../library/search/find-page.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import { addLibraryOptions, printableLabel, withLibrary } from '../library.ts'
import { type CommonFlags, configOf, nonEmptyText } from '../options/options.ts'
import { printable, type Streams, Terminal } from '../terminal.ts'
import { agesOf } from '../text/hit-text.ts'
import { printCitation } from './get.ts'

interface ReadFlags extends CommonFlags {
  readonly source?: string
  readonly lines?: LineRange
}

/** A range of lines, inclusive, starting at 1. */
interface LineRange {
  readonly first: number
  /** Infinity for all following lines. */
  readonly last: number
}

/** `pharos read <url>` */
export function addRead(program: Command, streams: Streams): void {
  const command = program
    .command('read')
    .description('print a stored page as Markdown; nothing is fetched')
    .argument('<url>', 'address of the page; with --source, its path is enough')
    .option('--source <source>', 'the source of the page, if several have it', nonEmptyText('--source'))
    .option('--lines <from-to>', 'only these lines, such as 10-40, 10- or 10', parseLines)
    .addHelpText('after', '\nExample:\n  $ pharos read https://docs.example.com/guide/install --lines 10-40')
  addLibraryOptions(command).action(async (url: string, flags: ReadFlags) => {
    if (url.trim() === '') throw usageError('expected an address, got an empty one')
    const terminal = new Terminal(flags, streams)
    await withLibrary(configOf(command), async (library) => {
      const page = await findPage(library, { url, source: flags.source })
      const pageLines = page.markdown.trimEnd().split('\n')
      const { first, last } = flags.lines ?? { first: 1, last: pageLines.length }
      if (first > pageLines.length) {
        const problem = `--lines: expected at most line ${pageLines.length}, the last of the page, got ${first}`
        throw usageError(problem)
      }
      const end = Math.min(last, pageLines.length)
      const text = pageLines.slice(first - 1, end).join('\n')
      const versionFields = versionFieldsOf(page.source, page.url)
      const facts = [
        printableLabel(page.source),
        ...listPackageFacts({ source: labelOf(page.source), ...versionFields }),
        `lines ${first}-${end} of ${pageLines.length}`,
        ...agesOf(page, library.clock.now()),
      ]
      printCitation(terminal, [page.url, page.title, facts.join(', ')])
      terminal.answer(terminal.isAnswerOnTerminal ? printable(text) : text, {
        source: labelOf(page.source),
        source_id: page.sourceId,
        version: versionFields.version,
        ...(versionFields.packagePage !== undefined && { package_page: versionFields.packagePage }),
        url: page.url,
        title: page.title,
        language: page.language,
        start_line: first,
        end_line: end,
        line_count: pageLines.length,
        checked_at: isoOrNull(page.checkedAt),
        changed_at: isoOrNull(page.changedAt),
        markdown: text,
      })
    })
  })
}

function parseLines(text: string): LineRange {
  const [, from, dash, to] = /^(\d{1,9})(-)?(\d{1,9})?$/.exec(text) ?? []
  const first = Number(from)
  const last = to === undefined ? (dash === undefined ? first : Number.POSITIVE_INFINITY) : Number(to)
  if (from !== undefined && first >= 1 && last >= first && !(dash === undefined && to !== undefined))
    return { first, last }
  const problem = `--lines: expected lines such as 10-40, 10- or 10, got ${JSON.stringify(text)}`
  throw usageError(problem)
}
