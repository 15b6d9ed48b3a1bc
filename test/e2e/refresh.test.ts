import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RefreshSchedule } from '../../src/library/source.ts'
import { openLibrary } from '../../src/open-library.ts'
import { LocalSite, writePage } from './local-site.ts'
import { type Outcome, ProgramSandbox } from './program.ts'
import { startServer, until } from './server.ts'

const DAY = 86_400_000

let sandbox: ProgramSandbox
let site: LocalSite

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  sandbox.write({
    'notes/one.md': '# One\n\nThe lamp is lit at dusk.\n',
    'more/two.md': '# Two\n\nThe kiln is cold.\n',
  })
  site = await LocalSite.open({ '/docs/': writePage('Guide', ['/docs/one']), '/docs/one': writePage('One') })
})

afterEach(async () => {
  await site.close()
  sandbox.remove()
})

function pharos(line: string): Promise<Outcome> {
  const environment = { PHAROS_LIBRARY: sandbox.path('library.db'), PHAROS_ALLOW_PRIVATE: '127.0.0.1' }
  return sandbox.runInProcess(line.replace('{}', site.origin).split(' '), environment)
}

/** Changes the stored schedules, as time or an owner of the program would. */
async function changeSchedules(change: (schedule: RefreshSchedule | undefined) => RefreshSchedule): Promise<void> {
  const library = await openLibrary({ path: sandbox.path('library.db'), version: '0.0.0' })
  for (const { id } of await library.store.listSources()) {
    await library.store.updateSource(id, ({ refresh }) => ({ refresh: change(refresh) }))
  }
  await library.close()
}

const makeDue = (schedule: RefreshSchedule | undefined): RefreshSchedule => ({
  ...{ everyMs: DAY, attempts: 0, problem: null },
  ...schedule,
  dueAt: Date.now() - 1000,
})

/** The schedule of each source, by name. */
async function listSchedules(): Promise<Record<string, { every: string; next_at: string; problem: string } | null>> {
  const { sources } = JSON.parse((await pharos('list --json')).stdout)
  return Object.fromEntries(sources.map(({ name, refresh }: { name: string; refresh: never }) => [name, refresh]))
}

test('--every stores an interval, list and status show it, and never ends it without a crawl', async () => {
  const added = await pharos('add notes --every 1d')
  expect(added.code).toBe(0)
  expect(added.stderr).toContain('crawled again every 1d while `pharos serve` runs, or by `pharos setup --timer`')
  expect(await pharos('add {}/docs/ --name site --every 2w')).toMatchObject({ code: 0 })
  expect((await pharos('list')).stdout).toMatch(/again every 1d, next in 1d .*\n.*again every 14d, next in 14d/)
  expect((await pharos('status site')).stdout).toContain('Refresh: every 14d, next in 14d')
  expect(await listSchedules()).toMatchObject({ notes: { every: '1d' }, site: { every: '14d', problem: null } })
  expect((await pharos('recrawl notes --every 12h')).code).toBe(0)
  expect(await listSchedules()).toMatchObject({ notes: { every: '12h' } })
  expect((await pharos('refresh notes --every 6h')).code).toBe(0)
  expect(await listSchedules()).toMatchObject({ notes: { every: '6h' } })

  const requests = site.requests.length
  const ended = await pharos('recrawl site --every never')
  expect(ended).toMatchObject({ code: 0, stdout: 'site is no longer crawled again by itself\n' })
  expect(site.requests).toHaveLength(requests)
  expect(await listSchedules()).toMatchObject({ site: null })

  const tooShort = await pharos('recrawl notes --every 5m')
  expect(tooShort.code).toBe(2)
  expect(tooShort.stderr).toContain('--every: expected a duration from 10m to 366d such as 12h, 1d or 2w, or never')
  expect(await listSchedules()).toMatchObject({ notes: { every: '6h' } })
})

