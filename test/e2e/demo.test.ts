import * as fs from 'node:fs'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
  fs.mkdirSync(sandbox.path('tmp'))
})

afterEach(() => sandbox.remove())

/** The files that the tour made and did not remove. */
function leftovers(): string[] {
  const names = fs.readdirSync(sandbox.folder, { recursive: true, encoding: 'utf8' })
  // The compile cache is kept between starts.
  return names.filter((name) => !name.startsWith('cache') && name !== 'tmp')
}

test('the tour crawls the sample site, answers three questions, and removes all its files', async () => {
  const { code, stdout, stderr } = await sandbox.run(['demo', '--once', '--json'], { TMPDIR: sandbox.path('tmp') })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  // The JSON that the verb prints has this shape.
  const tour = JSON.parse(stdout) as Tour
  const { balance } = tour.crawl
  expect(tour.crawl.pages).toBe(balance['indexed'])
  expect(tour.crawl.pages).toBeGreaterThanOrEqual(20)
  // One broken link fails; a page that robots.txt disallows, a redirect and a duplicate are skipped.
  expect([balance['failed'], balance['skipped'], balance['pending']]).toEqual([1, 3, 0])
  expect(tour.searches.map(({ hit }) => new URL(hit.url).pathname)).toEqual([
    '/guide/retries',
    '/reference/errors',
    '/de/schnellstart',
  ])
  expect(leftovers()).toEqual([])
})

test('the tour runs until Ctrl-C without --once, and prints what to do next', async () => {
  const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'demo'], { TMPDIR: sandbox.path('tmp') })
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    void ended.then(({ stderr }) => reject(new Error(`the tour ended: ${stderr}`)))
    const timer = setTimeout(() => reject(new Error(`the tour has only printed ${printed}`)), 60_000)
    onTestFinished(() => clearTimeout(timer))
    child.stdout.on('data', (text: string) => {
      printed += text
      if (printed.includes('over HTTP')) resolve()
    })
  })
  const [, origin = ''] = /Look around\n +(http:\S+)\/$/m.exec(printed) ?? []
  const { items } = (await (await fetch(`${origin}/api/sources`)).json()) as { items: { name: string }[] }
  expect(items.map(({ name }) => name)).toEqual(['lanternfish'])
  expect(printed).toContain('pharos add https://')
  expect(printed).toContain(`${origin}/mcp`)
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(leftovers()).toEqual([])
})

test('the sample stays in the library with --keep, once', async () => {
  const environment = { TMPDIR: sandbox.path('tmp'), PHAROS_LIBRARY: sandbox.path('library.db') }
  const { code, stdout, stderr } = await sandbox.run(['demo', '--once', '--keep'], environment)
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('kept it as lanternfish in') })
  expect(stdout).toMatch(
    /\nNext\n {2}ask: pharos search .* --source lanternfish\n.*setup\n.*\n {2}dashboard: pharos serve\n/,
  )
  const { stdout: found } = await sandbox.run(['search', 'dead letter', '--source', 'lanternfish'], environment)
  expect(found).toContain('/guide/retries')
  const again = await sandbox.run(['demo', '--once', '--keep'], environment)
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('lanternfish is already in')])
  // The search was remembered for `pharos open`.
  expect(leftovers().filter((name) => !/^(?:library\.db|\.local)/.test(name))).toEqual([])
})

interface Tour {
  readonly crawl: { readonly pages: number; readonly balance: Readonly<Record<string, number>> }
  readonly searches: readonly { readonly hit: { readonly url: string } }[]
}
