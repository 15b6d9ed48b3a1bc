import * as fs from 'node:fs'
import type { Browser, BrowserContext, Dialog, Page, Worker } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { isLong } from '../faults/bounded.ts'
import { locateChromium, openChromium } from './chromium.ts'
import {
  download,
  listDifferences,
  openExport,
  openPageHost,
  type PageHost,
  readPreviewed,
  readUploaded,
  unzip,
  writeFiles,
} from './local-fixture.ts'

/*
 * Kept indexes are neither lost nor wrong, whatever happens to the folder, the imported pack, the storage quota or other tabs: in a real
 * Chromium, compared with the output of the program for the same folders.
 */

const sandbox = new ProgramSandbox()
let browser: Browser
let host: PageHost
/** The window that all tests share, because opening a new one costs more than most tests do in it. */
let context: BrowserContext
let page: Page
/** Whether a test patched the worker of the page, which must be reloaded before the next test. */
let isWorkerPatched = false

beforeAll(async () => {
  host = await openPageHost()
  browser = await openChromium(locateChromium())
  await openWindow()
})

beforeEach(() => (isWorkerPatched ? openStart() : page.goto(`${host.address}#/`)))

// A failed test may leave any state behind.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  await context.close()
  await openWindow()
})

afterAll(async () => {
  await browser?.close()
  await host?.close()
  sandbox.remove()
})

async function openWindow(): Promise<void> {
  context = await browser.newContext({ serviceWorkers: 'block' })
  page = await openTab()
}

async function openTab(within = context): Promise<Page> {
  const tab = await within.newPage()
  await openStart(tab)
  return tab
}

/** Reloads the page, which also discards what a test changed in the worker. */
async function openStart(tab = page): Promise<void> {
  await tab.goto('about:blank')
  await tab.goto(host.address)
  if (tab === page) isWorkerPatched = false
  await tab.getByRole('button', { name: 'Choose a folder' }).waitFor()
}

const PATIENCE = { timeout: 60_000 }

/** The worker of the page. */
async function workerOf(tab = page): Promise<Worker> {
  await expect.poll(() => tab.workers().length, PATIENCE).toBe(1)
  const [worker] = tab.workers()
  if (worker === undefined) throw new Error('the page has no worker')
  return worker
}

/** Runs a script in the worker of the page that replaces browser APIs. */
async function patchWorker(script: string): Promise<void> {
  isWorkerPatched = true
  await (await workerOf()).evaluate(script)
}

const readFacts = (tab = page) => tab.locator('#index-facts').textContent()

/** The pack that the program writes for the folder now. */
async function packByProgram(folder: string, ...args: string[]): Promise<Buffer> {
  const out = sandbox.path(`${folder}-${args.join('')}.zip`)
  expect(await sandbox.runInProcess(['pack', sandbox.path(folder), '--out', out, '--full', ...args])).toMatchObject({
    code: 0,
  })
  return fs.readFileSync(out)
}

/** Expects the export of the page to equal the output of the program. */
async function expectSame(folder: string): Promise<void> {
  const wanted = await packByProgram(folder)
  await openExport(page)
  const { bytes } = await download(page, 'Full pack')
  if (!bytes.equals(wanted)) expect(listDifferences(unzip(bytes), unzip(wanted))).toEqual([])
  expect(bytes.equals(wanted)).toBe(true)
}

/** Updates the open index from a folder of the disk. */
async function update(folder: string): Promise<void> {
  await readUploaded(page, sandbox.path(folder), '[id^=update-input]')
}

const NOTES = Array.from({ length: 8 }, (_, i) => [`n/${i + 10}.md`, `# Note ${i}\n\nThe words of ${i}.\n`] as const)