test('--every says what scheduled crawls lack of the command line, and which settings replace it', async () => {
  const { stderr } = await pharos('add {}/docs/ --name site --every 1d --header X-Key:s3cret --allow-private=127.0.0.1')
  expect(stderr).toMatch(/while `pharos serve --allow-private=\S+` runs, or by `pharos setup --timer`/)
  expect(stderr).toContain(
    'these crawls do not send --header: name a variable with its value in the setting siteHeaders',
  )
  expect(stderr).toMatch(/the timer has no --allow-private: set "allowPrivate": \[".+"\] in pharos\.config\.json/)
  expect(stderr).not.toContain('s3cret')
  const json = await pharos('recrawl site --every 1d --header X-Key:s3cret --json')
  expect(json.stderr).toContain('do not send --header')
  const folder = await pharos('add notes --every 1d')
  expect(folder.stderr).not.toContain('--allow-private:')
})

test('refresh --due crawls what is due, once, and says when the next source is due', async () => {
  expect((await pharos('refresh --due')).stdout).toBe(
    'nothing is due: no source has an interval; give one with --every\n',
  )
  await pharos('add notes --every 1d')
  await pharos('add {}/docs/ --name site --every 1d')
  await pharos('add more')
  expect((await pharos('refresh --due')).stdout).toMatch(/^nothing is due; next is \w+: every 1d, next in 1d/)
  await changeSchedules((schedule) =>
    schedule === undefined ? { ...makeDue(undefined), dueAt: Date.now() + DAY } : makeDue(schedule),
  )
  sandbox.write({ 'notes/one.md': '# One\n\nThe beacon is lit at dawn.\n' })
  const due = await pharos('refresh --due')
  expect(due).toMatchObject({ code: 0 })
  expect(due.stderr).toContain('2 sources crawled')
  expect((await pharos('search beacon --json')).stdout).toContain('lit at dawn')
  expect((await pharos('refresh --due')).stdout).toMatch(/^nothing is due; next is /)
})

test('a refresh that fails is shown, its pages stay, and it is tried again later', async () => {
  await pharos('add {}/docs/ --name site --every 1d')
  await pharos('add notes --every 1d')
  await changeSchedules(makeDue)
  site.serve({})
  const failed = await pharos('refresh --due')
  expect(failed.code).toBe(1)
  expect(failed.stderr).toMatch(/^site: .*404/m)
  expect(failed.stdout).toContain('notes')
  expect((await pharos('refresh --due')).code).toBe(0)
  expect((await pharos('list')).stdout).toMatch(/^site +ERROR .*last one failed: .*404.*, attempt 2 in (?:59m|1h)/m)
  const { site: schedule } = await listSchedules()
  const waitMs = Date.parse(schedule?.next_at ?? '') - Date.now()
  expect(waitMs).toBeGreaterThan(50 * 60_000)
  expect(waitMs).toBeLessThan(70 * 60_000)
  site.serve({ '/docs/': writePage('Guide', ['/docs/one']), '/docs/one': writePage('One') })
  await changeSchedules(makeDue)
  expect((await pharos('refresh --due')).code).toBe(0)
  expect(await listSchedules()).toMatchObject({ site: { every: '1d', problem: null, attempts: 0 } })
})

test('a scheduled refresh keeps all pages at the loss gate', async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `/docs/${i}`)
  const pages = Object.fromEntries(paths.map((path) => [path, writePage(`Chapter ${path}`)]))
  site.serve({ '/docs/': writePage('Guide', paths), ...pages })
  await pharos('add {}/docs/ --name site --every 1d')
  site.serve({ '/docs/': writePage('Guide') })
  await changeSchedules(makeDue)
  expect((await pharos('refresh --due')).code).toBe(1)
  expect((await pharos('list')).stdout).toMatch(/^site +ERROR +31 pages/)
  expect((await listSchedules())['site']).toMatchObject({ attempts: 1, problem: expect.stringContaining('30') })
})

