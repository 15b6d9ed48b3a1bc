import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { UNSAFE_CHARACTERS } from '../../src/core/text/sanitize-text.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { isLong } from '../faults/bounded.ts'
import { locateChromium, openChromium } from './chromium.ts'
import { download, drop, measureLongestTask, openExport, openPageHost, type PageHost, unzip } from './local-fixture.ts'

/* The local page in a real Chromium that lacks a feature, or with malicious files. */

const MEGABYTE = 2 ** 20

/**
 * A long run uses a hundred thousand files and a line as long as a file may be. A short run needs only enough files to be cancelled while
 * reading, to fill long lists, and to be dropped.
 */
const [MANY, MANY_LISTED, MANY_DROPPED] = isLong ? [100_000, 100_000, 100_000] : [4000, 450, 100]
const LINE_BYTES = isLong ? 10 * MEGABYTE : MEGABYTE / 16
/** Generous, because machines can be busy. */
const PATIENCE = { timeout: isLong ? 900_000 : 60_000 }
/** Writing, uploading and reading the files takes minutes. */
const LONG_TIMEOUT = { timeout: 4 * PATIENCE.timeout }
/**
 * Limit of elapsed time for a task, which may also wait without using the CPU: far more than a task that yields takes on a busy machine, and
 * far less than one that never yields.
 */
const MAX_PAUSE_MS = 2000
/** Limit of CPU time for which the page may work without yielding. */
const MAX_TASK_MS = 100

const sandbox = new ProgramSandbox()
let browser: Browser
let host: PageHost

// Takes long when Chromium must be installed first.
beforeAll(async () => {
  const opening = openChromium()
  writeLarge('large')
  write('tiny/a.md', '# Glaze\n\nThe first words.\n')
  host = await openPageHost()
  browser = await opening
})

afterAll(async () => {
  await browser?.close()
  await host?.close()
  sandbox.remove()
})

/** Script of malicious files; it must never run. */
const HARM = 'globalThis.ran=1;alert(1)'
const IMAGE = `<img src=x onerror=${HARM}>`
const SCRIPT = `<script>${HARM}</script>`
/** Reverses the text direction, rings the bell, and changes the colors of a terminal. */
const INVISIBLE = '\u202egnp.\u0007\u001b[31m\u2066'

