import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { usageError } from '../../core/errors.ts'
import { KINDS } from '../../core/model.ts'
import { isCompactPack } from '../../core/pack/pack.ts'
import type { PackHit } from '../../core/pack/search-pack.ts'
import { CONTENT_TYPES } from '../../core/retrieval/content-type.ts'
import { describeDoubt } from '../../core/retrieval/relevance.ts'
import { writeList } from '../../core/text/list.ts'
import { isLocalUrl } from '../../core/url/file-url.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { Library } from '../../library/library.ts'
import type { Store } from '../../library/ports/store.ts'
import { answerRecord } from '../../library/search/answer-record.ts'
import { DEFAULT_LIMIT, searchLibrary } from '../../library/search/search-library.ts'
import {
  DEFAULT_TOKENS,
  DUPLICATES,
  ENGINE_WORDS,
  FUSIONS,
  type SearchAnswer,
  type SearchInput,
} from '../../library/search.ts'
import { findOtherMachine } from '../../library/sources/other-machine.ts'
import { flagName } from '../../settings/settings.ts'
import { type RememberedHit, rememberHits } from '../last-search.ts'
import { createHint, createHintFor, printableLabel, withLibrary, writeEmptyLibrary } from '../library.ts'
import { withOldNames } from '../options/old-names.ts'
import {
  collectRepeated,
  configOf,
  fraction,
  languageTag,
  nonEmptyText,
  oneOf,
  wholeNumber,
} from '../options/options.ts'
import { addPackOption, findFile, openGivenPack, type PackOptionFlags, refuseFlags } from '../options/pack-option.ts'
import { SEARCH_SETTINGS } from '../options/search-settings.ts'
import { type Colors, countOf, printableLine, type Streams, Terminal } from '../terminal.ts'
import {
  listHits,
  writeAnswer,
  writeHits,
  writeMarkdownAnswer,
  writeNoHits,
  writeParametersAsFlags,
} from '../text/hit-text.ts'
import { writeCompleteCommand } from '../text/summary.ts'

/** Search options that have a flag of the same name. */
type SearchOptionFlags = Omit<SearchInput, 'query' | 'sources' | 'limit'>

interface SearchFlags extends PackOptionFlags, SearchOptionFlags {
  readonly limit?: number
  readonly full?: boolean
  readonly source?: readonly string[]
  readonly pathPrefix?: string
}

/** `pharos search <query>` */
export function addSearch(program: Command, streams: Streams): void {
  const command = program
    .command('search')
    .description('find what answers a question, in the library or in a pack')
    .argument('<words...>', 'what to look for')
    .option(
      '-n, --limit <count>',
      `maximum number of pages, or hits in a pack (default: ${SHORT_LIMIT}, with --full and --json ${DEFAULT_LIMIT})`,
      wholeNumber('--limit', 1),
    )
    .option('--full', 'show the passages, not only the lines that match')
    .option(
      '--tokens <count>',
      `maximum number of tokens of text with --full and --json (default: ${DEFAULT_TOKENS})`,
      wholeNumber('--tokens', 1),
    )
    .option('--source <source>', 'only this source of the library; repeatable', collectSource)
    .option('--version <version>', 'exact, range, latest, or * for all versions', nonEmptyText('--version'))
    .option(
      '--path <path>',
      'glob or beginning of a path, ! for all others; in a pack, one file',
      nonEmptyText('--path'),
    )
    .option(
      '--path-prefix <prefix>',
      'only files of the pack whose path begins with this',
      nonEmptyText('--path-prefix'),
    )
    .option('--kind <kind>', `what the text is: ${KINDS.join(', ')}`, oneOf('--kind', KINDS))
    .option('--heading <heading>', 'only below this heading (parts joined by / or >)', nonEmptyText('--heading'))
    .option('--symbol <prefix>', 'only definitions whose name begins with this', nonEmptyText('--symbol'))
    .option(
      '--content-type <type>',
      `what most of the text is: ${CONTENT_TYPES.join(', ')}`,
      oneOf('--content-type', CONTENT_TYPES),
    )
    .option(
      '--language <tag>',
      'only pages in this language, such as en or pt-BR; any shows all translations (default: auto, the language of the question)',
      languageTag('--language'),
    )
    .option(
      '--duplicates <way>',
      `nearly identical pages: ${DUPLICATES.join(', ')} (default: ${DUPLICATES[0]})`,
      oneOf('--duplicates', DUPLICATES),
    )
    .option('--min-score <share>', 'minimum share of the best score, 0 to 1', fraction('--min-score'))
    .option(
      '--fusion <way>',
      `how scores by words and by meaning are combined: ${FUSIONS.join(', ')}`,
      oneOf('--fusion', FUSIONS),
    )
    .option('--cursor <cursor>', 'continue after an earlier answer')
    .option('--explain', 'show the passages, and where each score comes from')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos search "retry after" --source guide\n  $ pharos search "open a file" --source python --version 3 --path "library/**"\n  $ pharos search "retry after" --pack docs.zip --limit 3\n  $ pharos search --pack docs.zip -- --max-pages',
    )
  addPackOption(command, SEARCH_SETTINGS).action(async (words: string[], flags: SearchFlags) => {
    // Control characters are not part of words, and could not be repeated in the suggested next command.
    const query = words
      .join(' ')
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
    if (query === '') throw usageError('expected words to search for, got none')
    const terminal = new Terminal(flags, streams)
    if (flags.pack === undefined) await answerFromLibrary(command, query, flags, terminal)
    else await answerFromPack(command, query, { ...flags, pack: flags.pack }, terminal)
  })
}

