import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { isLong } from '../faults/bounded.ts'
import { locateChromium, openChromium } from './chromium.ts'
import {
  download,
  listDifferences,
  MIN_LARGE_BYTES,
  MIN_MIXED_FILES,
  makeMixedFiles,
  makePicture,
  openExport,
  openPageHost,
  type PageHost,
  readFiles,
  readPreviewed,
  readUploaded,
  unzip,
  writeFiles,
} from './local-fixture.ts'

/*
 * The local page produces the same bytes as the program for every way to give a folder, and requests only its own files: in a real
 * Chromium, compared with the output of the program for the same folders.
 */

const sandbox = new ProgramSandbox()
/** The browser's net log, which records the network activity of all its pages and workers. */
const netLog = sandbox.path('net-log.json')
let browser: Browser
let host: PageHost
/** All hosts of this file. */
const hosts: PageHost[] = []
/** A folder with files of every kind. */
let allKinds: ChangedFolder
/** The same folder; in a short run without code and with two files of each kind, as chunking does not depend on how a folder is given. */
let fewFiles: ChangedFolder

/** A folder before and after its changes, and the changes. */
interface ChangedFolder {
  readonly before: Packed
  readonly after: Packed
  readonly changes: Changes
}

/** A folder, and the zip that the program wrote for it. */
interface Packed {
  readonly folder: string
  readonly full: string
}

beforeAll(async () => {
  host = await openPageHost()
  hosts.push(host)
  allKinds = await makeChangedFolder('all', () => true)
  fewFiles = isLong ? allKinds : await makeChangedFolder('few', (path) => !CODE.test(path) && !LATER_FILES.test(path))
  browser = await openChromium(locateChromium(), [`--log-net-log=${netLog}`])
})

afterAll(async () => {
  await browser?.close()
  await host?.close()
  sandbox.remove()
})

const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|c|hpp|rb|sh)$/

/** All numbered files except the first two and the images. */
const LATER_FILES = /-(?:[2-9]|\d\d+)\.\w+$/

/** Changes of a folder. */
interface Changes {
  readonly added: Readonly<Record<string, string | Uint8Array>>
  readonly changed: Readonly<Record<string, string | Uint8Array>>
  readonly removed: readonly string[]
  /** A file that gets another time, but keeps its content. */
  readonly touched: string
}

const CHANGES: Changes = {
  added: {
    'added/one.md': '# Added\n\nA note that came later.\n',
    'added/two.java': 'class Later {\n  int two() {\n    return 2;\n  }\n}\n',
    'pictures/later.png': new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 1]),
  },
  changed: {
    'notes/part 0/note-0.md': '# Another\n\nNothing of it is left.\n',
    // Changed without changing the length.
    'names/fox 🦊 and 漢字.txt': 'b fox and signs',
    'code/go/part_1.go': 'package kiln\n\nfunc Changed() {}\n',
    'pictures/0/picture 0.png': new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 2]),
  },
  removed: ['notes/part 1/note-1.md', 'code/py/part_0.py', 'pictures/1/picture 1.png', 'data/record-5.json'],
  touched: 'texts/text-0.txt',
}

const YEAR_SECONDS = 31_536_000

/** Makes a folder of the included files and a changed copy of it, and packs both with the program. */
async function makeChangedFolder(name: string, isIncluded: (path: string) => boolean): Promise<ChangedFolder> {
  const include = <Content>(files: Iterable<readonly [string, Content]>) =>
    [...files].filter(([path]) => isIncluded(path))
  const changes = {
    added: Object.fromEntries(include(Object.entries(CHANGES.added))),
    changed: Object.fromEntries(include(Object.entries(CHANGES.changed))),
    removed: CHANGES.removed.filter(isIncluded),
    touched: CHANGES.touched,
  }
  const [first, second] = [sandbox.path(`${name}/first/corpus`), sandbox.path(`${name}/second/corpus`)]
  writeFiles(first, include(makeMixedFiles()))
  fs.cpSync(first, second, { recursive: true, preserveTimestamps: true })
  change(second, changes)
  return { before: await pack(first), after: await pack(second), changes }
}