describe('malicious files', () => {
  const root = `harm ${IMAGE} \u202efdp`

  test('are always shown as text, and are chunked in the same way as by the program', async () => {
    writeHostileFolder(root)
    const { page, problems } = await openShared()
    await upload(page, root)
    await page.getByRole('heading', { name: /^Preview of harm/ }).waitFor(PATIENCE)
    for (const group of await page.locator('.groups summary').all()) await group.click()
    expect(await readSafely(page)).toContain(`*${IMAGE}*.log`)
    await page.getByRole('button', { name: /^Read/ }).click()
    await page.locator('#search-box').waitFor(PATIENCE)
    expect(await page.locator('h1').textContent()).toBe(`harm ${IMAGE} \ufffdfdp`)

    await page.locator('#search-box').fill('kiln')
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    expect(await readSafely(page)).toContain(SCRIPT)
    for (const [part, shown] of [
      ['Files', `${IMAGE}.md`],
      ['Outline', IMAGE],
      ['Symbols', '__proto__'],
      ['Warnings', IMAGE],
    ] as const) {
      await openPart(page, part)
      // The previous view stays until the new one is loaded.
      await expect.poll(() => readSafely(page), { ...PATIENCE, message: part }).toContain(shown)
    }

    await openPart(page, 'Search')
    const hits = await page
      .locator('a.hit')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
    expect(hits.length).toBeGreaterThan(8)
    for (const href of hits) {
      await page.evaluate(`location.assign(${JSON.stringify(href)})`)
      const ref = /chunk\/(\w+)/.exec(href)?.[1] ?? ''
      await page.getByText(` · ${ref}`).waitFor(PATIENCE)
      expect(await readSafely(page)).toContain('kiln')
    }
    for (const address of [`__proto__/chunk/${encodeURIComponent(IMAGE)}`, 'constructor', `%00/${SCRIPT}`, '../..']) {
      await page.evaluate(`location.assign(${JSON.stringify(`#/index/${address}`)})`)
      await page.getByRole('heading', { name: /not open|no such page/ }).waitFor(PATIENCE)
      await readSafely(page)
    }
    await page.goBack()
    expect(problems).toEqual([])

    await page.goto(`${host.address}#/`)
    await page.getByRole('link', { name: /^Open harm/ }).click()
    await expectPack(page, root)
    expect(problems).toEqual([])
  })

  test('stay in their folder, whatever their paths say', async () => {
    const { page, problems } = await openShared()
    await page.evaluate(`{
      const paths = ${JSON.stringify(TRICKY_PATHS)}
      const data = new DataTransfer()
      for (const path of paths) data.items.add(new File(['# Kiln ' + path], path.split('/').at(-1)))
      const input = document.querySelector('#folder-input')
      input.files = data.files
      // Real folders have no such paths, but a faulty browser might report them.
      for (const [i, file] of [...input.files].entries()) {
        Object.defineProperty(file, 'webkitRelativePath', { value: 'root/' + paths[i] })
      }
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }`)
    await page.getByRole('heading', { name: 'Preview of root' }).waitFor(PATIENCE)
    await page.getByText('Neither file nor folder').click()
    expect(await page.locator('.figure').textContent()).toContain(`${HARMLESS_PATHS.length} files`)
    await page.getByRole('button', { name: /^Read/ }).click()
    await page.locator('#search-box').waitFor(PATIENCE)
    await openPart(page, 'Files')
    await page.locator('.rows').waitFor(PATIENCE)
    expect(await page.locator('.rows a.path').allTextContents()).toEqual(HARMLESS_PATHS)
    expect(problems).toEqual([])
  })

  test('are kept apart when several are dropped under one name', async () => {
    const { page, problems } = await openShared()
    await page.evaluate(`{
      const data = new DataTransfer()
      for (const name of ['__proto__', '__proto__', 'constructor', 'a.md', 'a.md', 'a (2).md', '.md', '.md']) {
        data.items.add(new File(['kiln ' + data.items.length], name))
      }
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    }`)
    await page.getByRole('button', { name: 'Read 8 files' }).click(PATIENCE)
    await page.locator('#search-box').fill('kiln')
    await expect.poll(() => page.locator('#result-count').textContent(), PATIENCE).toBe('8 results')

    // A file, a folder and another folder with the same file: the browser tells the folders apart itself.
    write('one/twin', 'kiln of a file')
    write('two/twin/in.md', '# Kiln of a folder\n')
    write('three/twin/in.md', '# Kiln of another\n')
    await page.goto(`${host.address}#/`)
    await drop(
      page,
      ['one', 'two', 'three'].map((folder) => sandbox.path(`${folder}/twin`)),
    )
    await page.getByRole('button', { name: 'Read 3 files' }).click(PATIENCE)
    await openPart(page, 'Files')
    await expect
      .poll(() => page.locator('.rows a.path').allTextContents(), PATIENCE)
      .toEqual(['twin', 'twin (1)/in.md', 'twin (2)/in.md'])
    expect(problems).toEqual([])
  })

  test('are read with any name, and exported under safe names', async () => {
    for (const name of ODD_NAMES) write(`odd/names/${name}`, `# Kiln ${JSON.stringify(name)}\n`)
    for (const name of ODD_FOLDERS) write(`odd/${name}/in.md`, `# Kiln in ${JSON.stringify(name)}\n`)
    const { page, problems } = await openShared()
    // These files are dropped, because a folder handle hides most of them.
    await drop(page, [sandbox.path('odd')])
    await read(page, ODD_NAMES.length + ODD_FOLDERS.length)
    const entries = [...unzip(await expectPack(page, 'odd')).keys()]
    expect(entries).toContain('images/names/up.png')
    expect(entries.filter((name) => /^\/|\\|\0|(?:^|\/)\.{0,2}(?:\/|$)/.test(name))).toEqual([])
    await page.goto(`${host.address}#/`)
    await upload(page, 'odd/names')
    await read(page, ODD_NAMES.length)
    await expectPack(page, 'odd/names')

    // A name that is not valid UTF-8 cannot be opened, and a warning says so.
    write('nameless/a.md', '# Kiln\n')
    writeFileSync(Buffer.concat([Buffer.from(sandbox.path('nameless/b-')), Buffer.from([0xff, 0xfe])]), 'kiln')
    await page.goto(`${host.address}#/`)
    await drop(page, [sandbox.path('nameless')])
    await page.getByText('Names that are not valid text').waitFor(PATIENCE)
    await read(page, 1)
    await openPart(page, 'Warnings')
    await page.getByText('left out: its name is not valid UTF-8').waitFor(PATIENCE)
    expect(problems).toEqual([])
  })
})

/** Names that are invalid on other systems, look alike, or have a meaning in programs. */
const ODD_NAMES = [
  ...['..\\up.md', '..\\up.png', 'C:\\windows\\up.md', '...', '..a.md', '.hidden', '~tilde~', '-rf', '%2e%2e%2fup.md'],
  ...['CON', 'con.md', 'nul.txt', 'aux.png', 'COM1.md', 'lpt9', 'desktop.ini', 'short.lnk', 'address.url', 'x.local'],
  ...['What now?.md', 'a:b.md', 'star*.md', 'a "b".md', '<b>.md', 'a|b.png', 'dot.', 'space ', ' before.md'],
  ...['tab\there.md', 'line\nbreak.md', 'bell\u0007.md', 'colour\u001b[31m.md', 'delete\u007f.md', 'next\u0085.md'],
  ...[
    '\u202egnp.md',
    'isolated\u2066.md',
    'no\u200bwidth.md',
    'mark\ufeff.md',
    'line\u2028end.md',
    'hard\u00a0space.md',
  ],
  // Names that look the same to users and to some file systems.
  ...['caf\u00e9.md', 'cafe\u0301.md', 'Case.md', 'case.md', 'CASE.md', '\u212b.md', '\u00c5.md'],
  ...['__proto__', 'constructor', 'toString.md', 'hasOwnProperty.png', '\ufffd.md', '\u{1f98a}.md'],
  `${'long'.repeat(63)}.md`,
  `${'\u{1f98a}'.repeat(62)}.md`,
]
const ODD_FOLDERS = [
  ...['back\\slash', 'back', 'con', 'dot.', 'a:b', '__proto__', 'constructor', 'colour\u001b', '...', '\u202ename'],
  `deep${`/${'long'.repeat(60)}`.repeat(8)}`,
]

/** Paths that look odd but stay in the folder. */
const HARMLESS_PATHS = [
  '...',
  // A backslash is part of the name on systems that allow it.
  '..\\up.md',
  'C:\\windows\\up.md',
  '__proto__',
  'a.md',
  'constructor/prototype.md',
  'toString.md',
]
const TRICKY_PATHS = [
  ...HARMLESS_PATHS,
  '..',
  '.',
  '../up.md',
  '../../etc/passwd',
  'a/../../up.md',
  'a/./b.md',
  'b//c.md',
  '/etc/passwd',
  'a\0.md',
  '',
]

describe('very many files', () => {
  test('leave the page usable, whether they are uploaded or dropped', LONG_TIMEOUT, async () => {
    // `files` is also the name that the page gives to several folders dropped together.
    const folderOf = (count: number) => `many-${count}/files`
    for (const count of new Set([MANY, MANY_LISTED, MANY_DROPPED])) writeNotes(folderOf(count), count)
    const { page, problems } = await openPage()
    const read = page.getByRole('button', { name: /^Read [\d,]+ files$/ })
    // Tasks are measured, not how late a timer is: a busy machine delays timers although nothing blocks the page.
    const expectResponsive = async (work: () => Promise<void>) => {
      const endMeasuring = await measureLongestTask(browser, page)
      await work()
      const { cpuMs, elapsedMs } = await endMeasuring()
      expect(elapsedMs).toBeLessThan(MAX_PAUSE_MS)
      expect(cpuMs).toBeLessThan(MAX_TASK_MS)
    }

    // Only the page's own work is measured, not the browser's handling of the upload.
    await upload(page, folderOf(MANY))
    await expectResponsive(async () => {
      await read.click(PATIENCE)
      await page.getByText(/\d+ of [\d,]+ files, [\d,]+ chunk/).waitFor(PATIENCE)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await read.waitFor(PATIENCE)
    })
    if (MANY_LISTED !== MANY) {
      await page.goto(`${host.address}#/`)
      await upload(page, folderOf(MANY_LISTED))
    }
    await expectResponsive(async () => {
      await read.click(PATIENCE)
      await page.locator('#search-box').fill(`kiln ${MANY_LISTED - 7}`, PATIENCE)
      await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
      expect(await page.locator('a.hit').first().textContent()).toContain(`note-${MANY_LISTED - 7}.md`)
      await expectLongLists(page)
      await expectPack(page, folderOf(MANY_LISTED))
    })

    const dropped = folderOf(MANY_DROPPED)
    for (const names of [[dropped], [`${dropped}/east`, `${dropped}/west`]]) {
      await page.goto(`${host.address}#/`)
      await expectResponsive(async () => {
        await drop(
          page,
          names.map((name) => sandbox.path(name)),
        )
        await read.click(PATIENCE)
        await page.locator('#search-box').waitFor(PATIENCE)
      })
    }
    if (MANY_DROPPED !== MANY_LISTED) await expectPack(page, dropped)
    const kept = await readKept(page)
    const counts = [MANY_DROPPED, MANY_DROPPED, MANY_LISTED]
    expect(kept.map(({ files, chunks }) => [files, chunks])).toEqual(counts.map((count) => [count, count]))
    // Indexes of the same files have the same id; one of them was compared with the output of the program.
    expect(new Set(kept.map(({ indexId }) => indexId)).size).toBe(new Set(counts).size)
    expect(kept[0]?.indexId).toBe(kept[1]?.indexId)
    // Only a folder that was dropped alone has a handle for a later update.
    expect(kept.map(({ handle }) => handle)).toEqual([null, 'files', null])
    expect(problems).toEqual([])
  })
})

/** Writes the given number of notes, half of them in each of two folders. */
function writeNotes(folder: string, count: number): void {
  for (let i = 0; i < count; i++) {
    write(`${folder}/${i % 2 === 0 ? 'east' : 'west'}/${i % 50}/note-${i}.md`, `# Note ${i}\n\nThe kiln number ${i}.\n`)
  }
}

/** Pages through very long lists, by mouse and by keyboard. */
async function expectLongLists(page: Page): Promise<void> {
  const range = page.locator('#list-range')
  // Both parts use the same kind of list, so a short run tests only the first.
  const lists = [
    ['Files', 'files'],
    ['Outline', 'headings'],
  ] as const
  for (const [part, noun] of isLong ? lists : lists.slice(0, 1)) {
    await openPart(page, part)
    const of = `of ${MANY_LISTED.toLocaleString('en-US')} ${noun}`
    await page.getByText(`1–100 ${of}`).first().waitFor(PATIENCE)
    expect(await page.locator('.rows li').count()).toBe(100)
    const next = page.getByRole('button', { name: `Next ${noun}` })
    await next.first().focus()
    for (const shown of ['101–200', '201–300']) {
      await page.keyboard.press('Enter')
      await expect.poll(() => range.textContent(), PATIENCE).toBe(`${shown} ${of}`)
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Next')
    }
    // The lower Next button moves the focus to the top of the list.
    await next.last().click()
    await expect.poll(() => range.textContent(), PATIENCE).toBe(`301–400 ${of}`)
    expect(await page.evaluate('document.activeElement.matches(".rows")')).toBe(true)
    expect(await range.evaluate((shown) => shown.getBoundingClientRect().top)).toBeGreaterThan(0)
    expect(await page.locator('.rows li').count()).toBe(100)
    await page.locator('#match').fill(`ote${part === 'Files' ? '-' : ' '}1`)
    await expect.poll(() => range.textContent(), PATIENCE).toMatch(/^1–100 of [\d,]+ /)
    expect((await page.locator('.rows li').allTextContents()).every((text) => /note.1/i.test(text))).toBe(true)
  }
}

/** Facts about a kept index, with the name of the folder behind its handle. */
interface KeptFacts {
  readonly indexId: string
  readonly files: number
  readonly chunks: number
  readonly handle: string | null
}

/** The kept indexes, latest first. */
function readKept(page: Page): Promise<KeptFacts[]> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('llmx-ingestor')
    opening.onerror = reject
    opening.onsuccess = () => {
      const all = opening.result.transaction('indexes').objectStore('indexes').getAll()
      all.onerror = reject
      all.onsuccess = () => {
        opening.result.close()
        const kept = all.result.toSorted((a, b) => b.updatedAt - a.updatedAt)
        resolve(kept.map(({ indexId, files, chunks, handle }) => ({ indexId, files, chunks, handle: handle?.name ?? null })))
      }
    }
  })`)
}

const NO_PRIVATE_FILES = 'delete globalThis.StorageManager?.prototype.getDirectory'

describe('a browser that cannot store', () => {
  test.each([
    { what: 'private files', prelude: '', folder: 'large', pictureBytes: 1.2 * MEGABYTE },
    { what: 'a database', prelude: NO_PRIVATE_FILES, folder: 'tiny', pictureBytes: 0 },
  ])('on a full disk the open index works and the stored ones stay (stored in $what)', async (given) => {
    const { prelude, folder, pictureBytes } = given
    rmSync(sandbox.path('small'), { recursive: true, force: true })
    write('small/a.md', '# Glaze\n\nThe first words.\n')
    // The quota applies only to a database on the disk.
    const { page, problems, context } = await openPage(prelude, prelude === '' ? undefined : await openProfile())
    await ingest(page, 'small')
    const small = page.url()
    const devtools = await context.newCDPSession(page)
    const origin = new URL(host.address).origin
    const setQuota = async (quotaSize?: number) => {
      await devtools.send(
        'Storage.overrideQuotaForOrigin',
        quotaSize === undefined ? { origin } : { origin, quotaSize },
      )
      if (prelude === '') return
      // The quota takes effect when the database is reopened, after the two seconds that a browser keeps it open.
      await page.goto('about:blank')
      await page.waitForTimeout(2500)
    }
    const notKept = page.locator('#not-kept')
    // The first quota has room for a part of the index, the second for nothing. A database never writes a part of an index.
    const used = await page.evaluate<number>('navigator.storage.estimate().then(({ usage }) => usage)')
    for (const quota of prelude === '' ? [used + MEGABYTE / 4, ...(isLong ? [100] : [])] : [100]) {
      await setQuota(quota)
      await page.goto(`${host.address}#/`)
      await ingest(page, folder)
      expect(await notKept.textContent(PATIENCE)).toMatch(/not kept.*no room.*Delete an index.*exported/s)
    }
    await expectPack(page, folder)
    // This update would replace the kept index.
    write('small/b.md', `# Kiln\n\n${'The later words. '.repeat(1000)}\n`)
    if (pictureBytes > 0) write('small/c.png', makePicture(pictureBytes))
    await page.goto(`${host.address}#/`)
    await page.locator('#open-unkept').waitFor(PATIENCE)
    await page.locator('[id^=update-input]').setInputFiles(sandbox.path('small'))
    await page.getByRole('button', { name: /^Read \d new or changed file/ }).click(PATIENCE)
    expect(await notKept.textContent(PATIENCE)).toMatch(/not kept.*no room.*Delete an index.*exported/s)
    await page.locator('#search-box').fill('later')
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)

    await page.goto(small)
    await page.reload()
    await page.locator('#search-box').waitFor(PATIENCE)
    expect(await page.locator('#index-facts').textContent()).toMatch(/^1 file/)
    await page.locator('#search-box').fill('first')
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    const listPrivateFolders = async () => (prelude === '' ? readPrivateFolders(page) : [])
    expect(await listPrivateFolders()).toEqual([])
    await setQuota()
    await page.goto(`${host.address}#/`)
    await ingest(page, folder)
    expect(await notKept.count()).toBe(0)
    expect(await listPrivateFolders()).toHaveLength(prelude === '' ? 1 : 0)
    await page.reload()
    await page.locator('#search-box').fill('glaze', PATIENCE)
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    expect(problems).toEqual([])
  })

  test('a page that may not store anything says so, and works until it is closed', async () => {
    const denied = `Object.defineProperty(globalThis, 'indexedDB', { value: { open() { throw new DOMException('', 'SecurityError') } } })`
    const absent = `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })`
    for (const prelude of isLong ? [denied, absent] : [denied]) {
      const { page, problems } = await openPage(prelude)
      expect(await page.locator('#nothing-kept').textContent()).toMatch(/keeps nothing.*export/s)
      await ingest(page, 'tiny')
      expect(await page.locator('#not-kept').textContent()).toMatch(/until this tab is closed.*keeps nothing/s)
      await page.locator('#search-box').fill('words')
      await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
      await expectPack(page, 'tiny')
      expect(problems).toEqual([])
    }
  })
})