test('--all crawls every source, goes on after a failure, and leaves imports out', async () => {
  await pharos('add notes')
  await pharos('add {}/docs/ --name site')
  await pharos('add more')
  const source_url = 'https://docs.example/'
  const facts = { section_path: 'lamp', content_type: 'prose', last_updated: '2026-02-20' }
  const chunks = [{ text: 'The lamp is lit.', source_url, ...facts }]
  sandbox.write({ 'chunks.json': JSON.stringify({ source_url, chunks }) })
  const imported = await pharos('import chunks.json --name imported')
  expect(imported).toMatchObject({ code: 0 })
  fs.rmSync(sandbox.path('notes'), { recursive: true })
  sandbox.write({ 'more/two.md': '# Two\n\nThe kiln is hot.\n' })
  const all = await pharos('recrawl --all --every 1w')
  expect(all.code).toBe(1)
  expect(all.stderr).toMatch(/^imported is left out: it was imported$/m)
  expect(all.stderr).toMatch(/^notes: /m)
  expect(all.stderr).toContain('2 sources crawled, 1 failed')
  expect((await pharos('search kiln --json')).stdout).toContain('kiln is hot')
  expect(await listSchedules()).toMatchObject({ notes: {}, site: { every: '7d' }, more: {}, imported: null })
  const lines = (await pharos('refresh --all --json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toHaveLength(3)
  expect(lines).toContainEqual(
    expect.objectContaining({ name: 'notes', error: expect.objectContaining({ code: 'SOURCE_NOT_FOUND' }) }),
  )
})

test.each([
  ['refresh', 'name a source, or give --all or --due'],
  ['recrawl', 'name a source, or give --all'],
  ['recrawl notes --all', 'a source and --all exclude each other'],
  ['refresh --all --due', '--all and --due exclude each other'],
  ['refresh --due --every 1d', '--every cannot be given with --due'],
  ['refresh --due --accept-loss', '--due takes neither --discover, --accept-loss nor --render'],
  ['recrawl --all --header A:b', '--header cannot be given with --all: every site would get the header'],
  ['recrawl --all --detach', '--detach cannot be given with --all'],
])('%s is refused with advice', async (line, problem) => {
  const { code, stderr } = await pharos(line)
  expect(code).toBe(2)
  expect(stderr).toContain(problem)
})

test('a server refreshes by itself, shows when, and goes on after it was killed', async () => {
  await pharos('add {}/docs/ --name site --every 1d')
  await pharos('add notes --name notes')
  const start = () => startServer(sandbox, ['--allow-private', '--quiet'])
  let server = await start()
  expect(await server.post('/api/sources/site/schedule', { every: '12h' })).toMatchObject({ refresh: { every: '12h' } })
  await expect(server.post('/api/sources/site/schedule', { every: '1s' })).rejects.toThrow(/400.*from 10m to 366d/)
  expect((await pharos('recrawl notes --every 1w --detach')).code).toBe(0)
  expect(await listSchedules()).toMatchObject({ notes: { every: '7d' } })
  expect(await server.post('/api/sources/notes/schedule', { every: 'never' })).toMatchObject({ refresh: null })
  site.pages.set('/docs/one', writePage('One', [], 'The lighthouse was repainted.'))
  // Shorter than any user may ask for, so that the test need not wait.
  const shorten = () => changeSchedules(() => ({ everyMs: 1000, dueAt: Date.now(), attempts: 0, problem: null }))
  const countCrawls = async () => {
    const library = await openLibrary({ path: sandbox.path('library.db'), version: '0.0.0' })
    const [one] = await library.store.listSources()
    const crawls = await library.store.listCrawls(one?.id ?? '', 100)
    await library.close()
    return crawls.filter(({ state, kind }) => state === 'completed' && kind === 'recrawl').length
  }
  // A server that starts looks at once, while a running one would wait for its next look.
  server.kill('SIGTERM')
  await server.ended
  await shorten()
  server = await start()
  await until(countCrawls, (count) => count >= 2)
  expect(JSON.stringify(await server.get('/api/search?q=lighthouse%20repainted'))).toContain('was repainted')
  server.kill('SIGKILL')
  await server.ended
  const before = await countCrawls()
  server = await start()
  await until(countCrawls, (count) => count >= before + 2)
  expect(await server.post('/api/sources/site/schedule', { every: 'never' })).toMatchObject({ refresh: null })
  server.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
})
