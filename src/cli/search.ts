import { type Command, Option } from 'commander'
import pc from 'picocolors'
import { KINDS, type Kind } from '../core/model.ts'
import type { PackHit } from '../core/pack/search-pack.ts'
import { wholeNumber } from './options.ts'
import { addPackedOptions, openPacked, type PackedFlags } from './packed.ts'
import { printable, Terminal } from './terminal.ts'

interface SearchFlags extends PackedFlags {
  readonly limit: number
  readonly path?: string
  readonly pathPrefix?: string
  readonly kind?: Kind
  readonly heading?: string
  readonly symbol?: string
  readonly explain: boolean
}

/** `pharos search <query>` */
export function addSearch(program: Command): void {
  const command = program
    .command('search')
    .description('find the chunks of a pack that answer a question')
    .argument('<words...>', 'what to look for')
    .option('-n, --limit <count>', 'most hits to print', wholeNumber(1), 10)
    .option('--path <path>', 'only this file')
    .option('--path-prefix <prefix>', 'only files whose path begins so')
    .addOption(new Option('--kind <kind>', 'only files of this kind').choices(KINDS))
    .option('--heading <prefix>', 'only below this heading (parts joined by /)')
    .option('--symbol <prefix>', 'only definitions whose name begins so')
    .option('--explain', 'show where each score comes from', false)
    .addHelpText('after', '\nExample:\n  $ pharos search "retry after" --pack docs.zip --limit 3')
  addPackedOptions(command).action((words: string[], flags: SearchFlags) => {
    const terminal = new Terminal(flags)
    const hits = openPacked(flags).search.search(words.join(' '), {
      limit: flags.limit,
      path: flags.path,
      pathPrefix: flags.pathPrefix,
      kind: flags.kind,
      headingPrefix: flags.heading,
      symbolPrefix: flags.symbol,
      explain: flags.explain,
    })
    if (hits.length === 0) terminal.note('no hit; fewer or other words, or fewer filters, may find more')
    if (hits.length === 0 && !terminal.isJson) return
    terminal.answer(hits.map(writeHit).join('\n\n'), { query: words.join(' '), hits: hits.map(hitRecord) })
  })
}

function writeHit(hit: PackHit): string {
  const place = `${pc.bold(hit.chunkRef)}  ${pc.cyan(`${printable(hit.path)}:${hit.startLine}-${hit.endLine}`)}  ${hit.score.toFixed(2)}`
  const headings = hit.headingPath.length === 0 ? [] : [pc.dim(printable(hit.headingPath.join(' > ')))]
  return [place, ...headings, printable(hit.snippet), ...writeExplanation(hit)].join('\n')
}

function writeExplanation({ explain }: PackHit): string[] {
  if (explain === undefined) return []
  const parts = explain.parts.map(({ word, field, terms, score, documents }) => {
    return pc.dim(`  ${score.toFixed(3)}  ${word} in ${field} (${terms.join(', ')}; ${documents} chunks have it)`)
  })
  return explain.pairs === 0 ? parts : [...parts, pc.dim(`  ${explain.pairs.toFixed(3)}  neighbouring words`)]
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
