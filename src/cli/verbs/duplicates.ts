import type { Command } from 'commander'
import { fillPageSignatures } from '../../library/crawl/fill-page-signatures.ts'
import {
  DEFAULT_GROUPS,
  type DuplicateGroup,
  type DuplicateList,
  listDuplicates,
} from '../../library/search/list-duplicates.ts'
import { addLibraryOptions, withLibrary } from '../library.ts'
import { type CommonFlags, configOf, wholeNumber } from '../options/options.ts'
import { type Colors, countOf, printableLine, type Streams, Terminal } from '../terminal.ts'

interface DuplicatesFlags extends CommonFlags {
  readonly limit: number
  readonly offset: number
}

/** `pharos duplicates [source]` */
export function addDuplicates(program: Command, streams: Streams): void {
  const command = program
    .command('duplicates')
    .description('list nearly identical pages, including other versions and translations')
    .argument('[source]', 'only this source, by name with all its versions')
    .option('-n, --limit <count>', 'maximum number of groups', wholeNumber('--limit', 1), DEFAULT_GROUPS)
    .option('--offset <count>', 'groups to skip', wholeNumber('--offset', 0), 0)
    .addHelpText(
      'after',
      '\nA search shows one page of each group, and names the others beside it.\n\nExamples:\n  $ pharos duplicates\n  $ pharos duplicates guide --json',
    )
  addLibraryOptions(command).action(async (source: string | undefined, flags: DuplicatesFlags) => {
    const terminal = new Terminal(flags, streams)
    const { limit, offset } = flags
    await withLibrary(configOf(command), async (library) => {
      const filled = await fillPageSignatures(library)
      if (filled > 0) terminal.note(`${countOf(filled, 'page')} stored by an older version now checked for duplicates`)
      const list = await listDuplicates(library, { source, limit, offset })
      const { groups, groupCount } = list
      if (groups.length > 0 || terminal.isJson) {
        const text = groups.map((group) => writeGroup(group, terminal.answerColors)).join('\n\n')
        terminal.answer(text, duplicatesRecord(list))
      }
      terminal.note(describeList(list))
      const nextOffset = offset + groups.length
      if (groups.length > 0 && nextOffset < groupCount) terminal.note(`next: --offset ${nextOffset}`)
    })
  })
}

function writeGroup({ count, pages }: DuplicateGroup, colors: Colors): string {
  const lines = pages.map(({ url, source, language }) => {
    const facts = [source, ...(language === null ? [] : [language])].join(', ')
    return `  ${colors.cyan(printableLine(url))}  ${colors.dim(printableLine(facts))}`
  })
  const rest = count > pages.length ? [`  and ${countOf(count - pages.length, 'more page')}`] : []
  return [colors.bold(printableLine(pages[0]?.title ?? '')), ...lines, ...rest].join('\n')
}

function describeList({ groupCount, pageCount, compared, unknown }: DuplicateList): string {
  const found = `${countOf(groupCount, 'group')} of ${countOf(pageCount, 'page')} among ${countOf(compared, 'page')}`
  if (unknown === 0) return found
  return `${found}; not compared yet: ${countOf(unknown, 'page')}`
}

function duplicatesRecord({
  groups,
  groupCount,
  pageCount,
  compared,
  unknown,
}: DuplicateList): Record<string, unknown> {
  return {
    groups: groups.map(({ count, pages }) => ({
      count,
      pages: pages.map(({ sourceId, ...page }) => ({ ...page, source_id: sourceId })),
    })),
    group_count: groupCount,
    page_count: pageCount,
    compared,
    unknown,
  }
}