describe('a browser with missing features', () => {
  test('a browser without a folder picker uploads a folder', async () => {
    const { page, problems } = await openPage('delete globalThis.showDirectoryPicker')
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await (await choosing).setFiles(sandbox.path('tiny'))
    await page.getByRole('button', { name: /^Read/ }).click(PATIENCE)
    await page.locator('#search-box').waitFor(PATIENCE)
    await expectPack(page, 'tiny')
    expect(problems).toEqual([])
  })

  test('a browser without any folder input lets the user choose files', async () => {
    write('loose/a.md', '# Kiln\n')
    write('loose/b.md', '# Glaze\n')
    const { page, problems } = await openPage(
      'delete HTMLInputElement.prototype.webkitdirectory; delete globalThis.showDirectoryPicker',
    )
    expect(await page.getByRole('button', { name: 'Choose a folder' }).count()).toBe(0)
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).click()
    await (await choosing).setFiles([sandbox.path('loose/a.md'), sandbox.path('loose/b.md')])
    await page.getByRole('button', { name: 'Read 2 files' }).click(PATIENCE)
    await page.locator('#search-box').waitFor(PATIENCE)
    expect(problems).toEqual([])
  })

  test('a browser without folder uploads shows an error when it refuses the picker', async () => {
    const { page, problems } = await openPage(`delete HTMLInputElement.prototype.webkitdirectory
      globalThis.showDirectoryPicker = async () => { throw new DOMException('', 'SecurityError') }`)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    expect(await page.getByRole('alert').textContent(PATIENCE)).toMatch(/folder.*Choose files/s)
    expect(problems).toEqual([])
  })

  const NO_LOCKS = 'delete (globalThis.Navigator ?? WorkerNavigator).prototype.locks'
  const missing: readonly (readonly [what: string, prelude: string])[] = [
    ['workers', 'delete globalThis.Worker'],
    ['private files and locks', `${NO_PRIVATE_FILES}; ${NO_LOCKS}`],
    ...(isLong
      ? ([
          ['private files', NO_PRIVATE_FILES],
          ['locks', NO_LOCKS],
          ['workers, private files and locks', `delete globalThis.Worker; ${NO_PRIVATE_FILES}; ${NO_LOCKS}`],
        ] as const)
      : []),
  ]

  test.each(missing)('a browser without %s works the same otherwise', async (_, prelude) => {
    const { page, problems } = await openPage(prelude)
    await ingest(page, 'large')
    expect(await page.locator('#not-kept').count()).toBe(0)
    await page.reload()
    await page.locator('#search-box').fill('kiln', PATIENCE)
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    await expectPack(page, 'large')
    expect(problems).toEqual([])
  })
})