function collectSource(text: string, before?: readonly string[]): readonly string[] {
  return collectRepeated(nonEmptyText('--source')(text), before)
}

async function answerFromLibrary(
  command: Command,
  query: string,
  flags: SearchFlags,
  terminal: Terminal,
): Promise<void> {
  refuseFlags(flags, ['pathPrefix'], 'is for packs: add --pack <dir|zip>')
  const config = configOf(command)
  await withLibrary(config, async (library) => {
    const { store, clock } = library
    await maintainIndex(store, terminal)
    const answer = await searchLibrary(library, { query, ...searchOptionsOf(flags) })
    const isEmpty = answer.passages.length + answer.more.length === 0
    // Programs read JSON, and must not change what a user opens next.
    if (!terminal.isJson) rememberHits(await locateHits(library, listHits(answer, isFull(flags))))
    if (!isEmpty || terminal.isJson) {
      const { answerColors: colors, hasLinks, columns } = terminal
      const screen = { colors, hasLinks, columns }
      const writeFull = () =>
        terminal.isAnswerOnTerminal ? writeAnswer(answer, screen, clock.now()) : writeMarkdownAnswer(answer)
      const doubt = describeDoubt(answer)
      const text = isFull(flags) ? writeFull() : writeHits(answer, screen)
      terminal.answer(doubt === undefined ? text : `${doubt}\n\n${text}`, withOldNames(answerRecord(answer)))
    }
    // Printed after the answer, which may be longer than the screen.
    if (terminal.isAnswerOnTerminal && !isEmpty) terminal.note('')
    for (const notice of answer.notices) terminal.note(printableLine(writeParametersAsFlags(notice)))
    for (const { source, shortfall } of answer.partial) {
      const hint = await createHintFor(config, source)
      for (const { remedy } of shortfall.gaps) {
        terminal.note(
          `${terminal.noteColors.dim(`more of ${printableLabel(source)}:`)} ${writeCompleteCommand(source, remedy, hint)}`,
        )
      }
    }
    if (!isEmpty) terminal.note(terminal.noteColors.dim(describeAnswer(answer, flags)))
    else if (flags.cursor !== undefined) terminal.note('no more results')
    else if (answer.searchedCount > 0) terminal.note(writeNoHits(answer.widen))
    else {
      terminal.note(`${writeEmptyLibrary(store.location, createHint(config))}; or search a pack: --pack`)
    }
    if (answer.cursor !== null) {
      const next = writeNextCommand(command, config, query, flags, answer.cursor)
      terminal.note(`${terminal.noteColors.dim('next:')} ${next}`)
    }
  })
}

/** Brings the index up to date before the search. After an upgrade this takes a while; if it takes over a second, the user is told. */
async function maintainIndex(store: Store, terminal: Terminal): Promise<void> {
  const timer = setTimeout(() => terminal.note('bringing the index up to date; this happens once'), 1000)
  try {
    await store.indexMissingChunks()
  } finally {
    clearTimeout(timer)
  }
}