function change(folder: string, { added, changed, removed, touched }: Changes): void {
  writeFiles(folder, Object.entries({ ...added, ...changed }), YEAR_SECONDS)
  for (const path of removed) fs.rmSync(join(folder, path))
  fs.utimesSync(join(folder, touched), YEAR_SECONDS, YEAR_SECONDS)
}

const LIMITS = ['--max-file-bytes', String(MIN_LARGE_BYTES)]

/** Packs a folder with the program. */
async function pack(folder: string, limits: readonly string[] = LIMITS): Promise<Packed> {
  const full = `${folder}-full.zip`
  await runProgram('pack', folder, '--out', full, '--full', ...limits)
  return { folder, full }
}

async function runProgram(...args: string[]): Promise<void> {
  expect(await sandbox.runInProcess(args)).toMatchObject({ code: 0 })
}

/** Opens the page in a browser with empty storage that caches none of its files. */
async function openPage(): Promise<Page> {
  const page = await openWindow()
  onTestFinished(() => page.context().close())
  return page
}

async function openWindow(): Promise<Page> {
  const context = await browser.newContext({ serviceWorkers: 'block' })
  return openStart(await context.newPage())
}

/** The window that tests without special needs share. */
let shared: Page | undefined

/** Shows the page in a browser with the storage of the previous tests. */
async function openShared(): Promise<Page> {
  // A failed test may leave any state behind.
  onTestFailed(async () => {
    await shared?.context().close()
    shared = undefined
  })
  shared ??= await openWindow()
  await shared.goto(`${host.address}#/`)
  return shared
}

async function openStart(page: Page, address = host.address): Promise<Page> {
  await page.goto(address)
  await page.getByRole('button', { name: 'Choose a folder' }).waitFor()
  return page
}

/** Lowers the limit that one file exceeds. */
async function lowerLimit(page: Page): Promise<void> {
  await page.getByText('Limits', { exact: true }).click()
  await page.getByLabel('Largest file, in MB').fill(String(MIN_LARGE_BYTES / 2 ** 20))
  expect(await page.locator('#exceeds-file').textContent()).toContain('1 file of more than 128 KB will be left out')
}

/** Uploads the folder to the page for the first time. */
async function previewFirst(page: Page, folder: string): Promise<void> {
  await page.locator('#folder-input').setInputFiles(folder)
  await page.getByRole('heading', { name: 'Preview of corpus' }).waitFor()
  await lowerLimit(page)
}

/** Compares the download of the page with the output of the program, and names the differences. */
async function expectSameZip(page: Page, label: 'Full pack' | 'Compact pack', written: string): Promise<void> {
  const wanted = fs.readFileSync(written)
  const { name, bytes } = await download(page, label)
  if (!bytes.equals(wanted)) expect(listDifferences(unzip(bytes), unzip(wanted))).toEqual([])
  expect(bytes.equals(wanted)).toBe(true)
  const suffix = label === 'Compact pack' ? '\\.compact' : ''
  expect(name).toMatch(new RegExp(`^[\\w-]+\\.llmx-[0-9a-f]{8}${suffix}\\.zip$`))
}

/** Runs a search and returns the best hit. */
async function findBest(page: Page, words: string): Promise<string | null> {
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await page.locator('#search-box').fill(words)
  await page.getByRole('list', { name: 'Results' }).waitFor()
  return page.locator('a.hit').first().textContent()
}