describe('a worker that dies during its work', () => {
  test.each([
    ['with an error', 'setTimeout(() => { throw new Error("lost") })'],
    ['without an error', 'close()'],
  ])('a worker that dies %s is reported, and a reload helps', async (_, end) => {
    const { page } = await openShared()
    await upload(page, 'tiny')
    await page.getByRole('button', { name: /^Read/ }).waitFor(PATIENCE)
    const [worker] = page.workers()
    await worker?.evaluate(`Blob.prototype.arrayBuffer = () => { ${end}; return new Promise(() => {}) }; 0`)
    await page.getByRole('button', { name: /^Read/ }).click()
    expect(await page.getByRole('alert').textContent(PATIENCE)).toMatch(/ended unexpectedly.*Reload the page/s)
    await page.goto(`${host.address}#/`)
    await page.reload()
    await ingest(page, 'tiny')
    expect(await page.locator('#not-kept').count()).toBe(0)
  })
})

interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page and requests to other hosts since it was opened. */
  readonly problems: string[]
}

/** The window that tests without special needs share. */
let shared: Opened | undefined

/** Opens the page in a browser with the storage of the previous tests. */
async function openShared(): Promise<Opened> {
  onTestFailed(async () => {
    await shared?.context.close()
    shared = undefined
  })
  if (shared === undefined) {
    shared = await openWindow()
    return shared
  }
  shared.problems.length = 0
  await shared.page.goto(`${host.address}#/`)
  return shared
}

