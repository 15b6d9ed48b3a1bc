import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { PharosError } from '../../core/errors.ts'
import { findCommandNames } from '../command-names.ts'
import { interruptible } from '../interrupt.ts'
import { createHint, type Hint, withLibrary } from '../library.ts'
import { addCommonOptions, addSettings, type CommonFlags, configOf } from '../options/options.ts'
import { askServer } from '../serve/detach-server.ts'
import { untilAborted } from '../serve/serve.ts'
import { createServeLog } from '../serve/serve-log.ts'
import { printableLine, type Streams, shellWord, Terminal } from '../terminal.ts'

interface DemoFlags extends CommonFlags {
  readonly once?: boolean
  readonly keep?: boolean
}

/** The name of the source. */
const SOURCE_NAME = 'lanternfish'

/** Queries for the sample site. */
const QUESTIONS = [
  'how many attempts before a message becomes a dead letter',
  'LF-030 receipt expired',
  'Nachricht verschicken und abholen',
] as const

/** Poll interval and timeout of the wait for the end of the crawl. */
const POLL_INTERVAL_MS = 100
const CRAWL_TIMEOUT_MS = 60_000

/** `pharos demo` */
export function addDemo(program: Command, streams: Streams): void {
  const command = program
    .command('demo')
    .description('a tour without a network: crawl a sample site, search it, look at the dashboard')
    .option('--once', 'end by itself after the searches')
    .option('--keep', 'also leave the sample in the library, as a source to ask')
    .addHelpText(
      'after',
      '\nWithout --keep, all data of the tour is deleted when it ends.\n\nExamples:\n  $ pharos demo\n  $ pharos demo --once --keep',
    )
  addSettings(addCommonOptions(command), ['port'])
  command.action(async (flags: DemoFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    await interruptible(async (signal) => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), 'pharos-demo-')))
      try {
        await showTour({ config: configFor(config, folder), userConfig: config, streams, terminal, flags, signal })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
}

/** The settings of the tour: a temporary library and access to this machine only. */
function configFor(config: EffectiveConfig, folder: string): EffectiveConfig {
  const values = {
    ...config.values,
    library: join(folder, 'library.db'),
    host: '127.0.0.1',
    allowPrivate: ['127.0.0.1'],
    proxy: '',
    token: '',
    tokenFile: '',
  }
  return { ...config, values }
}

/** The environment of the tour. */
interface Tour {
  readonly config: EffectiveConfig
  /** The settings of the user, whose library keeps the sample with `--keep`. */
  readonly userConfig: EffectiveConfig
  readonly streams: Streams
  readonly terminal: Terminal
  readonly flags: DemoFlags
  readonly signal: AbortSignal
}

async function showTour(tour: Tour): Promise<void> {
  const { config, userConfig, streams, terminal, flags, signal } = tour
  // Loaded on demand: `--help` loads every command and does not need a server.
  const [{ openDemoSite }, { openServer }] = await Promise.all([
    import('../demo-site.ts'),
    import('../serve/open-server.ts'),
  ])
  const site = await openDemoSite()
  try {
    // The request log would interleave with the lines of the tour.
    const log = createServeLog(streams.stderr, { isJson: false, isQuiet: flags.verbose !== true, hasRequests: true })
    const server = await openServer(config, log)
    try {
      const { bold, dim } = terminal.noteColors
      terminal.note(`a sample site is at ${site.origin}/, and Pharos at ${bold(`${server.origin}/`)}`)
      const crawl = await crawlSite(server.origin, site.origin, signal)
      const { pages, chunks, balance } = crawl
      terminal.note(`crawled it: ${pages} pages in ${chunks} chunks; ${writeBalance(balance)}`)
      const searches = await searchAll(server.origin)
      const kept = flags.keep === true ? await keepSample(userConfig, site.origin, terminal, signal) : null
      const hint = createHint(userConfig)
      terminal.answer(writeTour({ origin: server.origin, site: site.origin, searches, flags, hint }), {
        dashboard: `${server.origin}/`,
        mcp: `${server.origin}/mcp`,
        site: `${site.origin}/`,
        crawl,
        searches,
        ...(kept === null ? {} : { kept }),
      })
      if (flags.once === true) return
      const deleted = flags.keep === true ? '' : ' and delete its data'
      terminal.note(dim(`\nPress Ctrl-C to end the tour${deleted}.`))
      await untilAborted(signal)
    } finally {
      await server.close()
    }
  } finally {
    await site.close()
  }
}

/** A sample that stays in the library of the user. */
interface KeptSample {
  readonly source: string
  readonly library: string
}

