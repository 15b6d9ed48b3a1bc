import type { Command } from 'commander'
import { writeBytes } from '../../core/text/bytes.ts'
import { isoOrNull, writeTime } from '../../core/text/iso-time.ts'
import type { VectorSpace } from '../../library/ports/vectors.ts'
import { listIncompleteCopies, writeIncompleteCopies } from '../incomplete-copies.ts'
import { addLibraryOptions, withLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { printableLine, type Streams, Terminal, writeNumber } from '../terminal.ts'
import { writeAge } from '../text/hit-text.ts'

/** `pharos stats` */
export function addStats(program: Command, streams: Streams): void {
  const command = program
    .command('stats')
    .description('show the size of the library')
    .addHelpText('after', '\nExample:\n  $ pharos stats --json')
  addLibraryOptions(command).action(async (flags: CommonFlags) => {
    const terminal = new Terminal(flags, streams)
    const config = configOf(command)
    await withLibrary(config, async (library) => {
      const { store, vectors, clock } = library
      const incompleteCopies = await listIncompleteCopies(library)
      const { sources, pages, chunks, bytes, changedAt } = await store.stats()
      const space = (await vectors?.readSpace()) ?? null
      const { embedded, refused } = (await vectors?.count()) ?? { embedded: 0, refused: 0 }
      const changed = changedAt === null ? 'never' : `${writeTime(changedAt)} (${writeAge(changedAt, clock.now())})`
      const text = [
        `Library: ${printableLine(store.location)}`,
        `Sources: ${writeNumber(sources)}`,
        `Pages: ${writeNumber(pages)}`,
        `Chunks: ${writeNumber(chunks)}`,
        `Vectors: ${space === null ? 'none, search matches words only' : writeVectors(space, { embedded, refused, chunks })}`,
        `Size: ${writeBytes(bytes)}`,
        `Last change: ${changed}`,
        ...writeIncompleteCopies(incompleteCopies, config),
      ]
      terminal.answer(text.join('\n'), {
        library: store.location,
        sources,
        pages,
        chunks,
        bytes,
        changed_at: isoOrNull(changedAt),
        unfinished_copies: incompleteCopies,
        vectors:
          space === null
            ? null
            : { embedded, refused, model: space.model, fingerprint: space.fingerprint, dimensions: space.dimensions },
      })
    })
  })
}

/** `12,345 (95%) of the chunks, 3 refused, by small (384 dimensions)` */
function writeVectors(
  { model, dimensions }: VectorSpace,
  { embedded, refused, chunks }: Readonly<Record<'embedded' | 'refused' | 'chunks', number>>,
): string {
  const refusedText = refused === 0 ? '' : `, ${writeNumber(refused)} refused`
  return printableLine(
    `${writeShare(embedded, chunks - refused)} of the chunks${refusedText}, by ${model} (${dimensions} dimensions)`,
  )
}

/** `12,345 (95%)`: rounded down, so that 100 % means complete. */
function writeShare(part: number, whole: number): string {
  const percent = whole === 0 ? 100 : Math.floor((part * 100) / whole)
  return `${writeNumber(part)} (${percent}%)`
}