test('an uploaded folder produces the same pack files as the program, and so does its update', async () => {
  const { before, after } = allKinds
  const page = await openPage()
  await previewFirst(page, before.folder)
  await readPreviewed(page)
  await openExport(page)
  await expectSameZip(page, 'Full pack', before.full)
  const [compact, out] = [sandbox.path('compact.zip'), sandbox.path('out')]
  await runProgram('pack', before.folder, '--out', compact, ...LIMITS)
  await runProgram('pack', before.folder, '--out', out, '--full', ...LIMITS)
  await expectSameZip(page, 'Compact pack', compact)
  const wanted = readFiles(out)
  const names = [...wanted.keys()].filter((path) => !/^(?:chunks|images)\//.test(path))
  expect(names).toHaveLength(7)
  const single = new Map<string, Uint8Array>()
  for (const name of names) single.set(name, (await download(page, name)).bytes)
  expect(listDifferences(single, new Map(names.map((name) => [name, wanted.get(name) ?? new Uint8Array()])))).toEqual(
    [],
  )
  expect(listDifferences(unzip(fs.readFileSync(before.full)), wanted)).toEqual([])

  // Unchanged files are not chunked again, and an excluded file is not a change.
  await page.reload()
  const update = page.locator('[id^=update-input]')
  await update.setInputFiles(before.folder)
  const changes = page.locator('#changes')
  const none = await changes.textContent()
  expect(none).toMatch(/^0 new, 0 changed, 0 removed, \d+ unchanged: .*up to date/)
  const count = Number(/(\d+) unchanged/.exec(none ?? '')?.[1])
  expect(count).toBeGreaterThan(MIN_MIXED_FILES)
  await readPreviewed(page)
  expect(await page.locator('#index-facts').textContent()).toContain(`(0 read, ${count - 1} unchanged)`)

  await update.setInputFiles(after.folder)
  expect(await changes.textContent()).toContain(`3 new, 5 changed, 4 removed, ${count - 9} unchanged`)
  await readPreviewed(page)
  expect(await page.locator('#index-facts').textContent()).toContain(`(7 read, ${count - 9} unchanged)`)
  await openExport(page)
  await expectSameZip(page, 'Full pack', after.full)
  await page.reload()
  await expectSameZip(page, 'Full pack', after.full)
})

test('a folder from the directory picker produces the same pack, and so does its update', async () => {
  const { before, after, changes } = fewFiles
  const page = await openPage()
  await copyToPrivateFiles(page, before.folder)
  await page.evaluate(`{
    const top = navigator.storage.getDirectory()
    window.showDirectoryPicker = async () => (await top).getDirectoryHandle('corpus')
  }`)
  await page.getByRole('button', { name: 'Choose a folder' }).click()
  await page.getByRole('heading', { name: 'Preview of corpus' }).waitFor()
  await lowerLimit(page)
  await readPreviewed(page)
  await openExport(page)
  await expectSameZip(page, 'Full pack', before.full)

  const renewed = sandbox.path('renewed/corpus')
  const written = Object.keys({ ...changes.added, ...changes.changed })
  for (const path of written) fs.cpSync(join(after.folder, path), join(renewed, path))
  await copyToPrivateFiles(page, renewed, changes.removed)
  await page.reload()
  await page.getByRole('button', { name: 'Update corpus' }).click()
  await page.getByRole('heading', { name: 'Update from corpus' }).waitFor()
  await readPreviewed(page)
  expect(await page.locator('#index-facts').textContent()).toMatch(
    new RegExp(`\\(${written.length} read, \\d{2,} unchanged\\)`),
  )
  await openExport(page)
  await expectSameZip(page, 'Full pack', after.full)
})

/** Copies a folder to the private file system (OPFS), and removes some files there. */
async function copyToPrivateFiles(page: Page, folder: string, removed: readonly string[] = []): Promise<void> {
  await page.evaluate(`{
    document.querySelector('#copied')?.remove()
    const input = Object.assign(document.createElement('input'), { type: 'file', webkitdirectory: true, id: 'copied' })
    document.body.append(input)
  }`)
  await page.locator('#copied').setInputFiles(folder)
  await page.evaluate(`(async () => {
    const top = await navigator.storage.getDirectory()
    const place = async (path) => {
      const names = path.split('/')
      const name = names.pop()
      let folder = top
      for (const one of names) folder = await folder.getDirectoryHandle(one, { create: true })
      return [folder, name]
    }
    const copy = async (file) => {
      const [folder, name] = await place(file.webkitRelativePath)
      const writable = await (await folder.getFileHandle(name, { create: true })).createWritable()
      await writable.write(file)
      await writable.close()
    }
    const files = [...document.querySelector('#copied').files]
    while (files.length > 0) await Promise.all(files.splice(0, 32).map(copy))
    for (const path of ${JSON.stringify(removed)}) {
      const [folder, name] = await place(${JSON.stringify(`${basename(folder)}/`)} + path)
      await folder.removeEntry(name)
    }
  })()`)
}

test('a backslash is part of a file name, also after an update that removes most files, and a warning about ignore rules appears once', async () => {
  const folder = sandbox.path('odd/names')
  writeFiles(folder, [
    // The first two would share a path if a backslash were a separator. With the third they are too large for the database.
    ['pictures/cross\\road.png', makePicture(1, 50_000)],
    ['pictures/cross/road.png', makePicture(2, 50_000)],
    ['pictures/large.png', makePicture(3, LARGE_BYTES)],
    ['back\\slash.md', '# Slash\n\nNot a folder.\n'],
    // Only the beginning of the file applies, and one warning says so.
    ['.gitignore', '# A rule that nobody needs.\n'.repeat(10_000)],
  ])
  const page = await openShared()
  await readUploaded(page, folder)
  expect(Object.keys(await page.evaluate<object>(COUNT_PRIVATE_FILES))).toHaveLength(1)
  await openExport(page)
  await expectSameZip(page, 'Full pack', (await pack(folder, [])).full)
  // The rest fits the database, including unchanged images that were files before.
  fs.rmSync(join(folder, 'pictures/large.png'))
  writeFiles(folder, [['back\\slash.md', '# Slash\n\nStill not a folder.\n']], YEAR_SECONDS)
  await readUploaded(page, folder, '[id^=update-input]')
  expect(await page.evaluate(COUNT_PRIVATE_FILES)).toEqual({})
  await openExport(page)
  const { full } = await pack(folder, [])
  await expectSameZip(page, 'Full pack', full)
  await page.reload()
  await expectSameZip(page, 'Full pack', full)
})

/** Above this size the page keeps an index in files instead of the database. */
const LARGE_BYTES = 2 ** 20

test('without a network, folders are read, searched and exported', async () => {
  const offlineHost = await openPageHost()
  onTestFinished(() => offlineHost.close())
  hosts.push(offlineHost)
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await openStart(await context.newPage(), offlineHost.address)
  const countCachedFiles = `(async () => {
    const names = await caches.keys()
    return Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).length))
  })()`
  await expect.poll(() => page.evaluate(countCachedFiles)).toContain(12)
  await context.setOffline(true)
  await offlineHost.close()
  await page.reload()
  const folder = join(allKinds.before.folder, isLong ? 'code' : 'code/go')
  const packed = await pack(folder, [])
  await readUploaded(page, folder)
  expect(await findBest(page, 'Fire1')).toContain('part_1')
  await openExport(page)
  await expectSameZip(page, 'Full pack', packed.full)
  await page.reload()
  await expectSameZip(page, 'Full pack', packed.full)
})

test('a tab that is closed while it stores an index loses no index and leaves none incomplete', async () => {
  const { before, after } = fewFiles
  const context = await browser.newContext({ serviceWorkers: 'block' })
  onTestFinished(() => context.close())
  // A page that sees the stored indexes and changes nothing.
  const watcher = await context.newPage()
  await watcher.goto(`${host.address}grammars/go.LICENSE`)
  const countStoredFiles = () => watcher.evaluate<Record<string, number>>(COUNT_PRIVATE_FILES)
  const isUnlocked = () => watcher.evaluate('navigator.locks.query().then(({ held }) => held.length === 0)')

  // The first case starts with empty storage.
  let page = await openStart(await context.newPage())
  await holdWriting(page, 1)
  await page.locator('#pack-input').setInputFiles(before.full)
  await closeHeld(page)
  expect(Object.keys(await countStoredFiles())).toHaveLength(1)
  await expect.poll(isUnlocked, PATIENCE).toBe(true)
  page = await openStart(await context.newPage())
  await expect.poll(countStoredFiles, PATIENCE).toEqual({})
  expect(await page.getByRole('link', { name: 'Open corpus-full' }).count()).toBe(0)
  await page.locator('#pack-input').setInputFiles(before.full)
  await page.locator('#search-box').waitFor()
  const [[stored, files] = ['', 0]] = Object.entries(await countStoredFiles())
  expect(files).toBeGreaterThan(10)

  // First only some files of the index are written; then all files are written, but the record is missing.
  for (const count of isLong ? [Math.floor(files / 2), files] : [files]) {
    await holdWriting(page, count)
    await page.locator('[id^=update-input]').setInputFiles(after.folder)
    await page.getByRole('heading', { name: 'Update from corpus' }).waitFor()
    await page.getByRole('button', { name: /^Read / }).click()
    await closeHeld(page)
    expect(Object.keys(await countStoredFiles())).toHaveLength(2)
    await expect.poll(isUnlocked, PATIENCE).toBe(true)
    page = await openStart(await context.newPage())
    await page.getByRole('link', { name: 'Open corpus-full' }).click()
    await openExport(page)
    expect(Object.keys(await countStoredFiles())).toEqual([stored])
  }
  await expectSameZip(page, 'Full pack', before.full)
})

/** Blocks a page while it stores an index, after the given number of files. */
async function holdWriting(page: Page, count: number): Promise<void> {
  await expect.poll(() => page.workers().length, PATIENCE).toBe(1)
  await page.workers()[0]?.evaluate(`{
    const { close } = FileSystemWritableFileStream.prototype
    let left = ${count}
    FileSystemWritableFileStream.prototype.close = async function () {
      await close.call(this)
      if (--left > 0) return
      globalThis.isHeld = true
      await new Promise(() => {})
    }
  }`)
}

/** Closes a page that `holdWriting` has blocked. */
async function closeHeld(page: Page): Promise<void> {
  await expect.poll(() => page.workers()[0]?.evaluate('globalThis.isHeld'), PATIENCE).toBe(true)
  await page.close()
}

const PATIENCE = { timeout: 60_000 }

/** Script that counts the private files in each folder. */
const COUNT_PRIVATE_FILES = `(async () => {
  const top = await (await navigator.storage.getDirectory()).getDirectoryHandle('llmx-ingestor', { create: true })
  const counts = {}
  for await (const [name, folder] of top) {
    counts[name] = 0
    for await (const _ of folder.keys()) counts[name]++
  }
  return counts
})()`

test('a pack and an index.json can be opened again, renamed and deleted', async () => {
  const { before } = fewFiles
  const page = await openPage()
  await page.locator('#pack-input').setInputFiles(before.full)
  await page.locator('#search-box').waitFor()
  expect(await findBest(page, 'maß ziel')).toContain('Übergröße')
  await openExport(page)
  await expectSameZip(page, 'Full pack', before.full)
  await page.reload()
  await expectSameZip(page, 'Full pack', before.full)
  await page.getByRole('button', { name: 'Rename corpus-full' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Ours')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ours' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Ours' }).waitFor()

  // An index.json has everything except the images.
  await page.goto(`${host.address}#/`)
  const index = sandbox.path('index.json')
  const content = unzip(fs.readFileSync(before.full)).get('index.json') ?? new Uint8Array()
  fs.writeFileSync(index, content)
  await page.locator('#pack-input').setInputFiles(index)
  await page.getByRole('heading', { level: 1, name: 'index' }).waitFor()
  await openExport(page)
  expect(Buffer.compare((await download(page, 'index.json')).bytes, content)).toBe(0)
  await page.getByRole('button', { name: 'Download Full pack' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('An index.json has no images')

  const records = await pack(join(before.folder, 'data'), [])
  fs.writeFileSync(index, unzip(fs.readFileSync(records.full)).get('index.json') ?? '')
  await page.goto(`${host.address}#/`)
  await page.getByRole('button', { name: 'Delete index', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('link', { name: 'Open index', exact: true }).waitFor({ state: 'detached' })
  await page.locator('#pack-input').setInputFiles(index)
  await page.getByRole('heading', { level: 1, name: 'index' }).waitFor()
  await openExport(page)
  await expectSameZip(page, 'Full pack', records.full)
  // An index.json does not record how its files were chunked, so all files count as changed.
  const count = fs.readdirSync(records.folder).length
  await page.locator('[id^=update-input]').setInputFiles(records.folder)
  expect(await page.locator('#changes').textContent()).toContain(`0 new, ${count} changed, 0 removed, 0 unchanged`)
  await readPreviewed(page)
  expect(await page.locator('#index-facts').textContent()).not.toContain('unchanged')
  await openExport(page)
  await expectSameZip(page, 'Full pack', records.full)

  await page.goto(`${host.address}#/`)
  for (const name of ['Ours', 'index']) {
    await page.getByRole('button', { name: `Delete ${name}`, exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: `Open ${name}`, exact: true }).waitFor({ state: 'detached' })
  }
  await page.reload()
  await page.getByRole('button', { name: 'Choose a folder' }).waitFor()
  expect(await page.evaluate(COUNT_PRIVATE_FILES)).toEqual({})
})

test('a folder without text is reported, and so are images that another tab removed', async () => {
  const page = await openShared()
  const empty = sandbox.path('no-text')
  writeFiles(empty, [['empty.md', '']])
  await page.locator('#folder-input').setInputFiles(empty)
  await page.getByRole('button', { name: /^Read / }).click()
  expect(await page.getByRole('alert').textContent()).toContain('1 file without text, 0 skipped, 0 warnings')
  await page.goto(`${host.address}#/`)
  const album = sandbox.path('album')
  writeFiles(
    album,
    [...makeMixedFiles()].filter(([path]) => path.startsWith('pictures/')),
  )
  const { full } = await pack(album, [])
  await readUploaded(page, album)
  await openExport(page)
  const other = await openStart(await page.context().newPage())
  onTestFinished(() => other.close())
  await other.getByRole('button', { name: 'Delete album', exact: true }).click()
  await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await other.getByRole('link', { name: 'Open album', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Download Full pack' }).click()
  expect(await page.getByRole('alert').textContent()).toMatch(
    /can no longer be read.*another tab.*open the index again/s,
  )
  // Everything else is still in memory.
  const wanted = unzip(fs.readFileSync(full)).get('index.json') ?? new Uint8Array()
  expect(Buffer.compare((await download(page, 'index.json')).bytes, wanted)).toBe(0)
})

test('the browser requested nothing but the files of the page in all these tests', async () => {
  await browser.close()
  const { constants, events } = JSON.parse(fs.readFileSync(netLog, 'utf8')) as NetLog
  const types = new Map(Object.entries(constants.logEventTypes).map(([name, number]) => [number, name]))
  const eventsOf = (name: string) =>
    events.filter(({ type, params }) => types.get(type) === name && params !== undefined)
  const requested = [...new Set(eventsOf('URL_REQUEST_START_JOB').flatMap(({ params }) => params?.url ?? []))]
  expect(requested.filter((address) => !hosts.some((one) => address.startsWith(one.address)))).toEqual([])
  // The requests include those of workers.
  expect(requested).toContain(`${host.address}grammars/go.wasm`)
  const reached = eventsOf('TCP_CONNECT_ATTEMPT').flatMap(({ params }) => params?.address ?? [])
  expect(new Set(reached)).toEqual(new Set(hosts.map(({ address }) => new URL(address).host)))
  expect(eventsOf('HOST_RESOLVER_MANAGER_JOB')).toEqual([])
})

/** The parts of a net log that the test reads. */
interface NetLog {
  readonly constants: { readonly logEventTypes: Readonly<Record<string, number>> }
  readonly events: readonly {
    readonly type: number
    readonly params?: { readonly url?: string; readonly address?: string }
  }[]
}
