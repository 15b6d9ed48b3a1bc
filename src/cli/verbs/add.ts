import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { CHUNK_PROFILES, type ChunkProfile } from '../../core/chunk/profiles.ts'
import { PharosError, usageError } from '../../core/errors.ts'
import { hasCredentials } from '../../core/url/credentials.ts'
import { parseTreeUrl } from '../../core/url/parse-tree-url.ts'
import { type PastedAddress, readPastedAddress } from '../../core/url/pasted-address.ts'
import { DEFAULT_SCOPE, REACHES, type Reach } from '../../core/url/scope.ts'
import { withScheme } from '../../core/url/with-scheme.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { resolveLocalPath } from '../../ingest/local-source.ts'
import { adviseWord, findPortProblem } from '../../library/crawl/add-source.ts'
import { hasOtherSettings, prepareSource } from '../../library/crawl/prepare-source.ts'
import { withdrawAfterFailure } from '../../library/crawl/withdraw-source.ts'
import { setRefreshInterval } from '../../library/refresh/set-interval.ts'
import { CRAWL_TYPES, type CrawlType, DEFAULT_SETTINGS, labelOf, treeSettings } from '../../library/source.ts'
import { noteEvery } from '../crawl-targets.ts'
import { detachCrawl } from '../detach.ts'
import { crawlInForeground, withCrawlContext } from '../foreground-crawl.ts'
import { type Hint, printableLabel, READ_SETTINGS } from '../library.ts'
import { addCrawlOptions } from '../options/crawl-options.ts'
import { addEveryOption, type EveryFlags, everyBody } from '../options/every-option.ts'
import { parseHeaders } from '../options/headers.ts'
import { type CommonFlags, collectRepeated, oneOf } from '../options/options.ts'
import { addPlannerOptions, type PlannerFlags, plannerOf, refuseStrayFlags } from '../options/planner-options.ts'
import { addRenderOption, type RenderFlags } from '../options/render-option.ts'
import { addScopeOptions, type ScopeFlags, scopeOf } from '../options/scope-options.ts'
import { printableLine, type Streams } from '../terminal.ts'

interface AddFlags extends CommonFlags, ScopeFlags, PlannerFlags, RenderFlags, EveryFlags {
  readonly name?: string
  readonly version?: string
  readonly ref?: string
  readonly path?: string
  readonly as?: 'site'
  readonly scope?: Reach
  readonly llmsTxt?: string
  readonly llmsFull?: 'auto' | 'off' | 'only'
  readonly crawlType?: CrawlType
  readonly chunks?: ChunkProfile
  readonly seed?: readonly string[]
  readonly header?: readonly string[]
  readonly detach?: boolean
}

/** `pharos add <url|path>` */
export function addAdd(program: Command, streams: Streams): void {
  const command = program
    .command('add')
    .description('add a web site, folder, archive, git repository or package to the library')
    .argument('<url|path>', 'where the site starts, a folder or file, an archive, a repository, or a package')
    .option('--name <name>', 'name of the source (default: host and path of the start address, or name of the folder)')
    .option('--version <label>', 'version of the documented product')
    .option('--ref <ref>', 'branch, tag or commit of a repository (default: its default branch)')
    .option('--path <folder>', 'read this folder of a repository, archive or package only')
    .option(
      '--as <site>',
      'crawl the page of a repository or package as a web site, instead of reading the repository or package',
      oneOf('--as', ['site'] as const),
    )
  addRenderOption(addScopeOptions(command), `default: ${DEFAULT_SETTINGS.render}`)
    .option(
      '--chunks <profile>',
      `how pages are cut: ${CHUNK_PROFILES.join(', ')} (default: ${DEFAULT_SETTINGS.chunks})`,
      oneOf('--chunks', CHUNK_PROFILES),
    )
    .option(
      '--scope <reach>',
      `how far the crawl may reach: ${REACHES.join(', ')} (default: ${DEFAULT_SCOPE.reach})`,
      oneOf('--scope', REACHES),
    )
    .option('--llms-txt <url>', 'read this llms.txt instead of looking for one')
    .option(
      '--llms-full <use>',
      `use of llms-full.txt: auto, off, only (default: ${DEFAULT_SETTINGS.llmsFull})`,
      oneOf('--llms-full', ['auto', 'off', 'only'] as const),
    )
    .option(
      '--crawl-type <type>',
      `where to look for pages: ${CRAWL_TYPES.join(', ')} (default: ${DEFAULT_SETTINGS.crawlType})`,
      oneOf('--crawl-type', CRAWL_TYPES),
    )
    .option('--seed <url>', 'begin with this address too; repeatable', collectRepeated)
  addEveryOption(command, 'default: never').addHelpText(
    'after',
    "\nExamples:\n  $ pharos add https://docs.example.com/guide/ --name guide\n  $ pharos add https://example.com/ --scope hostname --block '/blog/**'\n  $ pharos add http://localhost:8080/ --allow-private\n  $ pharos add ./docs --name handbook --version 2.1 --every 12h\n  $ pharos add https://github.com/owner/name/tree/main/docs\n  $ pharos add owner/name --ref v2.1.0 --path docs\n  $ pharos add npm:react@18.2.0\n  $ pharos add https://example.com/manual.tar.gz",
  )
  addCrawlOptions(addPlannerOptions(command), READ_SETTINGS)
  command.action((typed: string, flags: AddFlags) => runAdd(command, streams, typed, flags))
}

