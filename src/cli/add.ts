import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import { parseHttp } from '../core/url/key.ts'
import { DEFAULT_SCOPE, REACHES, type Reach, type Scope } from '../core/url/scope.ts'
import { DEFAULT_SETTINGS } from '../library/operations/add-source.ts'
import { takeUpSource } from '../library/operations/take-up-source.ts'
import { CRAWL_TYPES, type CrawlType, labelOf, type Source, type SourceSettings } from '../library/source.ts'
import { crawlInForeground, withCrawling } from './crawling.ts'
import { parseHeaders } from './headers.ts'
import { addLibraryOptions, FETCH_SETTINGS, nameOf } from './library.ts'
import { type CommonFlags, oneOf, repeat } from './options.ts'
import { addHeaderOption, addScopeOptions, type ScopeFlags, scopeOf, withoutUndefined } from './scope-options.ts'
import { printableLine, type Streams, shellWord } from './terminal.ts'

interface AddFlags extends CommonFlags, ScopeFlags {
  readonly name?: string
  readonly version?: string
  readonly scope?: Reach
  readonly llmsTxt?: string
  readonly llmsFull?: 'auto' | 'off' | 'only'
  readonly crawlType?: CrawlType
  readonly seed?: readonly string[]
  readonly header?: readonly string[]
}

/** `pharos add <url>` */
export function addAdd(program: Command, streams: Streams): void {
  const command = program
    .command('add')
    .description('crawl a web site into the library')
    .argument('<url>', 'where it starts')
    .option('--name <name>', 'what to call it (default: host and path of the start)')
    .option('--version <label>', 'version of what it documents')
  addScopeOptions(command)
    .option(
      '--scope <reach>',
      `how far it may reach: ${REACHES.join(', ')} (default: ${DEFAULT_SCOPE.reach})`,
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
    .option('--seed <url>', 'begin with this address too; repeatable', repeat)
    .addHelpText(
      'after',
      "\nExamples:\n  $ pharos add https://docs.example.com/guide/ --name guide\n  $ pharos add https://example.com/ --scope hostname --block '/blog/**'\n  $ pharos add http://localhost:8080/ --allow-private",
    )
  addLibraryOptions(addHeaderOption(command), FETCH_SETTINGS)
  command.action((url: string, flags: AddFlags) => {
    refuseFolder(url)
    if (flags.version?.trim() === '')
      throw new PharosError('USAGE', { problem: '--version: expected a label, got an empty one' })
    const scope = { ...scopeOf(flags), ...withoutUndefined({ reach: flags.scope }) }
    const settings = withoutUndefined({
      seeds: flags.seed,
      llmsTxtUrl: flags.llmsTxt,
      llmsFull: flags.llmsFull,
      crawlType: flags.crawlType,
    })
    const headers = parseHeaders(flags.header)
    return withCrawling(command, streams, async (crawling) => {
      const { source, found, kind, options } = await takeUpSource(crawling.library, {
        url,
        name: flags.name,
        version: flags.version,
        scope,
        settings,
      })
      if (found === 'interrupted' && isOther(source, scope, settings)) {
        const remove = (await crawling.hintFor(source))('remove', labelOf(source))
        const problem = `${labelOf(source)} exists with other settings: go on without them, or \`${remove}\` first`
        throw new PharosError('USAGE', { problem })
      }
      if (found === 'failed')
        crawling.terminal.note(`${nameOf(source)} was added before without success: starting anew`)
      await crawlInForeground(crawling, source, { kind, headers, ...options })
    })
  })
}

/** Whether a source has other settings than those that were given. */
function isOther(source: Source, scope: Partial<Scope>, settings: Partial<SourceSettings>): boolean {
  const stored: Readonly<Record<string, unknown>> = { ...source.scope, ...source.settings }
  return Object.entries({ ...scope, ...settings }).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name]),
  )
}

/** A folder is no site, yet. */
function refuseFolder(text: string): void {
  if (parseHttp(text) !== undefined || !existsSync(text)) return
  const place = shellWord(printableLine(text))
  throw new PharosError('USAGE', {
    problem: `${text} is on this machine, and add takes web addresses so far: \`pharos pack ${place}\` makes a pack of a folder`,
  })
}