/** Writes files to the private file system (OPFS), makes the directory picker return their folder, and chooses it. */
async function choosePrivate(name: string, files: readonly (readonly [string, string])[]): Promise<void> {
  await page.evaluate(`(async () => {
    const top = await navigator.storage.getDirectory()
    for (const [path, content] of ${JSON.stringify(files)}) {
      let folder = await top.getDirectoryHandle(${JSON.stringify(name)}, { create: true })
      const names = path.split('/')
      const last = names.pop()
      for (const one of names) folder = await folder.getDirectoryHandle(one, { create: true })
      const writable = await (await folder.getFileHandle(last, { create: true })).createWritable()
      await writable.write(content)
      await writable.close()
    }
    window.showDirectoryPicker = () => top.getDirectoryHandle(${JSON.stringify(name)}, { create: true })
  })()`)
  await page.getByRole('button', { name: 'Choose a folder' }).click()
}

/** After five more files, the browser refuses to open files, and with `isGone` also to list folders. */
async function loseFolder(isGone: boolean): Promise<void> {
  await patchWorker(`{
    const refuse = () => Promise.reject(new DOMException('gone', 'NotFoundError'))
    const { getFile } = FileSystemFileHandle.prototype
    let left = 5
    FileSystemFileHandle.prototype.getFile = function () {
      if (--left < 0 && ${isGone}) {
        for (const name of ['keys', 'values', 'entries']) {
          FileSystemDirectoryHandle.prototype[name] = () => ({ next: refuse, [Symbol.asyncIterator]() { return this } })
        }
      }
      return left < 0 ? refuse() : getFile.call(this)
    }
  }`)
}

describe('a folder that disappears during an update', () => {
  const read = () => page.getByRole('button', { name: /^(?:Read|Remove) / }).click()
  const whole = expect.stringContaining(`${NOTES.length} files, `)

  /** The browser context that has the index. Each test leaves the index as it was. */
  let contextWithIndex: BrowserContext | undefined

  beforeEach(async () => {
    if (contextWithIndex !== context) {
      await choosePrivate('notes', NOTES)
      await page.getByRole('heading', { name: 'Preview of notes' }).waitFor()
      await readPreviewed(page)
      expect(await readFacts()).toEqual(whole)
      await page.goto(`${host.address}#/`)
      contextWithIndex = context
    }
    await page.getByRole('button', { name: 'Update notes' }).click()
    await page.getByRole('heading', { name: 'Update from notes' }).waitFor()
  })

  const expectUnchangedIndex = async () => {
    await openStart()
    await page.getByRole('link', { name: 'Open notes' }).click()
    await page.locator('#search-box').waitFor()
    expect(await readFacts()).toEqual(whole)
  }

  test('a lost folder ends the update, and the index stays as it was', async () => {
    await loseFolder(true)
    await read()
    expect(await page.getByRole('alert').textContent()).toMatch(/can no longer be read.*is unchanged/)
    await expectUnchangedIndex()
    expect(await page.getByRole('link', { name: /^Warnings/ }).textContent()).toBe('Warnings 0')
  })

  test('lost files keep their earlier content, with a warning each, until they are back', async () => {
    await loseFolder(false)
    await read()
    await page.locator('#search-box').waitFor()
    expect(await readFacts()).toEqual(whole)
    await page.getByRole('link', { name: /^Warnings/ }).click()
    await page.getByText('cannot be read now; the previous version is kept').first().waitFor()
    await expectUnchangedIndex()
    await page.getByRole('button', { name: 'Update notes' }).click()
    await page.getByRole('heading', { name: 'Update from notes' }).waitFor()
    await read()
    await page.locator('#search-box').waitFor()
    expect(await readFacts()).toContain(`(0 read, ${NOTES.length} unchanged)`)
    expect(await page.getByRole('link', { name: /^Warnings/ }).textContent()).toBe('Warnings 0')
  })

  test('lost files end the update when changed limits rule out the earlier content', async () => {
    await page.getByText('Limits', { exact: true }).click()
    await page.getByLabel('Chunk limit per file').fill('77')
    await loseFolder(false)
    await read()
    expect(await page.getByRole('alert').textContent()).toMatch(/can no longer be read/)
    await expectUnchangedIndex()
  })
})

