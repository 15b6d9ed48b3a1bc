import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import { KINDS, type Kind } from '../core/model.ts'
import type { PackHit } from '../core/pack/search-pack.ts'
import { writeSnippet } from '../core/search/snippet.ts'
import { textAnalyzer } from '../core/text/analyzer.ts'
import { findSource } from '../library/operations/find-source.ts'
import { labelOf } from '../library/source.ts'
import type { StoreHit } from '../library/store.ts'
import { createHint, withLibrary } from './library.ts'
import { addSettings, configOf, oneOf, repeat, wholeNumber } from './options.ts'
import { addPackedOptions, fileIn, openPacked, type PackedFlags } from './packed.ts'
import { type Colors, printableLine, type Streams, Terminal } from './terminal.ts'

interface SearchFlags extends PackedFlags {
  readonly source?: readonly string[]
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
    .description('find what answers a question, in the library or in a pack')
    .argument('<words...>', 'what to look for')
    .option('-n, --limit <count>', 'most hits to print', wholeNumber('--limit', 1), 10)
    .option('--source <source>', 'only this source of the library; repeatable', repeat)
    .option('--path <path>', 'only this file')
    .option('--path-prefix <prefix>', 'only files whose path begins so')
    .option('--kind <kind>', `only files of this kind: ${KINDS.join(', ')}`, oneOf('--kind', KINDS))
    .option('--heading <prefix>', 'only below this heading (parts joined by /)')
    .option('--symbol <prefix>', 'only definitions whose name begins so')
    .option('--explain', 'show where each score comes from')
    .addHelpText(
      'after',
      '\nWithout --pack the library is searched; the filters are for packs so far.\n\nExamples:\n  $ pharos search "retry after" --source guide\n  $ pharos search "retry after" --pack docs.zip --limit 3\n  $ pharos search --pack docs.zip -- --max-pages',
    )
  addSettings(addPackedOptions(command), ['library']).action(async (words: string[], flags: SearchFlags) => {
    if (words.join('').trim() === '')
      throw new PharosError('USAGE', { problem: 'expected words to look for, got none' })
    const terminal = new Terminal(flags, streams)
    if (flags.pack === undefined) {
      await searchLibrary(command, words.join(' '), flags, terminal)
      return
    }
    if (flags.source !== undefined)
      throw new PharosError('USAGE', { problem: '--source is for the library, not for a pack' })
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

/** Flags that need a pack. */
const PACK_ONLY = ['path', 'pathPrefix', 'kind', 'heading', 'symbol', 'explain'] as const

async function searchLibrary(command: Command, query: string, flags: SearchFlags, terminal: Terminal): Promise<void> {
  const other = PACK_ONLY.find((name) => flags[name] !== undefined)
  if (other !== undefined) {
    const flag = `--${other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    throw new PharosError('USAGE', { problem: `${flag} is for packs: add --pack <dir|zip>` })
  }
  const config = configOf(command)
  await withLibrary(config, async (library) => {
    const { store } = library
    const sources = await store.listSources()
    if (sources.length === 0 && flags.source === undefined) {
      const add = createHint(config)('add', '<url>')
      terminal.note(`${printableLine(store.location)} has no sources yet; add one: ${add}; or search a pack: --pack`)
    }
    const chosen = []
    for (const name of flags.source ?? []) chosen.push((await findSource(library, name)).id)
    const filter = flags.source === undefined ? {} : { sourceIds: chosen }
    const hits = await store.search({ query, limit: flags.limit, ...filter })
    if (hits.length === 0 && sources.length > 0) terminal.note('no hits; other words may find some')
    if (hits.length === 0 && !terminal.isJson) return
    const terms = termsOf(query)
    const labels = new Map(sources.map((source) => [source.id, labelOf(source)]))
    const found = hits.map((hit) => ({
      hit,
      source: labels.get(hit.sourceId) ?? hit.sourceId,
      snippet: writeSnippet(hit.chunk.content, terms, textAnalyzer),
    }))
    terminal.answer(found.map((one) => writeLibraryHit(one, terminal.answerColors)).join('\n\n'), {
      query,
      hits: found.map(libraryHitRecord),
    })
  })
}

/** A hit with what is shown of it. */
interface LibraryHit {
  readonly hit: StoreHit
  readonly source: string
  readonly snippet: string
}

function termsOf(query: string): Set<string> {
  const terms = new Set<string>()
  textAnalyzer.visitTokens(query, (source, from, to) => void terms.add(source.slice(from, to)))
  return terms
}

function writeLibraryHit({ hit, source, snippet }: LibraryHit, colors: Colors): string {
  const { chunk, url, title, score } = hit
  const lines = `${colors.cyan(printableLine(url))}:${chunk.startLine}-${chunk.endLine}`
  const headings = chunk.headingPath.length === 0 ? title : chunk.headingPath.join(' > ')
  const place = `${colors.bold(printableLine(source))}  ${lines}  ${score.toFixed(2)}`
  return [place, colors.dim(printableLine(headings)), printableLine(snippet)].filter((line) => line !== '').join('\n')
}

function libraryHitRecord({ hit, source, snippet }: LibraryHit): Record<string, unknown> {
  const { chunk, url, title, score } = hit
  return {
    source,
    chunk_id: chunk.id,
    score,
    url,
    title,
    start_line: chunk.startLine,
    end_line: chunk.endLine,
    snippet,
    heading_path: chunk.headingPath,
  }
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