/** The search options with a flag, in the order in which a suggested command lists them. */
const SEARCH_OPTIONS = [
  'version',
  'path',
  'kind',
  'heading',
  'symbol',
  'contentType',
  'language',
  'duplicates',
  'tokens',
  'minScore',
  'fusion',
  'explain',
  'cursor',
] as const satisfies readonly (keyof SearchOptionFlags)[]

/** The options of a library search from the flags that were given. */
function searchOptionsOf(flags: SearchFlags): Omit<SearchInput, 'query'> {
  const given: Partial<SearchOptionFlags> = Object.fromEntries(
    SEARCH_OPTIONS.filter((name) => flags[name] !== undefined).map((name) => [name, flags[name]]),
  )
  return { limit: limitOf(flags), ...given, ...(flags.source === undefined ? {} : { sources: flags.source }) }
}

/** Default limit of the short form. */
const SHORT_LIMIT = 5

/** Whether passages are printed instead of matching lines. */
function isFull({ full, explain }: SearchFlags): boolean {
  return full === true || explain === true
}

function limitOf(flags: SearchFlags): number {
  return flags.limit ?? (isFull(flags) || flags.json === true ? DEFAULT_LIMIT : SHORT_LIMIT)
}

/** Describes in one line how the answer was computed. */
function describeAnswer(answer: SearchAnswer, flags: SearchFlags): string {
  const { engines, searched, searchedCount, passages, more, tokens } = answer
  const counts = [
    ...(passages.length === 0 ? [] : [`${countOf(passages.length, 'passage')}, about ${countOf(tokens, 'token')}`]),
    ...(more.length === 0 ? [] : [`${countOf(more.length, 'further page')}`]),
  ]
  const parts = [
    ...(isFull(flags) ? counts : []),
    `by ${writeList(engines.map((engine) => ENGINE_WORDS[engine]))}`,
    `in ${searched.length === 0 || searchedCount > 5 ? countOf(searchedCount, 'source') : searched.join(', ')}`,
  ]
  return printableLine(`${parts.join(', ')}${isFull(flags) ? '' : '; --full shows the passages'}`)
}

/** The command that shows the next results. */
function writeNextCommand(
  command: Command,
  config: EffectiveConfig,
  query: string,
  flags: SearchFlags,
  cursor: string,
): string {
  const names = ['source', 'limit', 'full', ...SEARCH_OPTIONS.filter((name) => name !== 'cursor')] as const
  const options = names
    .filter((name) => command.getOptionValueSource(name) === 'cli')
    .flatMap((name) =>
      [flags[name]].flat().flatMap((value) => [`--${flagName(name)}`, ...(value === true ? [] : [String(value)])]),
    )
  // A leading space keeps a query that begins with `-` from being parsed as an option, and one such as `<url>` from being taken for a
  // placeholder and printed unquoted.
  const words = /^[-<]/.test(query) ? ` ${query}` : query
  const settings = SEARCH_SETTINGS.filter((name) => config.origins[name] === 'flag')
  const settingFlags = settings.flatMap((name) => [`--${flagName(name)}`, String(config.values[name])])
  const file = flags.config === undefined ? [] : ['--config', flags.config]
  return createHint(config)('search', words, ...options, ...settingFlags, ...file, '--cursor', cursor)
}

/** Flags that do not apply to packs. */
const LIBRARY_ONLY = [
  'source',
  'version',
  'contentType',
  'language',
  'duplicates',
  'full',
  'tokens',
  'minScore',
  'fusion',
  'cursor',
] as const

/** The addresses of hits, with the machines of files that are on other machines. */
async function locateHits(
  library: Pick<Library, 'runner' | 'store'>,
  hits: readonly { readonly sourceId: string; readonly url: string }[],
): Promise<RememberedHit[]> {
  if (!hits.some(({ url }) => isLocalUrl(url))) return hits.map(({ url }) => ({ url }))
  const sources = await library.store.listSources()
  const machines = new Map(sources.map((source) => [source.id, findOtherMachine(library, source)]))
  return hits.map(({ url, sourceId }) => ({ url, machine: machines.get(sourceId) }))
}