/** Opens the page in a separate browser. `prelude` runs first, in the page and in its worker. */
async function openPage(prelude = '', existing?: BrowserContext): Promise<Opened> {
  const opened = await openWindow(prelude, existing)
  onTestFinished(async () => {
    // A worker may still be starting.
    await opened.context.unrouteAll({ behavior: 'ignoreErrors' })
    await opened.context.close()
  })
  return opened
}

async function openStart(page: Page): Promise<void> {
  await page.goto(host.address)
  await page.getByRole('button', { name: 'Choose files' }).waitFor(PATIENCE)
}

async function openWindow(prelude = '', existing?: BrowserContext): Promise<Opened> {
  const context = existing ?? (await browser.newContext())
  context.setDefaultTimeout(PATIENCE.timeout)
  // These tests do not need the service worker, which would fetch all files each time.
  await context.addInitScript(`delete Navigator.prototype.serviceWorker; ${prelude}`)
  if (prelude !== '')
    await context.route(/\/worker-[^/]*\.js$/, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${prelude};${await response.text()}` })
    })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (entry) => problems.push(`${entry.type()}: ${entry.text()}`))
  page.on('request', (request) => {
    if (!/^blob:/.test(request.url()) && !request.url().startsWith(host.address)) problems.push(request.url())
  })
  page.on('dialog', (dialog) => {
    // The browser itself asks before the user loses data.
    if (dialog.type() === 'beforeunload') return void dialog.accept()
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await openStart(page)
  return { page, context, problems }
}

/** A browser that stores its data on the disk. */
function openProfile(): Promise<BrowserContext> {
  return chromium.launchPersistentContext(sandbox.path('profile'), {
    executablePath: locateChromium(),
    args: ['--no-sandbox', '--disable-gpu'],
  })
}

async function upload(page: Page, folder: string): Promise<void> {
  await page.locator('#folder-input').setInputFiles(sandbox.path(folder), PATIENCE)
}

async function ingest(page: Page, folder: string): Promise<void> {
  await upload(page, folder)
  await page.getByRole('button', { name: /^Read/ }).click(PATIENCE)
  await page.locator('#search-box').waitFor(PATIENCE)
}

/** Reads the previewed files and expects the given number of them. */
async function read(page: Page, files: number): Promise<void> {
  await page.getByRole('button', { name: `Read ${files} file${files === 1 ? '' : 's'}`, exact: true }).click(PATIENCE)
  await page.locator('#search-box').waitFor(PATIENCE)
}

async function openPart(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of the index' }).getByRole('link', { name }).click()
}

/** The content of the page: texts, elements that it did not create itself, and whether a script of a file ran. */
interface Seen {
  readonly texts: readonly string[]
  readonly foreign: readonly string[]
  readonly ran: boolean
}

/** Returns all visible text, after checking that nothing from a file became an element, a script or an invisible character. */
async function readSafely(page: Page): Promise<string> {
  const { texts, foreign, ran } = await page.evaluate<Seen>(`(() => {
    const all = [...document.querySelectorAll('#app *')]
    const isOurs = (one) => !/^(img|script|iframe|object|embed|style|link|base)$/i.test(one.tagName)
    const isInert = (one) =>
      [...one.attributes].every(({ name, value }) => !name.startsWith('on') && !/^\\s*(javascript|data):/i.test(value))
    const named = all.flatMap((one) => ['title', 'aria-label', 'alt'].map((name) => one.getAttribute(name) ?? ''))
    return {
      texts: [document.title, document.body.textContent, ...named],
      foreign: all.filter((one) => !isOurs(one) || !isInert(one)).map((one) => one.outerHTML),
      ran: 'ran' in globalThis,
    }
  })()`)
  expect(foreign).toEqual([])
  expect(ran).toBe(false)
  expect(texts.flatMap((text) => text.match(UNSAFE_CHARACTERS) ?? [])).toEqual([])
  return texts.join('\n')
}

/** Exports the open index, compares it with the output of the program for the same folder, and returns it. */
async function expectPack(page: Page, folder: string): Promise<Buffer> {
  await openExport(page)
  const { bytes } = await download(page, 'Full pack')
  expect(bytes.equals(await packWithProgram(folder))).toBe(true)
  return bytes
}

/** The pack that the program writes, cached because it is deterministic. */
async function packWithProgram(folder: string): Promise<Buffer> {
  const target = sandbox.path(`packs/${createHash('sha256').update(folder).digest('hex')}.zip`)
  if (!existsSync(target)) {
    mkdirSync(dirname(target), { recursive: true })
    const { code, stderr } = await sandbox.runInProcess(['pack', folder, '--out', target, '--full'])
    if (code !== 0) throw new Error(stderr)
  }
  return readFileSync(target)
}

/** Private folders (OPFS) in which the page keeps large indexes. */
function readPrivateFolders(page: Page): Promise<string[]> {
  return page.evaluate(`(async () => {
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('llmx-ingestor', { create: true })
    return Array.fromAsync(root.keys())
  })()`)
}

function write(path: string, content: string | Uint8Array): void {
  const target = sandbox.path(path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
}

/** Bytes that begin like an image. */
function makePicture(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => [137, 80, 78, 71, 13, 10, 26, 10][i] ?? i % 256)
}

/** Writes text, data, code and images that together are too large for the database. */
function writeLarge(folder: string): void {
  const words = Array.from({ length: 500 }, (_, i) => `kiln-${i} glaze`).join(' ')
  write(`${folder}/note.md`, `# Note\n\n${words}\n`)
  for (let i = 0; i < 8; i++) write(`${folder}/pictures/${i}.png`, makePicture(MEGABYTE / 8).with(8, i))
  write(`${folder}/data.json`, JSON.stringify({ kiln: { heat: [1, 2, 3] }, glaze: words }))
  write(`${folder}/code/glaze.py`, 'def mix(glaze):\n    return glaze\n')
}

function writeHostileFolder(folder: string): void {
  const files: Record<string, string | Uint8Array> = {
    [`${IMAGE}.md`]: `# ${IMAGE} ${SCRIPT}\n\n[kiln](javascript:${HARM}) ${SCRIPT}\n\n## ${INVISIBLE} __proto__\n\nkiln ${INVISIBLE}\n`,
    [`" onmouseover="${HARM}" x=".md`]: '# kiln\n',
    [`odd ${INVISIBLE}.md`]: '# kiln\n',
    'line\nbreak.md': '# kiln\n',
    'page.html': `<!doctype html><title>${SCRIPT}</title><body onload="${HARM}"><h1>&lt;img src=x onerror=${HARM}&gt;</h1>
      <p>kiln ${SCRIPT} <iframe src="javascript:${HARM}"></iframe></p></body>`,
    'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="${HARM}">${SCRIPT}<text>kiln</text></svg>`,
    '__proto__/constructor.md': '# __proto__\n\nkiln\n\n## constructor\n\nkiln\n',
    'constructor/toString.md': '# toString\n\nkiln\n',
    hasOwnProperty: 'kiln\n',
    'keys.json': `{"__proto__": {"kiln": ["x"]}, "constructor": "kiln", ${JSON.stringify(IMAGE)}: "kiln", "": "kiln"}`,
    'deep.json': `${'['.repeat(50_000)}"kiln"${']'.repeat(50_000)}`,
    'code.ts': `export function __proto__() { return 'kiln' }\nexport class constructor { '${IMAGE}'() { return 'kiln' } }\n`,
    'code.py': `class __proto__:\n    def constructor(self):\n        return "kiln ${SCRIPT}"\n`,
    'line.txt': `kiln ${'word '.repeat((LINE_BYTES - 64) / 5)}`,
    [`${IMAGE}.dat`]: new Uint8Array([0, 1, 2, 0, 255]),
    'not-text.md': new Uint8Array([0x23, 0x20, 0x6b, 0x69, 0x6c, 0x6e, 0xff, 0xfe, 0x0a]),
    '.gitignore': `*${IMAGE}*.log\n`,
    [`a${IMAGE}b.log`]: 'x',
  }
  for (const [name, content] of Object.entries(files)) write(`${folder}/${name}`, content)
}
