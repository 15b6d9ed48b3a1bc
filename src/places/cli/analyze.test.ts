import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeNews } from '../../../test/analysis/stored-news.ts'
import { run } from '../../cli/run.ts'
import { openLibrary } from '../../open-library.ts'
import { analyseLibrary } from '../runs/analyse-library.ts'
import { writeAnalysisProgress } from './analyze.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-analyze-'))
const path = join(folder, 'library.db')

beforeAll(async () => {
  const library = await openLibrary({ path, version: '0' })
  await storeNews(library.store, { articles: 30 })
  await library.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command in this process; `onStderr` receives the text that it writes to stderr. */
async function analyze(args: readonly string[], onStderr: (text: string) => void = () => undefined) {
  const written = { stdout: '', stderr: '' }
  const code = await run(['analyze', ...args, '--library', path], {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: {
      write: (text) => {
        written.stderr += text
        onStderr(text)
      },
    },
  })
  return { code, ...written }
}

test('a dry run stores nothing, an interrupted run is resumed, and a further run has nothing to do', async () => {
  const dry = await analyze(['--dry-run', '--json'])
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(dry.stdout)).toMatchObject({
    status: 'completed',
    dry_run: true,
    pages: 45,
    articles: 30,
    failed: 0,
  })

  const interrupted = await analyze(['--verbose'], (text) => {
    // A terminal sends the same signal on Ctrl-C.
    if (text.includes('pages: beginning')) process.emit('SIGINT')
  })
  expect(interrupted.code).toBe(130)
  expect(interrupted.stdout).toBe('')
  expect(interrupted.stderr).toContain(`nothing is lost; go on with: pharos analyze --verbose --library ${path}`)

  const resumed = await analyze([])
  expect(resumed.code).toBe(0)
  expect(resumed.stderr).toContain('resuming the run ')
  expect(resumed.stdout).toMatch(/^analyzed 45 pages in \S+: 30 articles, /)
  expect(resumed.stdout).toContain('1 host, 1 of them news; 1 new milestone\n')

  const again = await analyze(['--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ pages: 0, total_pages: 0, domains: 1, milestones: 0 })
})

test.each([
  [['--analysis-version', '999'], 'analysisVersion: this program supports versions up to'],
  [['--page-limit', '0'], '--page-limit: expected a whole number from 1 up'],
  [['--domain-limit', 'all'], '--domain-limit: expected a whole number from 1 up'],
  [['--frames'], '--run-id and --frames are for servers, and go together'],
])('the arguments %j are refused as a usage error', async (args, message) => {
  const { code, stdout, stderr } = await analyze(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('a run that starts during another run is told to wait, without mention of a server', async () => {
  const library = await openLibrary({ path, version: '0' })
  const first = analyseLibrary(library)
  await first.next()
  const { code, stderr } = await analyze([])
  expect(code).toBe(1)
  expect(stderr).toContain('wait for it to end, then run the same command again')
  expect(stderr).not.toContain('/api/')
  await first.return()
  await library.close()
})

test('an unknown run id is refused', async () => {
  const { code, stderr } = await analyze(['--run-id', 'none', '--frames'])
  expect(code).toBe(3)
  expect(stderr).toContain('there is no analysis run none')
})

test('the live line shows progress, rate and remaining time', () => {
  const progress = { pages: 1200, totalPages: 13_441, articles: 0, navs: 0, others: 0, places: 0, hubs: 0 }
  const more = { failed: 0, domains: 3, news: 0, milestones: 0, lastPage: 0, gazetteerRevision: '' }
  expect(writeAnalysisProgress('pages', { ...progress, ...more }, 320)).toBe(
    'analyzing: 1,200 of 13,441 pages, 8 %, 320/s, 39s left',
  )
  expect(writeAnalysisProgress('domains', { ...progress, ...more }, 0)).toBe('analyzing: 1,200 pages, 3 hosts')
})
