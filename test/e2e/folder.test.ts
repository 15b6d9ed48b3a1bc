import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { PROGRAM, Workshop } from './program.ts'

let shop: Workshop

beforeEach(() => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  shop = new Workshop()
})

afterEach(() => {
  shop.remove()
})

/** Runs the program on this shop's library, as a process of its own. */
function pharos(line: string) {
  return shop.run(line.split(' '), { PHAROS_LIBRARY: shop.path('library.db') })
}

/** The same inside this process, for what another run has shown of a process. */
function runHere(line: string, ...more: string[]) {
  return shop.runHere([...line.split(' '), ...more], { PHAROS_LIBRARY: shop.path('library.db') })
}

async function statusOf(source: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await runHere(`status ${source} --json`)
  expect(stderr).toBe('')
  return (JSON.parse(stdout) as { sources: [Record<string, unknown>] }).sources[0]
}

const DOCS = {
  'docs/readme.md': '# Tower\n\nLight the lamp at dusk.\n',
  'docs/fog/horn.md': '# Horn\n\nSound it every minute in thick fog.\n',
  'docs/keeper.ts': 'export class Keeper {\n  trimWick(): void {}\n}\n',
  'docs/.gitignore': '*.log\n',
  'docs/trace.log': 'noise',
  'docs/.env': `AWS=AKIA${'Q7RT2MXZ5WBN3KVP'}\n`,
  'docs/blob.dat': new Uint8Array([0, 1, 2]),
}

describe('a folder', () => {
  test('is added, searched, explained, kept up to date and removed by its path', async () => {
    shop.write(DOCS)
    const added = await pharos('add ./docs --version 2.1')
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' })
    expect(added.stdout).toMatch(/^docs@2\.1: 4 pages, \d+ chunks in the library\n {2}discovered {2}7\n/)
    expect(added.stdout).toContain('  skipped     3  1 ignored, 1 not-text, 1 secret\n')

    const found = await runHere('search --json', 'trim the wick')
    expect(JSON.parse(found.stdout)).toMatchObject({
      passages: [{ source: 'docs@2.1', url: `file://${shop.path('docs/keeper.ts')}`, start_line: 1, end_line: 3 }],
    })
    expect((await pharos('explain docs@2.1 trace.log')).stdout).toContain('State: skipped (ignored)')
    expect((await runHere('explain docs@2.1 docs/fog/horn.md')).stdout).toContain('State: indexed')

    shop.write({ 'docs/readme.md': '# Tower\n\nLight the lamp at noon.\n' })
    fs.renameSync(shop.path('docs/fog/horn.md'), shop.path('docs/fog/bell.md'))
    const again = await pharos('recrawl docs')
    expect(again.stdout).toMatch(/this run: 2 indexed, 2 unchanged, 2 skipped, 1 removed, /)
    expect(await statusOf('./docs')).toMatchObject({ indexed: 2, unchanged: 2, skipped: 3, gone: 1, failed: 0 })
    expect((await pharos('refresh docs')).stdout).toMatch(/this run: 4 unchanged, /)
    expect((await pharos('retry docs')).stdout).toBe('docs@2.1: nothing to retry\n')
    expect((await runHere('list')).stdout).toContain(`file://${shop.path('docs')}/`)
    expect((await pharos('stats')).stdout).toContain('Pages: 4\n')

    fs.renameSync(shop.path('docs'), shop.path('moved'))
    const lost = await runHere('recrawl docs')
    expect({ code: lost.code, stdout: lost.stdout }).toEqual({ code: 3, stdout: '' })
    expect(lost.stderr).toContain(`there is no folder or file at ${shop.path('docs')}`)
    expect(await statusOf('docs')).toMatchObject({ pages: 4 })
    const packed = await runHere('pack docs --out pack')
    expect(packed.stderr).toContain('4 files, ')
    expect((await pharos('remove ./docs')).stdout).toMatch(/^removed docs@2\.1: 4 pages/)
  })

  test.each([
    ['add ./nowhere', 3, /^pharos: there is no folder or file at .*nowhere – check the path/],
    ['add file:///nowhere/at/all', 3, /^pharos: there is no folder or file at \/nowhere\/at\/all/],
    ['add file://elsewhere/docs', 2, /^pharos: file:\/\/elsewhere\/docs cannot be crawled: it names no place on this/],
    ['add nowhere', 2, /^pharos: nowhere cannot be crawled: it is no address, and there is no folder or file of that/],
    [
      'add ./empty',
      3,
      /^pharos: nothing could be indexed: file:.*\/empty\/ holds no file to read – `pharos status empty`/,
    ],
    ['add docs --scope hostname', 2, /^pharos: --scope is for web sites, and docs is on this machine/],
    ['add docs --header a:b', 2, /^pharos: --header is for web sites, and docs is on this machine/],
    ['add docs --name a@b', 2, /the name "a@b" contains @/],
    ['fetch file:///etc/passwd', 2, /its scheme is file/],
  ])('%s fails with %i and says why', async (line, code, words) => {
    shop.write({ 'docs/a.md': '# A\n\na\n' })
    fs.mkdirSync(shop.path('empty'))
    const outcome = await runHere(line)
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: '' })
    expect(outcome.stderr).toMatch(words)
  })
})

/** Enough for a run to be met half-way. */
const FILES = 1000

test('a run that is killed goes on, two at once are refused, and the end is as if nothing had happened', async () => {
  const files = Array.from({ length: FILES }, (_, i) => {
    const text = `# Page ${i}\n\n${`The keeper of tower ${i} notes the tide. `.repeat(20)}\n`
    return [`docs/d${i % 9}/p${i}.md`, text] as const
  })
  shop.write(Object.fromEntries(files))
  const { child, ended } = shop.start(process.execPath, [PROGRAM, 'add', 'docs'], {
    PHAROS_LIBRARY: shop.path('library.db'),
  })
  await waitForPages(100, () => child.exitCode !== null)
  const second = await runHere('add docs')
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/^pharos: docs is being crawled by another process/)
  child.kill('SIGKILL')
  expect((await ended).signal).toBe('SIGKILL')
  const before = await listPages()
  expect(before.size).toBeLessThan(FILES)

  const rest = await runHere('add docs')
  expect(rest).toMatchObject({ code: 0, stderr: 'going on with the interrupted crawl of docs\n' })
  expect(await statusOf('docs')).toMatchObject({ discovered: FILES, indexed: FILES, pending: 0, pages: FILES })
  const after = await listPages()
  for (const [key, changedAt] of before) expect(after.get(key)).toBe(changedAt)
})

/** Waits until the library holds so many pages. */
async function waitForPages(count: number, isOver: () => boolean): Promise<void> {
  const giveUp = Date.now() + 60_000
  while (Date.now() < giveUp && !isOver()) {
    if (fs.existsSync(shop.path('library.db')) && (await listPages()).size >= count) return
    await new Promise((wake) => setTimeout(wake, 100))
  }
  throw new Error(`${count} pages did not come while the program ran`)
}

/** When the content of each page last changed. */
async function listPages(): Promise<Map<string, number | null>> {
  const store = await openSqliteStore(shop.path('library.db'))
  try {
    const [source] = await store.listSources()
    const rows = source === undefined ? [] : await store.listRows(source.id, { state: 'indexed', limit: 10_000 })
    return new Map(rows.map(({ key, changedAt }) => [key, changedAt]))
  } finally {
    await store.close()
  }
}
