import type { Command } from 'commander'
import { PharosError, usageError } from '../../core/errors.ts'
import { chunkRecord } from '../../core/pack/index-json.ts'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { listPackageFacts } from '../../library/search/display-text.ts'
import { findChunk } from '../../library/search/find-chunk.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import { printableLabel, withLibrary } from '../library.ts'
import { configOf } from '../options/options.ts'
import { addPackOption, openGivenPack, type PackOptionFlags } from '../options/pack-option.ts'
import { printable, printableLine, type Streams, Terminal } from '../terminal.ts'
import { agesOf } from '../text/hit-text.ts'

/** `pharos get <chunk>` */
export function addGet(program: Command, streams: Streams): void {
  const command = program
    .command('get')
    .description('print a chunk exactly, with its citation')
    .argument('<chunk>', '<source>/<id>, an id or the beginning of one; in a pack also a ref')
    .addHelpText('after', '\nExamples:\n  $ pharos get guide/3f2a9c01b7d4\n  $ pharos get c0001 --pack docs.zip')
  addPackOption(command).action(async (name: string, flags: PackOptionFlags) => {
    if (name.trim() === '') throw usageError('expected the name of a chunk, got an empty one')
    const terminal = new Terminal(flags, streams)
    if (flags.pack === undefined) await printStored(command, name, terminal)
    else await printPacked(command, name, flags.pack, terminal)
  })
}

/** The form of chunk refs, which exist only inside a pack. */
const REF = /^c\d{4,}$/

async function printStored(command: Command, name: string, terminal: Terminal): Promise<void> {
  if (REF.test(name)) throw usageError(`${name} is a ref of a pack: add --pack <dir|zip>`)
  await withLibrary(configOf(command), async (library) => {
    const found = await findChunk(library, name)
    const { chunk, source, url, title, checkedAt, changedAt } = found
    const versionFields = versionFieldsOf(source, url)
    const facts = [
      printableLabel(source),
      ...listPackageFacts({ source: labelOf(source), ...versionFields }),
      `lines ${chunk.startLine}-${chunk.endLine}`,
      ...agesOf(found, library.clock.now()),
    ]
    printCitation(terminal, [url, chunk.headingPath.join(' > '), facts.join(', ')])
    printContent(terminal, chunk.content, {
      chunk: found.name,
      source: printableLabel(source),
      source_id: source.id,
      version: versionFields.version,
      ...(versionFields.packagePage !== undefined && { package_page: versionFields.packagePage }),
      url,
      title,
      checked_at: isoOrNull(checkedAt),
      changed_at: isoOrNull(changedAt),
      ...chunkRecord(chunk),
    })
  })
}

async function printPacked(command: Command, name: string, packPath: string, terminal: Terminal): Promise<void> {
  const packed = await openGivenPack(command, packPath)
  const found = packed.search.find(name)
  if (found === undefined) {
    const nearest = suggest(findNearest(name, packed.pack.refs))
    throw new PharosError('CHUNK_NOT_FOUND', { chunk: name, pack: packed.name, nearest })
  }
  const { chunk, ref } = found
  printCitation(terminal, [`${chunk.path}:${chunk.startLine}-${chunk.endLine}`, chunk.headingPath.join(' > ')])
  printContent(terminal, chunk.content, { ref, ...chunkRecord(chunk) })
}

/** Prints the origin of a text to stderr. */
export function printCitation(terminal: Terminal, parts: readonly string[]): void {
  terminal.note(
    terminal.noteColors.dim(
      parts
        .filter((part) => part !== '')
        .map(printableLine)
        .join('  '),
    ),
  )
}

function printContent(terminal: Terminal, content: string, record: Record<string, unknown>): void {
  terminal.answer(terminal.isAnswerOnTerminal ? printable(content) : content, record)
}