function runAdd(command: Command, streams: Streams, typed: string, flags: AddFlags): Promise<void> {
  const isLocal = isPath(typed)
  const pasted: PastedAddress = isLocal || flags.as === 'site' ? { url: withScheme(typed) } : readPastedAddress(typed)
  const given = isLocal ? typed : pasted.url
  refuseUnusable(command, given, isLocal, flags)
  const scope = { ...scopeOf(flags), ...withoutUndefined({ reach: flags.scope }) }
  const settings = withoutUndefined({
    seeds: flags.seed,
    llmsTxtUrl: flags.llmsTxt,
    llmsFull: flags.llmsFull,
    crawlType: flags.crawlType,
    render: flags.render,
    chunks: flags.chunks,
    ...treeSettings({ ref: flags.ref ?? pasted.ref, path: flags.path ?? pasted.path }),
  })
  if (flags.detach === true) {
    const { name, version, ref, path, as } = flags
    const { tree: _, ...others } = settings
    const labels = withoutUndefined({ name, version, ref, path, as })
    const body = { url: typed, ...labels, scope, ...others, ...plannerOf(flags), ...everyBody(flags) }
    return detachCrawl(command, streams, { path: '/api/sources', body })
  }
  const headers = parseHeaders(flags.header)
  return withCrawlContext(command, streams, async (crawling) => {
    const { library, terminal } = crawling
    if (pasted.meaning !== undefined) terminal.note(printableLine(writeMeaning(typed, pasted.meaning)))
    else if (given !== typed) terminal.note(printableLine(`${typed} has no scheme: reading ${given}`))
    const local = isLocal ? resolveLocalPath(library, given, flags) : undefined
    const { name, version, as, force } = flags
    const { source, found, kind, options, notice } = await prepareSource(library, {
      ...{ url: local?.url ?? typed, as, isOwnFolder: isLocal, name, version, scope, force, headers },
      settings: { ...settings, ...local?.settings },
    })
    if (found === 'interrupted' && hasOtherSettings(source, options, { ...scope, ...settings, ...local?.settings })) {
      const remove = (await crawling.hintFor(source))('remove', labelOf(source))
      const problem = `${labelOf(source)} exists with other settings: leave these options out to resume it, or run \`${remove}\` first`
      throw usageError(problem)
    }
    if (notice !== undefined) terminal.note(printableLine(notice))
    if (flags.every !== undefined) await setRefreshInterval(library, source, flags.every.ms)
    await noteEvery(crawling, source, flags)
    if (found === 'failed')
      terminal.note(`${printableLabel(source)} was added before, but never crawled successfully: starting over`)
    const input = { kind, headers, ...plannerOf(flags), ...options }
    const isFirst = found === 'new' && (await library.store.listSources()).length === 1
    const hasNextSteps = terminal.isNoticeOnTerminal && isFirst
    await crawlInForeground({ ...crawling, hasNextSteps }, source, input).catch(async (error: unknown) => {
      await withdrawAfterFailure(library, source, kind, error)
      throw error
    })
    if (hasNextSteps) terminal.note(writeNextSteps(await crawling.hintFor(source)))
  })
}

/** Says what an address was understood as. A text without a host could also have been meant as a path. */
function writeMeaning(typed: string, meaning: string): string {
  const isAddress = URL.canParse(withScheme(typed))
  return `${typed}: ${isAddress ? '' : 'no such path here; '}${meaning}`
}

/** What to do with the first source of a library. */
function writeNextSteps(hint: Hint): string {
  const steps = [`ask: ${hint('search', 'your question')}`, `agents: ${hint('setup')}`, `dashboard: ${hint('serve')}`]
  return ['next', ...steps.map((step) => `  ${step}`)].join('\n')
}

/** Refuses an address that is not one, and flags that have no effect on it. */
function refuseUnusable(command: Command, given: string, isLocal: boolean, flags: AddFlags): void {
  const tree = parseTreeUrl(given)
  if (isLocal) refuseFlags(command, LOCAL_REFUSED_FLAGS, `${given} is on this machine`)
  else if (tree !== undefined)
    refuseFlags(command, SITE_ONLY_FLAGS, `${hasCredentials(tree) ? 'this' : given} is not a web site`)
  else if (!URL.canParse(given)) {
    const problem = findPortProblem(given) ?? 'it is neither a URL nor an existing file or folder'
    throw new PharosError('URL_INVALID', { url: given, problem, ...adviseWord(given) })
  }
  refuseStrayFlags(flags, flags.crawlType ?? DEFAULT_SETTINGS.crawlType)
  if (flags.version?.trim() === '') throw usageError('--version: expected a label, got an empty one')
}

/** Whether a text is a local path: by its form, or because a file of that name exists. */
function isPath(text: string): boolean {
  if (/^(?:git\+)?file:/i.test(text) || /^(?:[/~]|\.{1,2}(?:\/|$))/.test(text)) return true
  return !URL.canParse(text) && existsSync(text)
}

/** Flags that apply only to web sites. */
const SITE_ONLY_FLAGS = [
  ...['scope', 'llmsTxt', 'llmsFull', 'crawlType', 'seed', 'header', 'trapGuards', 'render'],
  ...['hubMaxPages', 'hubMaxDays', 'intMaxSeeds', 'intTargetHosts', 'plannerVerbosity', 'force'],
]
/** Flags refused for local paths: also `--detach`, because a server does not read local paths. */
const LOCAL_REFUSED_FLAGS = [...SITE_ONLY_FLAGS, 'detach']

/** Rejects the named flags if they are given, because they have no effect on this kind of source. */
function refuseFlags(command: Command, names: readonly string[], why: string): void {
  const refused = command.options.find(
    (option) =>
      names.includes(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (refused === undefined) return
  throw usageError(`${refused.long} is for web sites, and ${why}`)
}
