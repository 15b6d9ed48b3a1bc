import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalSite, writePage } from '../e2e/local-site.ts'
import { PROGRAM, Workshop } from '../e2e/program.ts'
import { INSPECTOR, installTools } from './install-tools.ts'

const workshop = new Workshop()
let site: LocalSite
let url = ''
let stop: () => Promise<unknown>

beforeAll(async () => {
  installTools()
  site = await LocalSite.open({ '/docs/': writePage('Start', ['/docs/kiln']), '/docs/kiln': writePage('Kiln') })
  const args = [PROGRAM, 'mcp', '--http', '--port', '0', '--json', '--library', workshop.path('library.db')]
  const { child, ended } = workshop.start(
    process.execPath,
    [...args, '--allow-private', '--request-interval', '0ms'],
    {},
  )
  stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (text: string) => resolve(text)))
  url = (JSON.parse(line) as { url: string }).url
}, 300_000)

afterAll(async () => {
  await stop()
  await site.close()
  workshop.remove()
})

interface Listed {
  readonly tools: readonly { readonly name: string }[]
}

interface Called {
  readonly isError?: boolean
  readonly structuredContent?: Record<string, unknown>
}

test('the command line of the inspector lists and calls every tool', async () => {
  const { tools } = await inspect<Listed>('tools/list', '--strict')
  const start = `${site.origin}/docs/`
  const added = await callTool('add_source', { url: start, name: 'docs' })
  const crawlId = String(added.structuredContent?.['crawlId'])
  await waitForIndex()
  const found = await callTool('search_docs', { query: 'kiln', limit: '3' })
  const { passages } = found.structuredContent as { passages: readonly { readonly chunk: string }[] }
  const page = { url: `${start}kiln` }
  const calls: Record<string, Record<string, string>> = {
    list_sources: {},
    crawl_status: { crawlId },
    index_statistics: {},
    find_version: { library: 'docs' },
    fetch_url: page,
    read_page: page,
    get_chunk: { chunk: passages[0]?.chunk ?? '' },
    list_outline: page,
    list_symbols: page,
    export_pack: { source: 'docs' },
  }
  // Those that read can be asked at once.
  const answers = await Promise.all(Object.entries(calls).map(([name, args]) => callTool(name, args)))
  expect(answers.map(({ isError }) => isError)).toEqual(answers.map(() => undefined))
  await callTool('refresh_source', { sourceId: 'docs' })
  await waitForIndex()
  site.delayMs = 1000
  const again = await callTool('recrawl_source', { source: 'docs', full: 'true' })
  await callTool('cancel_crawl', { jobId: String(again.structuredContent?.['crawlId']) })
  const removed = await callTool('remove_source', { source: 'docs' })
  expect(removed.structuredContent).toMatchObject({ pages: 2 })
  const called = [
    'add_source',
    'search_docs',
    ...Object.keys(calls),
    'refresh_source',
    'recrawl_source',
    'cancel_crawl',
    'remove_source',
  ]
  expect(new Set(called)).toEqual(new Set(tools.map(({ name }) => name)))
}, 120_000)

async function waitForIndex(): Promise<void> {
  for (let tries = 0; tries < 30; tries++) {
    const { structuredContent } = await callTool('crawl_status', { source: 'docs' })
    const { report } = structuredContent as { report: { status: string } }
    if (report.status === 'INDEXED') return
  }
  throw new Error('the site was not indexed')
}

async function callTool(name: string, args: Readonly<Record<string, string>>): Promise<Called> {
  const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])
  return inspect<Called>('tools/call', '--tool-name', name, ...pairs)
}

/** Asks by the inspector. It fails where the server does, or where an answer is not what its schema says. */
function inspect<T>(method: string, ...args: readonly string[]): Promise<T> {
  const child = spawn(process.execPath, [INSPECTOR, '--cli', url, '--transport', 'http', '--method', method, ...args], {
    cwd: workshop.folder,
    env: workshop.environment,
    timeout: 60_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += String(text)
  })
  child.stderr.on('data', (text) => {
    stderr += String(text)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(stdout) as T)
      else reject(new Error(`${method} ${args.join(' ')}: ${code} ${stderr}${stdout}`))
    })
  })
}
