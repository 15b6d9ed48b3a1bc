import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Section } from '../../core/model.ts'
import { chunkLabel } from '../../core/pack/label.ts'
import { groupByFile } from '../../core/pack/tables.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { isSourceGivenAsPage } from '../../library/search/find-page.ts'
import { listOutline } from '../../library/search/list-outline.ts'
import { labelOf } from '../../library/source.ts'
import { AdvisedError } from '../advised-error.ts'
import { createHint, printableLabel, withLibrary } from '../library.ts'
import { configOf, nonEmptyText } from '../options/options.ts'
import { addPackOption, findFile, openGivenPack, type PackOptionFlags, refuseFlags } from '../options/pack-option.ts'
import { countOf, printableLine, type Streams, Terminal, writeLink } from '../terminal.ts'
import { agesOf } from '../text/hit-text.ts'
import { printCitation } from './get.ts'

interface OutlineFlags extends PackOptionFlags {
  readonly source?: string
}

/** `pharos outline [page]` */
export function addOutline(program: Command, streams: Streams): void {
  const command = program
    .command('outline')
    .description('print the structure of a stored page, or of a file in a pack')
    .argument('[page]', 'address of the page, or path of the file in the pack (default: list all files of the pack)')
    .option('--source <source>', 'the source of the page, if several have it', nonEmptyText('--source'))
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos outline https://docs.example.com/guide/install\n  $ pharos outline README.md --pack docs.zip',
    )
  addPackOption(command).action(async (page: string | undefined, flags: OutlineFlags) => {
    const terminal = new Terminal(flags, streams)
    if (flags.pack === undefined) await outlinePage(command, page, flags, terminal)
    else await outlinePack(command, page, { ...flags, pack: flags.pack }, terminal)
  })
}

async function outlinePage(
  command: Command,
  url: string | undefined,
  { source }: OutlineFlags,
  terminal: Terminal,
): Promise<void> {
  if (url === undefined || url.trim() === '') {
    const problem = 'expected the address of a page, or --pack <dir|zip> to list the files of a pack'
    throw usageError(problem)
  }
  const config = configOf(command)
  await withLibrary(config, async (library) => {
    const outline = await listOutline(library, { url, source }).catch((error: unknown) => {
      const advice = `give the address of a page: \`${createHint(config)('outline', '<page>', '--source', url)}\``
      throw isSourceGivenAsPage(error) ? new AdvisedError(error, advice) : error
    })
    const facts = [
      printableLabel(outline.source),
      countOf(outline.lines, 'line'),
      ...agesOf(outline, library.clock.now()),
    ]
    printCitation(terminal, [outline.url, outline.title, facts.join(', ')])
    if (outline.sections.length === 0) terminal.note('no headings: the page is all one section')
    if (outline.sections.length === 0 && !terminal.isJson) return
    terminal.answer(writeSections(outline.sections, outline.url, terminal).join('\n'), {
      source: labelOf(outline.source),
      source_id: outline.source.id,
      version: outline.source.version,
      url: outline.url,
      title: outline.title,
      line_count: outline.lines,
      checked_at: isoOrNull(outline.checkedAt),
      changed_at: isoOrNull(outline.changedAt),
      sections: outline.sections.map(sectionRecord),
    })
  })
}

function writeSections(sections: readonly Section[], url: string, terminal: Terminal, depth = 0): string[] {
  const { dim } = terminal.answerColors
  return sections.flatMap(({ title, anchor, startLine, endLine, children }) => {
    const name = printableLine(title)
    const label = terminal.hasLinks && anchor !== null ? writeLink(name, `${url.split('#', 1)[0]}#${anchor}`) : name
    const position = printableLine([`${startLine}-${endLine}`, ...(anchor === null ? [] : [`#${anchor}`])].join('  '))
    return [`${'  '.repeat(depth)}${label}  ${dim(position)}`, ...writeSections(children, url, terminal, depth + 1)]
  })
}

function sectionRecord({ title, level, anchor, startLine, endLine, children }: Section): Record<string, unknown> {
  const record = { title, level, anchor, start_line: startLine, end_line: endLine }
  return { ...record, children: children.map(sectionRecord) }
}

async function outlinePack(
  command: Command,
  path: string | undefined,
  flags: OutlineFlags & { readonly pack: string },
  terminal: Terminal,
): Promise<void> {
  refuseFlags(flags, ['source'], 'is for the library, not for a pack')
  const packed = await openGivenPack(command, flags.pack)
  const { bold, dim } = terminal.answerColors
  const groups = groupByFile(packed.pack)
  if (path === undefined) {
    const files = groups.map(({ file, chunks }) => ({ path: file.path, kind: file.kind, chunks: chunks.length }))
    const lines = files.map(
      (file) => `${printableLine(file.path)}  ${dim(`${file.kind}, ${countOf(file.chunks, 'chunk')}`)}`,
    )
    terminal.answer(lines.join('\n'), { files })
    return
  }
  const file = findFile(packed, path)
  const group = groups.find((candidate) => candidate.file === file)
  const chunks = (group?.chunks ?? []).map((chunk, i) => {
    return {
      ref: group?.refs[i] ?? '',
      start_line: chunk.startLine,
      end_line: chunk.endLine,
      depth: chunk.headingPath.length,
      label: chunkLabel(chunk),
    }
  })
  const text = chunks.map(({ ref, start_line, end_line, depth, label }) => {
    const indent = '  '.repeat(Math.max(0, depth - 1))
    return `${bold(printableLine(ref))} ${indent}${printableLine(label)}  ${dim(`${start_line}-${end_line}`)}`
  })
  terminal.answer(text.join('\n'), {
    path: file.path,
    kind: file.kind,
    line_count: file.lineCount,
    headings: packed.search.listOutline(file.path),
    chunks: chunks.map(({ depth, ...chunk }) => chunk),
  })
}
