import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createRepository } from '../trees/git-fixture.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
})

afterEach(() => {
  sandbox.remove()
})

/** Runs the program on the library of the sandbox as a separate process. */
function pharos(line: string) {
  return sandbox.run(line.split(' '), { PHAROS_LIBRARY: sandbox.path('library.db') })
}

/** Runs the program inside this process, for cases whose process behaviour another test covers. */
function runHere(line: string, ...extraArgs: string[]) {
  return sandbox.runInProcess([...line.split(' '), ...extraArgs], { PHAROS_LIBRARY: sandbox.path('library.db') })
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
  test('is added, searched, explained, refreshed and removed by its path', async () => {
    sandbox.write(DOCS)
    const added = await pharos('add ./docs --version 2.1')
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' })
    expect(added.stdout).toMatch(/^docs@2\.1: 4 pages, \d+ chunks in the library\n {2}discovered {2}7\n/)
    expect(added.stdout).toContain('  skipped     3  1 ignored, 1 not-text, 1 secret\n')

    const found = await runHere('search --json', 'trim the wick')
    expect(JSON.parse(found.stdout)).toMatchObject({
      passages: [{ source: 'docs@2.1', url: `file://${sandbox.path('docs/keeper.ts')}`, start_line: 1, end_line: 3 }],
    })
    expect((await pharos('explain docs@2.1 trace.log')).stdout).toContain('State: skipped (ignored)')
    expect((await runHere('explain docs@2.1 docs/fog/horn.md')).stdout).toContain('State: indexed')

    sandbox.write({ 'docs/readme.md': '# Tower\n\nLight the lamp at noon.\n' })
    fs.renameSync(sandbox.path('docs/fog/horn.md'), sandbox.path('docs/fog/bell.md'))
    const again = await pharos('recrawl docs')
    expect(again.stdout).toMatch(/this run: 2 indexed, 2 unchanged, 1 skipped, 1 removed, /)
    expect(await statusOf('./docs')).toMatchObject({ indexed: 2, unchanged: 2, skipped: 3, gone: 1, failed: 0 })
    expect((await pharos('refresh docs')).stdout).toMatch(/this run: 4 unchanged, /)
    expect((await pharos('retry docs')).stdout).toBe('docs@2.1: nothing to retry\n')
    expect((await runHere('list')).stdout).toContain(`file://${sandbox.path('docs')}/`)
    expect((await pharos('stats')).stdout).toContain('Pages: 4\n')

    fs.renameSync(sandbox.path('docs'), sandbox.path('moved'))
    const missing = await runHere('recrawl docs')
    expect({ code: missing.code, stdout: missing.stdout }).toEqual({ code: 3, stdout: '' })
    expect(missing.stderr).toContain(`there is nothing at ${sandbox.path('docs')}`)
    expect(await statusOf('docs')).toMatchObject({ pages: 4 })
    const packed = await runHere('pack docs --out pack')
    expect(packed.stderr).toContain('4 files, ')
    expect((await pharos('remove ./docs')).stdout).toMatch(/^removed docs@2\.1: 4 pages/)
  })

  test.each([
    ['add ./nowhere', 3, /^pharos: there is nothing at .*nowhere – check the path/],
    ['add file:///nowhere/at/all', 3, /^pharos: there is nothing at \/nowhere\/at\/all/],
    ['add file://elsewhere/docs', 2, /^pharos: file:\/\/elsewhere\/docs cannot be crawled: it is not a path on this/],
    [
      'add nowhere',
      2,
      /^pharos: nowhere cannot be crawled: it is neither a URL nor an existing file or folder.*npm:nowhere, /,
    ],
    [
      'add ./empty',
      3,
      /^pharos: nothing could be indexed: file:.*\/empty\/ contains no files to read – binary and ignored files are not read: check the path/,
    ],
    ['add docs --scope hostname', 2, /^pharos: --scope is for web sites, and docs is on this machine/],
    ['add docs --header a:b', 2, /^pharos: --header is for web sites, and docs is on this machine/],
    ['add docs --path a', 2, /^pharos: path: only for a repository, an archive or a package; name the folder itself/],
    [
      'add ./docs --ref main',
      3,
      /^pharos: git\+file:.*\/docs cannot be used: git says: not a git repository.* – name the folder of a repository/,
    ],
    [
      'add m.tar.xz',
      3,
      /^pharos: .*\/m\.tar\.xz cannot be used: archives of its kind are not read – supported archives end in \.zip/,
    ],
    ['add m.zip', 3, /^pharos: .*\/m\.zip cannot be used: it is not a zip archive – supported archives end in \.zip/],
    ['add .env', 3, /^pharos: nothing could be indexed: file:.*\/\.env has no text to index: it seems to contain/],
    [
      'add locked.pdf',
      3,
      /^pharos: nothing could be indexed: file:.*\/locked\.pdf has no text to index: it is protected by a password.* – save a copy/,
    ],
    ['add https://example.com/ --ref main', 2, /^pharos: ref: only a Git repository has branches, tags and commits/],
    ['add npm:lamp --scope hostname', 2, /^pharos: --scope is for web sites, and npm:lamp is not a web site/],
    [
      'add git+https://s3cret@host.example/a',
      2,
      /^pharos: …@host\.example\/a cannot be crawled: it contains a user name/,
    ],
    ['add docs --name a@b', 2, /the name "a@b" contains @/],
    ['fetch file:///etc/passwd', 2, /its scheme is file/],
  ])('%s fails with exit code %i and says why', async (line, code, message) => {
    sandbox.write({ 'docs/a.md': '# A\n\na\n', 'm.tar.xz': 'x', 'm.zip': 'x', '.env': 'KEY=x\n' })
    fs.copyFileSync(new URL('../documents/locked.pdf', import.meta.url), sandbox.path('locked.pdf'))
    fs.mkdirSync(sandbox.path('empty'))
    const outcome = await runHere(line)
    expect({ code: outcome.code, stdout: outcome.stdout }).toEqual({ code, stdout: '' })
    expect(outcome.stderr).toMatch(message)
    expect((await runHere('list --json')).stdout).not.toContain('file:')
  })

  test('has files that are read by their paths, although another source is a single file', async () => {
    sandbox.write({ 'paper.md': '# Paper\n\nWhale oil.\n', 'docs/keep.md': '# Keep\n\nThe lamp.\n' })
    await runHere('add ./paper.md')
    await runHere('add ./docs')
    expect((await runHere('read docs/keep.md')).stdout).toContain('The lamp.')
    for (const verb of ['read', 'outline'])
      expect(await runHere(`${verb} does/not/exist.md`)).toMatchObject({ code: 3, stdout: '' })
  })
})