describe('a pack from another source', () => {
  const OTHER_LIMITS = ['--chunk-target-chars', '500', '--chunk-max-chars', '1000']
  const PARTS = ['--split', '4000']

  test.each([
    { what: 'with other limits, in parts', limits: [...OTHER_LIMITS, ...PARTS] },
    { what: 'with words that are not in its files', limits: [] },
    ...(isLong
      ? [
          { what: 'with other limits', limits: OTHER_LIMITS },
          { what: 'in parts', limits: PARTS },
        ]
      : []),
  ])('$what gives the output of the program after an update', async ({ what, limits }) => {
    const paragraphs = Array.from({ length: 60 }, (_, i) => `w${i} word `.repeat(40))
    writeFiles(sandbox.path('doc'), [
      ['long.txt', paragraphs.join('\n\n')],
      ['b.md', '# B\n\nTrue words.\n'],
      ['noise.dat', new Uint8Array([0, 1, 2, 0])],
    ])
    let packPath = sandbox.path(`doc-${limits.join('')}.zip`)
    if (limits.includes('--split')) {
      expect(
        await sandbox.runInProcess(['pack', sandbox.path('doc'), '--out', packPath, '--full', ...limits]),
      ).toMatchObject({
        code: 0,
      })
      packPath = packPath.replace(/\.zip$/, '.part-1.zip')
    } else {
      const full = await packByProgram('doc', ...limits)
      if (limits.length === 0) {
        packPath = sandbox.path('index.json')
        const index = Buffer.from(unzip(full).get('index.json') ?? []).toString()
        fs.writeFileSync(packPath, index.replaceAll('True words', 'False words'))
      }
    }
    await page.locator('#pack-input').setInputFiles(packPath)
    await page.locator('#search-box').waitFor()
    await page.locator('[id^=update-input]').setInputFiles(sandbox.path('doc'))
    expect(await page.locator('#changes').textContent()).toMatch(/0 unchanged\. All files are read again/)
    if (!limits.includes('--split')) expect(await page.locator('#changes').textContent()).toMatch(/^0 new, 3 changed/)
    await readPreviewed(page)
    expect(await readFacts(), what).not.toContain('unchanged')
    await expectSame('doc')
  })

  test('is not read as a folder, and an empty folder is reported', async () => {
    writeFiles(sandbox.path('packed'), [['a.md', '# A\n']])
    const out = sandbox.path('packed-out')
    expect(await sandbox.runInProcess(['pack', sandbox.path('packed'), '--out', out, '--full'])).toMatchObject({
      code: 0,
    })
    await page.locator('#folder-input').setInputFiles(out)
    expect(await page.getByRole('alert').textContent()).toMatch(/is itself a pack.*Open it as a pack/)
    await choosePrivate('empty', [])
    await expect.poll(() => page.getByRole('alert').textContent(), PATIENCE).toContain('There is nothing in empty')
  })
})

describe('changed files of the same size and time', () => {
  test('are found in a folder that is uploaded again', async () => {
    const write = (version: number) => {
      fs.rmSync(sandbox.path('package'), { recursive: true, force: true })
      writeFiles(sandbox.path('package'), [
        ['README.md', '# Thing\n\nThe same.\n'],
        ['package.json', `{"version":"1.0.${version}"}\n`],
        ['noise.dat', new Uint8Array([0, version, 0])],
      ])
    }
    write(1)
    await readUploaded(page, sandbox.path('package'))
    write(2)
    await page.locator('[id^=update-input]').setInputFiles(sandbox.path('package'))
    expect(await page.locator('#changes').textContent()).toContain('0 new, 2 changed, 0 removed, 1 unchanged')
    await readPreviewed(page)
    await expectSame('package')
    await page.locator('[id^=update-input]').setInputFiles(sandbox.path('package'))
    expect(await page.locator('#changes').textContent()).toContain('3 unchanged: the index is up to date')
  })

  test('are found when many files share one time, and when the user reads again anyway', async () => {
    const files = [
      ['a.md', '# A\n\nFirst.\n'],
      ['bb.md', '# B\n\nFirst.\n'],
    ] as const
    const setTime = (time: string) =>
      patchWorker(`Object.defineProperty(File.prototype, 'lastModified', { get() { return ${time} } })`)
    for (const { time, found } of [
      { time: '1.5e12', found: '1 changed, 0 removed, 1 unchanged' },
      { time: '1.5e12 + this.name.length', found: '2 unchanged: the index is up to date' },
    ]) {
      await openStart()
      await setTime(time)
      await choosePrivate('timed', files)
      await readPreviewed(page)
      await page.goto(`${host.address}#/`)
      await choosePrivate('timed', [['bb.md', '# B\n\nOther.\n']])
      await page.getByRole('button', { name: 'Update it instead' }).first().click()
      expect(await page.locator('#changes').textContent()).toContain(found)
      await readPreviewed(page)
      await page.locator('#search-box').fill('other')
      await page.getByRole('list', { name: 'Results' }).waitFor()
      expect(await readFacts()).toContain('(1 read, 1 unchanged)')
    }
  })
})

