import type { Command } from 'commander'
import { PharosError } from '../../core/errors.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { findOtherMachine } from '../../library/sources/other-machine.ts'
import { type RememberedHit, readLastHits } from '../last-search.ts'
import { addLibraryOptions, withLibrary } from '../library.ts'
import { openInBrowser } from '../open-in-browser.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'

/** `pharos open [n|source]` */
export function addOpen(program: Command, streams: Streams): void {
  const command = program
    .command('open')
    .description('open a hit of the last search, or a source, in the browser')
    .argument('[n|source]', 'number of the hit (default: 1), or the name of a source')
    .addHelpText('after', '\nExamples:\n  $ pharos open 2\n  $ pharos open guide')
  addLibraryOptions(command).action(async (what: string | undefined, flags: CommonFlags) => {
    const terminal = new Terminal(flags, streams)
    const isNumber = /^\d+$/.test(what ?? '1')
    const { url: address, machine } = isNumber ? findHit(Number(what ?? 1)) : await findStart(command, what ?? '')
    if (machine !== undefined) {
      // The same path on this machine holds something else.
      const problem = `it is on the machine ${machine}`
      throw new PharosError('OPEN_FAILED', { address, problem, advice: 'open it there, or read it with `pharos read`' })
    }
    await openInBrowser(address)
    terminal.answer(printableLine(address), { opened: address })
  })
}

function findHit(number: number): RememberedHit {
  const hits = readLastHits()
  const hit = hits?.[number - 1]
  if (hit !== undefined) return hit
  const problem =
    hits === undefined
      ? 'no search is remembered'
      : `there is no hit ${number}, because the last search has ${countOf(hits.length, 'hit')} with an address`
  throw new PharosError('USAGE', { problem, advice: 'search first: `pharos search "…"`' })
}

function findStart(command: Command, name: string): Promise<RememberedHit> {
  return withLibrary(configOf(command), async (library) => {
    const source = await findSource(library, name)
    return { url: source.url, machine: findOtherMachine(library, source) }
  })
}