test('a repository is added at a tag by its path, and recrawled by its address', async () => {
  const repository = createRepository({ 'docs/horn.md': '# Horn\n\nSound it every minute.\n', 'lamp.md': '# Lamp\n' })
  repository.git('tag', 'v1.0')
  repository.commit({ 'docs/horn.md': '# Horn\n\nSound it twice.\n' })
  const added = await runHere(`add ${repository.folder} --ref v1.0 --path docs --json`)
  expect([added.stderr, added.code]).toEqual(['', 0])
  expect(await statusOf('lamp@v1.0')).toMatchObject({ url: repository.url, indexed: 1 })
  const found = await runHere('search --json', 'sound every minute')
  const commit = repository.git('rev-parse', 'v1.0')
  expect(JSON.parse(found.stdout)).toMatchObject({
    passages: [{ source: 'lamp@v1.0', url: `${repository.url}@${commit}!/docs/horn.md#horn` }],
  })
  expect((await runHere(`recrawl ${repository.url}`)).stdout).toMatch(/this run: 1 unchanged, 0 B read/)
  expect((await runHere('explain lamp@v1.0 docs/horn.md')).stdout).toContain('State: unchanged')
  // The path of a folder inside a repository limits the source to that folder.
  const subfolder = await runHere(`add ${repository.folder}/docs --ref main --json`)
  expect([subfolder.stderr, subfolder.code]).toEqual(['', 0])
  expect(await statusOf('lamp')).toMatchObject({ url: repository.url, indexed: 1 })
})

/** Enough files that a run can be interrupted half-way. */
const FILE_COUNT = 1000

test('a killed run resumes without repeating finished pages, and a concurrent run is refused', async () => {
  const files = Array.from({ length: FILE_COUNT }, (_, i) => {
    const text = `# Page ${i}\n\n${`The keeper of tower ${i} notes the tide. `.repeat(20)}\n`
    return [`docs/d${i % 9}/p${i}.md`, text] as const
  })
  sandbox.write(Object.fromEntries(files))
  const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'add', 'docs'], {
    PHAROS_LIBRARY: sandbox.path('library.db'),
  })
  await waitForPages(100, () => child.exitCode !== null)
  const second = await runHere('add docs')
  expect(second.code).toBe(1)
  expect(second.stderr).toMatch(/^pharos: docs is being crawled by another process/)
  child.kill('SIGKILL')
  expect((await ended).signal).toBe('SIGKILL')
  const before = await listPages()
  expect(before.size).toBeLessThan(FILE_COUNT)

  const rest = await runHere('add docs')
  expect(rest).toMatchObject({ code: 0, stderr: 'resuming the interrupted crawl of docs\n' })
  const { indexed, unchanged, ...status } = await statusOf('docs')
  expect(status).toMatchObject({ discovered: FILE_COUNT, pending: 0, pages: FILE_COUNT })
  expect([indexed, unchanged]).toEqual([FILE_COUNT - before.size, before.size])
  const after = await listPages()
  for (const [key, changedAt] of before) expect(after.get(key)).toBe(changedAt)
})

