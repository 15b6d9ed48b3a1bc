import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { listDefinitions } from '../../core/pack/definition.ts'
import { isCompactPack, type Pack } from '../../core/pack/pack.ts'
import { countOf } from '../../core/text/count.ts'
import { compareUtf8 } from '../../core/text/order.ts'
import { isSourceGivenAsPage } from '../../library/search/find-page.ts'
import { listSymbols } from '../../library/search/list-symbols.ts'
import { AdvisedError } from '../advised-error.ts'
import { createHint, withLibrary } from '../library.ts'
import { configOf, nonEmptyText, wholeNumber } from '../options/options.ts'
import { addPackOption, findFile, openGivenPack, type PackOptionFlags, refuseFlags } from '../options/pack-option.ts'
import { printableLine, type Streams, Terminal, writeLink } from '../terminal.ts'

interface SymbolsFlags extends PackOptionFlags {
  readonly source?: string
  readonly prefix?: string
  readonly limit?: number
}

/** `pharos symbols [page]` */
export function addSymbols(program: Command, streams: Streams): void {
  const command = program
    .command('symbols')
    .description('list what a page, a source, a pack or one of its files defines')
    .argument('[page]', 'address of a stored page, or path of a file in the pack')
    .option('--source <source>', 'only this source of the library', nonEmptyText('--source'))
    .option(
      '--prefix <prefix>',
      'only names that begin with this text, or whose part after the last dot begins with it',
      nonEmptyText('--prefix'),
    )
    .option('-n, --limit <count>', 'maximum number of definitions (default: 100)', wholeNumber('--limit', 1))
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos symbols --source python --prefix dump\n  $ pharos symbols src/index.ts --pack repo.zip',
    )
  addPackOption(command).action(async (page: string | undefined, flags: SymbolsFlags) => {
    const terminal = new Terminal(flags, streams)
    if (flags.pack === undefined) await listStored(command, page, flags, terminal)
    else await listPacked(command, page, { ...flags, pack: flags.pack }, terminal)
  })
}

async function listStored(
  command: Command,
  url: string | undefined,
  { source, prefix, limit }: SymbolsFlags,
  terminal: Terminal,
): Promise<void> {
  if (url?.trim() === '') throw usageError('expected an address, got an empty one')
  const config = configOf(command)
  await withLibrary(config, async (library) => {
    const listed = listSymbols(library, { url, source, prefix, limit }).catch((error: unknown) => {
      const command = createHint(config)('symbols', '--source', url ?? '')
      const advice = `list the definitions of the whole source: \`${command}\``
      throw isSourceGivenAsPage(error) ? new AdvisedError(error, advice) : error
    })
    const { symbols, hasMore, stoppedAfter } = await listed
    if (symbols.length === 0) terminal.note(writeNoDefinitions(prefix))
    if (hasMore) terminal.note(writeMore(symbols.length))
    if (stoppedAfter !== null)
      terminal.note(`only ${countOf(stoppedAfter, 'page')} were searched; --source or --prefix narrows them down`)
    if (symbols.length === 0 && !terminal.isJson) return
    const { dim } = terminal.answerColors
    const lines = symbols.map((definition) => {
      const signature = printableLine(definition.signature)
      const linkedSignature = terminal.hasLinks ? writeLink(signature, definition.url) : signature
      // Signatures are long: at a terminal the address goes on its own line, in a pipe each definition stays on one line.
      const location = dim(printableLine(`${definition.url}  line ${definition.line}`))
      return `${linkedSignature}${terminal.isAnswerOnTerminal ? '\n   ' : '  '}${location}`
    })
    terminal.answer(lines.join('\n'), { symbols, has_more: hasMore })
  })
}

/** Maximum number of definitions of a pack that are listed, as of a library. */
const DEFAULT_LIMIT = 100

function writeMore(count: number): string {
  return `only the first ${count}; --prefix narrows them down, --limit lists more`
}

function writeNoDefinitions(prefix: string | undefined): string {
  if (prefix === undefined) return 'no definitions: the pages contain no signatures'
  return `no definitions that begin with ${printableLine(prefix)}`
}

async function listPacked(
  command: Command,
  given: string | undefined,
  flags: SymbolsFlags & { readonly pack: string },
  terminal: Terminal,
): Promise<void> {
  refuseFlags(flags, ['source'], 'is for the library, not for a pack')
  const packed = await openGivenPack(command, flags.pack)
  const path = given === undefined ? undefined : findFile(packed, given).path
  const { prefix, limit = DEFAULT_LIMIT } = flags
  const all = listDefinitions(packed.pack, path, prefix).sort((a, b) => compareUtf8(a.name, b.name))
  const symbols = all
    .slice(0, limit)
    .map(({ name: symbol, line: start_line, ...rest }) => ({ symbol, start_line, ...rest }))
  const hasMore = all.length > symbols.length
  if (symbols.length === 0) terminal.note(writeNoPackDefinitions(packed.pack, prefix))
  if (hasMore) terminal.note(writeMore(symbols.length))
  if (symbols.length === 0 && !terminal.isJson) return
  const lines = symbols.map((definition) => {
    const location = `${printableLine(definition.ref)}  ${printableLine(definition.path)}:${definition.start_line}`
    return `${printableLine(definition.symbol)}  ${terminal.answerColors.dim(location)}`
  })
  terminal.answer(lines.join('\n'), { path: path ?? null, symbols, has_more: hasMore })
}

function writeNoPackDefinitions(pack: Pack, prefix: string | undefined): string {
  if (prefix !== undefined && !isCompactPack(pack)) return writeNoDefinitions(prefix)
  if (isCompactPack(pack)) return 'no definitions: a compact pack keeps no symbols; pack again with --full'
  return 'no definitions: this is text, or code without a grammar'
}