async function answerFromPack(
  command: Command,
  query: string,
  flags: SearchFlags & { readonly pack: string },
  terminal: Terminal,
): Promise<void> {
  refuseFlags(flags, LIBRARY_ONLY, 'is for the library, not for a pack')
  const packed = await openGivenPack(command, flags.pack)
  const { meaning, notices } = await packed.search.findMeaning(query, embedQuestion)
  for (const notice of notices) terminal.note(printableLine(notice))
  const hits = packed.search.search(query, {
    limit: limitOf(flags),
    meaning,
    path: flags.path === undefined ? undefined : findFile(packed, flags.path).path,
    pathPrefix: flags.pathPrefix,
    kind: flags.kind,
    // Accepts a heading path as it is printed.
    headingPrefix: flags.heading?.replaceAll(/(?<!\s)\s+>\s+/g, '/'),
    symbolPrefix: flags.symbol,
    explain: flags.explain,
  })
  if (!terminal.isJson) rememberHits(hits.map(({ path }) => ({ url: path })))
  if (flags.symbol !== undefined && isCompactPack(packed.pack)) {
    terminal.note('--symbol finds nothing in a compact pack, which keeps no definitions; pack again with --full')
  } else if (hits.length === 0) terminal.note('no hits; other words or fewer filters may find some')
  if (hits.length === 0 && !terminal.isJson) return
  const { createOrdinaryWords } = await import('../../embed/ordinary-words.ts')
  const judgement = packed.search.judge(query, hits, await createOrdinaryWords()())
  const doubt = describeDoubt(judgement)
  const hitTexts = hits.map((hit) => writeHit(hit, terminal.answerColors))
  const text = (doubt === undefined ? hitTexts : [doubt, ...hitTexts]).join('\n\n')
  const noticeField = notices.length === 0 ? {} : { notices }
  terminal.answer(text, withOldNames({ query, ...judgement, hits: hits.map(hitRecord), ...noticeField }))
}

function writeHit(hit: PackHit, colors: Colors): string {
  const citation = colors.cyan(`${printableLine(hit.path)}:${hit.startLine}-${hit.endLine}`)
  const location = `${colors.bold(printableLine(hit.chunkRef))}  ${citation}  ${hit.score.toFixed(2)}${hit.missing === null ? '  by meaning alone' : ''}`
  // Text of the file is indented, so that it cannot pass for the next hit.
  const headings = hit.headingPath.length === 0 ? [] : [colors.dim(`  ${printableLine(hit.headingPath.join(' > '))}`)]
  return [location, ...headings, `  ${printableLine(hit.snippet)}`, ...writeExplanation(hit, colors)].join('\n')
}

/** Embeds a query with the built-in model, which is loaded on demand. */
async function embedQuestion(query: string): Promise<Float32Array> {
  const { openQuestionEmbedder } = await import('../../embed/embed-pack.ts')
  const embedder = openQuestionEmbedder()
  try {
    return await embedder.embed(query)
  } finally {
    await embedder.close()
  }
}

function writeExplanation({ explain, meaning }: PackHit, colors: Colors): string[] {
  return [...writeWords(explain, colors), ...writeMeaning(meaning, colors)]
}

/** Explains the word score, the semantic score, and the bonus for the words of the whole file, and its other hits. */
function writeMeaning(meaning: PackHit['meaning'], colors: Colors): string[] {
  if (meaning === undefined) return []
  const { fusion, pageBonus } = meaning
  return [
    colors.dim(
      `  ${fusion}${pageBonus === 0 ? '' : ` + ${pageBonus.toFixed(2)} for the words of the whole file, and its other hits`}`,
    ),
  ]
}

function writeWords(explain: PackHit['explain'], colors: Colors): string[] {
  if (explain === undefined) return []
  const parts = explain.parts.map(({ word, fields, terms, score, documents }) => {
    const found = printableLine(
      `${word} in ${Object.keys(fields).join(', ')} (${terms.join(', ')}; ${documents} chunks have it)`,
    )
    return colors.dim(`  ${score.toFixed(3)}  ${found}`)
  })
  return explain.pairs === 0 ? parts : [...parts, colors.dim(`  ${explain.pairs.toFixed(3)}  neighbouring words`)]
}

function hitRecord(hit: PackHit): Record<string, unknown> {
  const { chunkId, chunkRef, score, path, startLine, endLine, snippet, headingPath, missing, explain, meaning } = hit
  const record = { chunkId, chunkRef, score, path, startLine, endLine, snippet, headingPath }
  return {
    ...record,
    ...withoutUndefined({ explain, meaning }),
    ...(missing === null && { byMeaning: true }),
  }
}
