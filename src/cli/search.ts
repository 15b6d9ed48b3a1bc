import type { Command } from 'commander'
import { KINDS, type Kind } from '../core/model.ts'
import type { PackHit } from '../core/pack/search-pack.ts'
import { oneOf, wholeNumber } from './options.ts'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { type Colors, printableLine, type Streams, Terminal } from './terminal.ts'

interface SearchFlags extends PackedFlags {
  readonly limit: number
  readonly path?: string
  readonly pathPrefix?: string
  readonly kind?: Kind
  readonly heading?: string
  readonly symbol?: string
  readonly explain?: boolean
}

/** `pharos search <query>` */
export function addSearch(program: Command, streams: Streams): void {
  const command = program
    .command('search')
    .description('find the chunks of a pack that answer a question')
    .argument('<words...>', 'what to look for')
    .option('-n, --limit <count>', 'most hits to print', wholeNumber('--limit', 1), 10)
    .option('--path <path>', 'only this file')
    .option('--path-prefix <prefix>', 'only files whose path begins so')
    .option('--kind <kind>', `only files of this kind: ${KINDS.join(', ')}`, oneOf('--kind', KINDS))
    .option('--heading <prefix>', 'only below this heading (parts joined by /)')
    .option('--symbol <prefix>', 'only definitions whose name begins so')
    .option('--explain', 'show where each score comes from')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos search "retry after" --pack docs.zip --limit 3\n  $ pharos search --pack docs.zip -- --max-pages',
    )
  addPackedOptions(command).action((words: string[], flags: SearchFlags) => {
    const terminal = new Terminal(flags, streams)
    const packed = openPacked(command, flags)
    const hits = packed.search.search(words.join(' '), {
      limit: flags.limit,
      path: flags.path === undefined ? undefined : fileIn(packed, flags.path).path,
      pathPrefix: flags.pathPrefix,
      kind: flags.kind,
      headingPrefix: flags.heading,
      symbolPrefix: flags.symbol,
      explain: flags.explain,
    })
    if (hits.length === 0) terminal.note('no hits; other words or fewer filters may find some')
    if (hits.length === 0 && !terminal.isJson) return
    terminal.answer(hits.map((hit) => writeHit(hit, terminal.answerColors)).join('\n\n'), {
      query: words.join(' '),
      hits: hits.map(hitRecord),
    })
  })
}

function writeHit(hit: PackHit, colors: Colors): string {
  const citation = colors.cyan(`${printableLine(hit.path)}:${hit.startLine}-${hit.endLine}`)
  const place = `${colors.bold(printableLine(hit.chunkRef))}  ${citation}  ${hit.score.toFixed(2)}`
  const headings = hit.headingPath.length === 0 ? [] : [colors.dim(printableLine(hit.headingPath.join(' > ')))]
  return [place, ...headings, printableLine(hit.snippet), ...writeExplanation(hit, colors)].join('\n')
}

function writeExplanation({ explain }: PackHit, colors: Colors): string[] {
  if (explain === undefined) return []
  const parts = explain.parts.map(({ word, field, terms, score, documents }) => {
    const found = printableLine(`${word} in ${field} (${terms.join(', ')}; ${documents} chunks have it)`)
    return colors.dim(`  ${score.toFixed(3)}  ${found}`)
  })
  return explain.pairs === 0 ? parts : [...parts, colors.dim(`  ${explain.pairs.toFixed(3)}  neighbouring words`)]
}

function hitRecord(hit: PackHit): Record<string, unknown> {
  return {
    chunk_id: hit.chunkId,
    chunk_ref: hit.chunkRef,
    score: hit.score,
    path: hit.path,
    start_line: hit.startLine,
    end_line: hit.endLine,
    snippet: hit.snippet,
    heading_path: hit.headingPath,
    ...(hit.explain === undefined ? {} : { explain: hit.explain }),
  }
}