/** Crawls the site into the library of the user too. A source of that name which is there already stays as it is. */
async function keepSample(
  { values, ...config }: EffectiveConfig,
  site: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<KeptSample> {
  const [{ prepareSource }, { crawlSource }] = await Promise.all([
    import('../../library/crawl/prepare-source.ts'),
    import('../../library/crawl/crawl-source.ts'),
  ])
  const allowing = { ...config, values: { ...values, allowPrivate: [...values.allowPrivate, '127.0.0.1'], proxy: '' } }
  return withLibrary(allowing, async (library) => {
    const { location } = library.store
    try {
      const { source, kind, options } = await prepareSource(library, { url: `${site}/`, name: SOURCE_NAME })
      for await (const event of crawlSource(library, source, { kind, ...options }, signal)) {
        if (event.type === 'ended' && event.summary.problem !== null)
          terminal.note(printableLine(event.summary.problem))
      }
      terminal.note(`kept it as ${SOURCE_NAME} in ${printableLine(location)}; its site ends with the tour`)
    } catch (error) {
      if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
      terminal.note(`${SOURCE_NAME} is already in ${printableLine(location)}`)
    }
    return { source: SOURCE_NAME, library: location }
  })
}

/** The result of the crawl. */
interface DemoCrawl {
  readonly jobId: string
  readonly pages: number
  readonly chunks: number
  readonly balance: Readonly<Record<string, number>>
}

/** Has the server crawl the site, and waits for the end of the crawl. */
async function crawlSite(origin: string, site: string, signal: AbortSignal): Promise<DemoCrawl> {
  const server = { origin, token: null }
  const request = { url: `${site}/`, name: SOURCE_NAME }
  // The server is part of this program, so the type of its response is known.
  const { jobId } = (await askServer(server, '/api/sources', request)) as { jobId: string }
  const deadline = performance.now() + CRAWL_TIMEOUT_MS
  for (;;) {
    signal.throwIfAborted()
    const job = (await askServer(server, `/api/crawls/${jobId}`)) as { status: string; problem: string | null }
    if (job.status === 'done') break
    const isUnfinished = job.status === 'queued' || job.status === 'running'
    if (!isUnfinished || performance.now() > deadline) {
      throw new PharosError('INTERNAL', { problem: `the sample site was not crawled: ${job.problem ?? job.status}` })
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
  }
  const { pages, chunks, balance } = (await askServer(server, `/api/sources/${SOURCE_NAME}`)) as DemoCrawl
  return { jobId, pages, chunks, balance }
}

/** A query and its best hit. */
interface DemoSearch {
  readonly query: string
  readonly hit: DemoHit | null
}

interface DemoHit {
  readonly title: string
  readonly url: string
  readonly headingPath: readonly string[]
}

async function searchAll(origin: string): Promise<readonly DemoSearch[]> {
  return Promise.all(
    QUESTIONS.map(async (query) => {
      const path = `/api/search?limit=1&q=${encodeURIComponent(query)}`
      // The server is part of this program, so the type of its response is known.
      const { passages } = (await askServer({ origin, token: null }, path)) as { passages: readonly DemoHit[] }
      const [hit] = passages.map(({ title, url, headingPath }) => ({ title, url, headingPath }))
      return { query, hit: hit ?? null }
    }),
  )
}

/** `21 indexed, 3 skipped, 1 failed` */
function writeBalance(balance: Readonly<Record<string, number>>): string {
  const parts = ['indexed', 'skipped', 'failed'] as const
  return parts.flatMap((name) => ((balance[name] ?? 0) > 0 ? [`${balance[name]} ${name}`] : [])).join(', ')
}

/** What the tour ends with. */
interface TourEnd {
  readonly origin: string
  readonly site: string
  readonly searches: readonly DemoSearch[]
  readonly flags: DemoFlags
  readonly hint: Hint
}

function writeTour({ origin, site, searches, flags: { once, keep }, hint }: TourEnd): string {
  const answers = searches.flatMap(({ query, hit }) => [
    `  “${query}”`,
    `    ${hit === null ? 'nothing was found' : `${printableLine(hit.headingPath.join(' › '))}\n    ${printableLine(hit.url)}`}`,
  ])
  // With `--once` the servers have stopped, so their addresses no longer work.
  const [serverOrigin, tourLines] =
    once === true
      ? ['http://127.0.0.1:41000', []]
      : [origin, ['Look around', `  ${origin}/`, `  why was ${site}/internal/roadmap left out?`, '']]
  const { anywhere } = findCommandNames()
  const [question = ''] = QUESTIONS
  return [
    'Three questions, and where their answers are',
    ...answers,
    '',
    ...tourLines,
    'Next',
    ...(keep === true
      ? [`  ask: ${hint('search', question, '--source', SOURCE_NAME)}`]
      : [
          `  add a site: ${hint('add', 'https://docs.example.com/guide/', '--name', 'guide')}`,
          `  ask: ${hint('search', 'your question')}`,
        ]),
    `  connect your agents: ${hint('setup')}`,
    `    or any MCP client, over stdio: ${[anywhere.command, ...anywhere.args, 'mcp'].map(shellWord).join(' ')}`,
    `  dashboard: ${hint('serve')}`,
    `    agents over HTTP, while it runs: ${serverOrigin}/mcp`,
  ].join('\n')
}
