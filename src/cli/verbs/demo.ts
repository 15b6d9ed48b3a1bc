import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { PharosError } from '../../core/errors.ts'
import { findCommandNames } from '../command-names.ts'
import { interruptible } from '../interrupt.ts'
import { addCommonOptions, addSettings, type CommonFlags, configOf } from '../options/options.ts'
import { askServer } from '../serve/detach-server.ts'
import { untilAborted } from '../serve/serve.ts'
import { createServeLog } from '../serve/serve-log.ts'
import { printableLine, type Streams, shellWord, Terminal } from '../terminal.ts'

interface DemoFlags extends CommonFlags {
  readonly once?: boolean
}

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
    .addHelpText('after', '\nAll data of the tour is deleted when it ends.\n\nExample:\n  $ pharos demo')
  addSettings(addCommonOptions(command), ['port'])
  command.action(async (flags: DemoFlags) => {
    const config = configOf(command)
    const terminal = new Terminal(flags, streams)
    await interruptible(async (signal) => {
      const folder = await realpath(await mkdtemp(join(tmpdir(), 'pharos-demo-')))
      try {
        await showTour({ config: configFor(config, folder), streams, terminal, flags, signal })
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
  readonly streams: Streams
  readonly terminal: Terminal
  readonly flags: DemoFlags
  readonly signal: AbortSignal
}

async function showTour({ config, streams, terminal, flags, signal }: Tour): Promise<void> {
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
      terminal.answer(writeTour(server.origin, site.origin, searches, flags), {
        dashboard: `${server.origin}/`,
        mcp: `${server.origin}/mcp`,
        site: `${site.origin}/`,
        crawl,
        searches,
      })
      if (flags.once === true) return
      terminal.note(dim('\nPress Ctrl-C to end the tour and delete its data.'))
      await untilAborted(signal)
    } finally {
      await server.close()
    }
  } finally {
    await site.close()
  }
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
  const request = { url: `${site}/`, name: 'lanternfish' }
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
  const { pages, chunks, balance } = (await askServer(server, '/api/sources/lanternfish')) as DemoCrawl
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

function writeTour(origin: string, site: string, searches: readonly DemoSearch[], { once }: DemoFlags): string {
  const answers = searches.flatMap(({ query, hit }) => [
    `  “${query}”`,
    `    ${hit === null ? 'nothing was found' : `${printableLine(hit.headingPath.join(' › '))}\n    ${printableLine(hit.url)}`}`,
  ])
  // With `--once` the servers have stopped, so their addresses no longer work.
  const [serverOrigin, tourLines] =
    once === true
      ? ['http://127.0.0.1:41000', []]
      : [origin, ['Look around', `  ${origin}/`, `  why was ${site}/internal/roadmap left out?`, '']]
  const { here, anywhere } = findCommandNames()
  return [
    'Three questions, and where their answers are',
    ...answers,
    '',
    ...tourLines,
    'Add a real site',
    `  ${here} add https://docs.example.com/guide/ --name guide`,
    '',
    'Connect your agents',
    `  ${here} setup`,
    `  or any MCP client, over stdio: ${[anywhere.command, ...anywhere.args, 'mcp'].map(shellWord).join(' ')}`,
    `  over HTTP: ${serverOrigin}/mcp, while \`${here} serve\` runs`,
  ].join('\n')
}
