import type { Command } from 'commander'
import { isoOrNull, writeTime } from '../../core/text/iso-time.ts'
import { type ChangeList, compareVersions, DEFAULT_CHANGES } from '../../library/changes/compare-versions.ts'
import { type ChangeText, writeChanges } from '../../library/changes/write-changes.ts'
import { labelOf } from '../../library/source.ts'
import { addLibraryOptions, printableLabel, withLibrary } from '../library.ts'
import { type CommonFlags, configOf, nonEmptyText, wholeNumber } from '../options/options.ts'
import { type Colors, printableLine, type Streams, Terminal } from '../terminal.ts'

interface ChangesFlags extends CommonFlags {
  readonly from?: string
  readonly to?: string
  readonly for?: string
  readonly limit: number
}

/** `pharos changes <source>` */
export function addChanges(program: Command, streams: Streams): void {
  const command = program
    .command('changes')
    .description(
      'compare two versions of a source, or its last two crawls: removed and changed names, deprecations, text',
    )
    .argument(
      '<source>',
      'name of a source; one without other versions is compared with its state before its last crawl',
    )
    .option('--from <version>', 'older version or range (default: the version before --to)', nonEmptyText('--from'))
    .option('--to <version>', 'newer version or range (default: the newest)', nonEmptyText('--to'))
    .option('--for <folder>', 'only what the code in this folder imports or mentions', nonEmptyText('--for'))
    .option('-n, --limit <count>', 'maximum number of changes of each kind', wholeNumber('--limit', 1), DEFAULT_CHANGES)
    .addHelpText(
      'after',
      '\nMigration guides and changelogs of the newer version come first.\n\nExamples:\n  $ pharos changes zod --from 3 --to 4\n  $ pharos changes zod --from 3 --to 4 --for ./src\n  $ pharos changes guide --json',
    )
  addLibraryOptions(command).action(async (source: string, flags: ChangesFlags) => {
    const terminal = new Terminal(flags, streams)
    const { from, to, limit } = flags
    const folder = flags.for
    await withLibrary(configOf(command), async (library) => {
      const readUses = async (name: string) => {
        const { readUsedNames } = await import('../../ingest/read-used-names.ts')
        const used = await readUsedNames(folder ?? '.', name)
        if (used.files === 0) terminal.note(`no file in ${printableLine(folder ?? '.')} imports ${printableLine(name)}`)
        return used
      }
      const list = await compareVersions(library, {
        source,
        from,
        to,
        limit,
        ...(folder === undefined ? {} : { readUses }),
      })
      for (const notice of list.notices) terminal.note(printableLine(notice))
      const parts = writeChanges(list)
      if (parts.length > 0 || terminal.isJson) {
        const text = parts.map((part) => writePart(part, terminal.answerColors)).join('\n\n')
        terminal.answer(text, changesRecord(list))
      }
      const label =
        list.crawl === null
          ? `${printableLabel(list.from)} → ${printableLabel(list.to)}`
          : `${printableLabel(list.to)}, in its last crawl (${writeTime(list.crawl.startedAt)})`
      const scope = folder === undefined ? '' : ` that ${printableLine(folder)} uses`
      const isCut = list.groups.some(({ total, changes }) => total > changes.length)
      terminal.note(
        parts.length === 0
          ? `${label}: nothing changed${scope}`
          : `${label}${isCut ? '; --limit lists more of each kind' : ''}`,
      )
    })
  })
}

function writePart({ title, entries, more }: ChangeText, colors: Colors): string {
  const lines = entries.flatMap((entry) => [
    `  ${colors.cyan(printableLine(entry.title))}  ${colors.dim(printableLine(entry.url))}`,
    ...entry.lines.map((line) => `      ${colorLine(printableLine(line), colors)}`),
  ])
  return [colors.bold(printableLine(title)), ...lines, ...(more === null ? [] : [`  ${more}`])].join('\n')
}

function colorLine(line: string, colors: Colors): string {
  if (line.startsWith('- ')) return colors.red(line)
  return line.startsWith('+ ') ? colors.green(line) : line
}

function changesRecord({ from, to, crawl, notes, groups, notices }: ChangeList): Record<string, unknown> {
  return {
    from: labelOf(from),
    to: labelOf(to),
    crawl: crawl === null ? null : { id: crawl.id, kind: crawl.kind, started_at: isoOrNull(crawl.startedAt) },
    notes: notes.map(({ sourceId: _, ...note }) => note),
    changes: groups.flatMap(({ changes }) => {
      return changes.map(({ newName, isOldPage, lostNames, sourceId: _, ...change }) => {
        return { ...change, new_name: newName, is_old_page: isOldPage, lost_names: lostNames }
      })
    }),
    totals: Object.fromEntries(groups.map(({ kind, total }) => [kind, total])),
    notices,
  }
}