test('an update that could not be stored survives the deletion of the old index, and can be stored then', async () => {
  writeFiles(sandbox.path('grow'), [
    ['a.md', '# Glaze\n'],
    ['p.png', makePicture()],
  ])
  await readUploaded(page, sandbox.path('grow'))
  const devtools = await context.newCDPSession(page)
  const { origin } = new URL(host.address)
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100 })
  writeFiles(sandbox.path('grow'), [['b.md', `# Kiln\n\n${'The later words. '.repeat(2000)}\n`]])
  await update('grow')
  await page.locator('#not-kept').waitFor()
  await page.goto(`${host.address}#/`)
  await page.locator('#open-unkept').waitFor()
  await page.getByRole('button', { name: 'Delete grow' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete grow' }).waitFor({ state: 'detached' })
  await page.locator('#open-unkept').getByRole('link').click()
  await expectSame('grow')

  // Leaving now would lose the update.
  const [dialog] = await Promise.all([
    page.waitForEvent('dialog') as Promise<Dialog>,
    page.evaluate('setTimeout(() => location.reload())'),
  ])
  expect(dialog.type()).toBe('beforeunload')
  await dialog.dismiss()
  await devtools.send('Storage.overrideQuotaForOrigin', { origin })
  await page.getByRole('button', { name: 'Try again to keep it' }).click()
  await page.getByRole('button', { name: 'Delete grow' }).waitFor()
  await page.reload()
  await expectSame('grow')
})

const PNG = [137, 80, 78, 71, 13, 10, 26, 10]

/** Bytes that begin like an image, and are kept in files instead of the database. */
function makePicture(): Uint8Array {
  return Uint8Array.from({ length: 1.2 * 2 ** 20 }, (_, i) => PNG[i] ?? (i * 7919) % 251)
}