/** The content of a chunk file in which each text is the only chunk of its page. */
function writeChunkFile(texts: readonly string[]): string {
  const chunks = texts.map((text, i) => ({
    text,
    source_url: `https://docs.example/page/${i}`,
    section_path: 'lamp/dusk',
    content_type: 'prose',
    last_updated: '2026-02-20',
  }))
  return JSON.stringify({ source_url: 'https://docs.example/', chunks })
}

test('a file of chunks is imported, found by its section, imported again and never crawled', async () => {
  sandbox.write({ 'chunks.json': writeChunkFile(['Light the lamp with whale oil.', 'Sound the horn.']) })
  const added = await runHere('import chunks.json --name guide --version 2')
  expect([added.code, added.stderr]).toEqual([0, ''])
  expect(added.stdout).toMatch(/^guide@2: 2 pages, 2 chunks in the library\n/)
  const found = await runHere('search --json --heading lamp/dusk', 'whale oil')
  expect(JSON.parse(found.stdout)).toMatchObject({
    passages: [{ source: 'guide@2', url: 'https://docs.example/page/0#dusk', heading_path: ['lamp', 'dusk'] }],
  })
  expect((await runHere('explain guide https://docs.example/page/1')).stdout).toContain('given by hand')
  sandbox.write({
    'chunks.json': writeChunkFile(['Light the lamp with whale oil.']),
    'bad.json': writeChunkFile(['a', '']),
  })
  const again = await sandbox.shell(
    `export PHAROS_LIBRARY='${sandbox.path('library.db')}'; cat chunks.json | pharos import - --version 2`,
  )
  expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('this run: 1 unchanged, 1 removed')])
  for (const [line, code, problem] of [
    ['import bad.json', 2, 'bad.json cannot be imported: chunks[1].text: received "", give a text of 1 to 32000'],
    ['import nothing.json', 3, 'there is no file at nothing.json'],
    ['import bad.json --version=', 2, 'bad.json cannot be imported'],
    ['import chunks.json --version= --name guide', 2, 'the version "" is empty'],
    [
      'recrawl guide',
      2,
      'guide@2 was imported as chunks and cannot be crawled again – import it again with `pharos import',
    ],
    ['refresh guide', 2, 'guide@2 was imported'],
    ['retry guide', 2, 'guide@2 was imported'],
    ['add import+https://docs.example/', 2, 'its scheme is import+https'],
  ] as const) {
    const outcome = await runHere(line)
    expect([line, outcome.code, outcome.stdout, outcome.stderr]).toEqual([
      line,
      code,
      '',
      expect.stringContaining(problem),
    ])
  }
  expect(await statusOf('guide')).toMatchObject({ pages: 1, url: 'import+https://docs.example/', gone: 1 })
})

test('a killed import is completed by the next one', async () => {
  const texts = Array.from({ length: FILE_COUNT }, (_, i) => `Lamp number ${i} is lit at dusk.`)
  sandbox.write({ 'chunks.json': writeChunkFile(texts) })
  const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'import', 'chunks.json'], {
    PHAROS_LIBRARY: sandbox.path('library.db'),
  })
  await waitForPages(20, () => child.exitCode !== null)
  child.kill('SIGKILL')
  expect((await ended).signal).toBe('SIGKILL')
  const before = await listPages()
  expect(before.size).toBeLessThan(texts.length)
  const rest = await runHere('import chunks.json')
  expect([rest.code, rest.stderr]).toEqual([0, ''])
  expect(await statusOf('docs.example')).toMatchObject({
    discovered: FILE_COUNT,
    pages: FILE_COUNT,
    pending: 0,
    failed: 0,
  })
})

/** Waits until the library holds the given number of pages. */
async function waitForPages(count: number, hasExited: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline && !hasExited()) {
    if (fs.existsSync(sandbox.path('library.db')) && (await listPages()).size >= count) return
    await new Promise((wake) => setTimeout(wake, 100))
  }
  throw new Error(`the program ended or took too long before it stored ${count} pages`)
}

/** The time at which the content of each page last changed, by the key of the page. */
async function listPages(): Promise<Map<string, number | null>> {
  const store = await openSqliteStore(sandbox.path('library.db'))
  try {
    const [source] = await store.listSources()
    const rows = source === undefined ? [] : await store.listRows(source.id, { limit: 10_000 })
    return new Map(rows.filter(({ hasPage }) => hasPage).map(({ key, changedAt }) => [key, changedAt]))
  } finally {
    await store.close()
  }
}