test('storing an index can be cancelled until it is complete, and another tab may rename the index', async () => {
  writeFiles(sandbox.path('slow'), [
    ['a.md', '# Clay\n'],
    ['p.png', makePicture()],
  ])
  const kept = await page.evaluate(COUNT_PRIVATE)
  await page.locator('#folder-input').setInputFiles(sandbox.path('slow'))
  await page.getByRole('heading', { name: 'Preview of slow' }).waitFor()
  await patchWorker(`{
    const { close } = FileSystemWritableFileStream.prototype
    FileSystemWritableFileStream.prototype.close = async function () {
      await new Promise((resolve) => { globalThis.goOn = resolve })
      FileSystemWritableFileStream.prototype.close = close
      return close.call(this)
    }
  }`)
  await page.getByRole('button', { name: /^Read / }).click()
  await page.getByText('Keeping it in this browser').waitFor()
  await expect.poll(async () => (await workerOf()).evaluate('typeof goOn'), PATIENCE).toBe('function')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await (await workerOf()).evaluate('goOn()')
  await page.getByRole('heading', { name: 'Preview of slow' }).waitFor()
  expect(await page.evaluate(COUNT_PRIVATE)).toBe(kept)
  await readPreviewed(page)

  const other = await openTab()
  await other.getByRole('link', { name: 'Open slow' }).click()
  await other.locator('[id^=update-input]').setInputFiles(sandbox.path('slow'))
  await other.getByRole('heading', { name: 'Update from slow' }).waitFor()
  await (await workerOf(other)).evaluate(`{
    const { arrayBuffer } = Blob.prototype
    Blob.prototype.arrayBuffer = async function () {
      await new Promise((resolve) => { globalThis.goOn = resolve })
      Blob.prototype.arrayBuffer = arrayBuffer
      return arrayBuffer.call(this)
    }
  }`)
  await other.getByRole('button', { name: /^Read / }).click()
  await expect.poll(async () => (await workerOf(other)).evaluate('typeof goOn'), PATIENCE).toBe('function')
  await page.getByRole('button', { name: 'Rename slow' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Renamed')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  await (await workerOf(other)).evaluate('goOn()')
  await other.locator('#search-box').waitFor()
  expect(await other.getByRole('heading', { level: 1 }).textContent()).toBe('Renamed')
  await other.close()
})

/** Script that counts the private folders in which indexes are kept. */
const COUNT_PRIVATE = `(async () => {
  const top = await (await navigator.storage.getDirectory()).getDirectoryHandle('llmx-ingestor', { create: true })
  let count = 0
  for await (const _ of top.keys()) count++
  return count
})()`

/** Opens a tab without an index, in which the function `withRecords` edits the records of the database. */
async function openRecords(within: BrowserContext): Promise<Page> {
  const tab = await within.newPage()
  await tab.goto(`${host.address}grammars/go.LICENSE`)
  await tab.evaluate(`globalThis.withRecords = (version, work) => new Promise((resolve, reject) => {
    const opening = indexedDB.open('llmx-ingestor', version)
    opening.onupgradeneeded = () => {
      const { result } = opening
      if (!result.objectStoreNames.contains('indexes')) result.createObjectStore('indexes', { keyPath: 'id' })
    }
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('indexes', 'readwrite')
      work(transaction.objectStore('indexes'))
      transaction.oncomplete = () => {
        opening.result.close()
        resolve()
      }
    }
  })`)
  return tab
}

test('changes of the database by other tabs are reported and break nothing', async () => {
  writeFiles(sandbox.path('small'), [['a.py', 'def fire(heat):\n    return heat\n']])
  await readUploaded(page, sandbox.path('small'))
  await page.goto(`${host.address}#/`)
  // Another tab deletes the database.
  const records = await openRecords(context)
  await records.evaluate(`new Promise((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase('llmx-ingestor')
    deleting.onsuccess = resolve
    deleting.onblocked = reject
  })`)
  await readUploaded(page, sandbox.path('small'))
  expect(await page.locator('#not-kept').count()).toBe(0)

  // Stores an invalid record, and a record that was made while the parser had failed.
  await records.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('llmx-ingestor')
    opening.onsuccess = () => {
      const all = opening.result.transaction('indexes').objectStore('indexes').getAll()
      all.onsuccess = async () => {
        opening.result.close()
        const [record] = all.result
        const index = JSON.parse(await record.body.index.text())
        index.warnings.push({ path: 'a.py', code: 'parser', message: 'cut as text: the parser failed' })
        index.chunks[0].symbol = null
        const body = { ...record.body, index: new Blob([JSON.stringify(index)]) }
        withRecords(1, (store) => {
          store.put({ id: 'x', name: 'old' })
          store.put({ ...record, body })
        }).then(resolve, reject)
      }
    }
  })`)
  await openStart()
  await expect.poll(() => page.getByRole('link', { name: /^Open / }).count(), PATIENCE).toBe(1)
  await page.getByRole('link', { name: /^Open / }).click()
  await update('small')
  expect(await page.locator('#not-kept').count()).toBe(0)
  expect(await page.getByRole('link', { name: /^Warnings/ }).textContent()).toBe('Warnings 0')
  await expectSame('small')

  const later = await browser.newContext({ serviceWorkers: 'block' })
  await (await openRecords(later)).evaluate('withRecords(2, () => {})')
  const notice = (await openTab(later)).locator('#nothing-kept')
  expect(await notice.textContent()).toContain('written by a later version of this page')
  await later.close()
})
