import * as fs from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { openChromium } from './chromium.ts'
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

/* The local page from a user's view: in a real Chromium, with a folder of a few files. */

const sandbox = new ProgramSandbox()
let browser: Browser
let host: PageHost

beforeAll(async () => {
  const opening = openChromium()
  writeFiles(sandbox.path('boats'), Object.entries(FILES))
  host = await openPageHost()
  browser = await opening
})

afterAll(async () => {
  await browser?.close()
  await host?.close()
  sandbox.remove()
})

/** An image of one red pixel. */
const POINT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>globalThis.ran = 1</script></svg>'
/** Split in two parts, so that secret scanners do not report this file. */
const KEY = `key = "${'AKIA'}${'IOSFODNN7QUARTERS'.slice(0, 16)}"\n`

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'README.md':
    '# Boats\n\nGrüße vom Steg.\n\n## Harbour\n\nWhere they lie at night.\n\n\n## Harbour 2\n\nThe other one.\n',
  '.env': KEY,
  'src/keys.ts': `export const ${KEY}`,
  'src/sail.ts': 'export function hoist(sail: string): string {\n  return sail\n}\n',
  'data.json': '{"mast": 1}',
  'empty.txt': '',
  'latin.txt': Buffer.from('gr\u{fc}n', 'latin1'),
  'pictures/point.png': POINT,
  'pictures/drawing.png': DRAWING,
  'log.txt': Array.from({ length: 400 }, (_, i) => `line ${i} of the retry log, with words to fill it`).join('\n'),
}

/** The window that most tests share, because opening a new one costs more than most tests do in it. */
let shared: Page | undefined
/** Address of the folder's index in that window. */
let boats: string | undefined

/** Shows the page in a browser with the storage of the previous tests. */
async function openShared(): Promise<Page> {
  // A failed test may leave any state behind.
  onTestFailed(async () => {
    await shared?.context().close()
    shared = undefined
    boats = undefined
  })
  shared ??= await openWindow()
  await shared.goto(`${host.address}#/`)
  return shared
}

/** Shows the index of the folder, which is read only once. */
async function openBoats(): Promise<Page> {
  const page = await openShared()
  if (boats === undefined) {
    await readUploaded(page, sandbox.path('boats'))
    boats = page.url()
  }
  await page.goto(boats)
  await page.locator('#search-box').waitFor()
  return page
}

/** Opens the page in a browser with empty storage. */
async function openFresh(): Promise<Page> {
  const page = await openWindow()
  onTestFinished(() => page.context().close())
  return page
}

async function openWindow(): Promise<Page> {
  const context = await browser.newContext({ serviceWorkers: 'block' })
  const page = await context.newPage()
  await page.goto(host.address)
  await page.getByRole('button', { name: 'Choose a folder' }).waitFor()
  return page
}

/** Gives the page a folder without reading it. */
async function preview(page: Page, name = 'boats', input = '#folder-input'): Promise<void> {
  await page.locator(input).setInputFiles(sandbox.path(name))
  await page.getByRole('heading', { name: /^(?:Preview of|Update from) / }).waitFor()
}

async function openPart(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of the index' }).getByRole('link', { name }).click()
}

function textOf(page: Page, selector: string): Promise<string | null> {
  return page.locator(selector).textContent()
}

/** The pack that the program writes for a folder. */
async function packWithProgram(folder: string, ...extraArgs: string[]): Promise<Buffer> {
  const out = sandbox.path(`${folder.replaceAll('/', '-')}.zip`)
  expect(await sandbox.runInProcess(['pack', folder, '--out', out, '--full', ...extraArgs])).toMatchObject({ code: 0 })
  return fs.readFileSync(out)
}

async function expectPack(page: Page, wanted: Buffer): Promise<string> {
  await openExport(page)
  const { name, bytes } = await download(page, 'Full pack')
  if (!bytes.equals(wanted)) expect(listDifferences(unzip(bytes), unzip(wanted))).toEqual([])
  expect(bytes.equals(wanted)).toBe(true)
  return name
}

test('an unknown index is reported once, without further changes of the page', async () => {
  const page = await openShared()
  await page.goto(`${host.address}#/index/doesnotexist`)
  await page.getByRole('heading', { name: 'This index is not open' }).waitFor()
  expect(await textOf(page, '.empty')).toContain('no longer here')
  const changes = await page.evaluate(`new Promise((resolve) => {
    let changes = 0
    new MutationObserver(() => changes++).observe(document.body, { childList: true, subtree: true })
    setTimeout(() => resolve(changes), 400)
  })`)
  expect(changes).toBe(0)
  await page.getByRole('link', { name: 'See what is kept in this browser' }).click()
  await page.getByRole('button', { name: 'Choose a folder' }).waitFor()
})

describe('the index of a folder', () => {
  test('can be searched, read and browsed', async () => {
    const page = await openBoats()
    expect(await textOf(page, '#missing')).toBe('1 file is missing: the warnings say why')
    expect(await textOf(page, '#secrets-line')).toBe('May hold secrets: .env, src/keys.ts')

    const box = page.locator('#search-box')
    await box.fill('retr')
    await page.locator('#completion').waitFor()
    expect(await textOf(page, '#completion')).toMatch(/No text contains the word “retr”.*: retry\./)
    expect(await page.locator('mark').first().textContent()).toBe('retry')
    await box.fill('grusse')
    await page.getByText('1 result', { exact: true }).waitFor()
    expect(await page.locator('mark').allTextContents()).toEqual(['Grüße'])
    expect(await page.locator('#completion').count()).toBe(0)

    await openPart(page, 'Outline')
    await page.getByRole('link', { name: 'Harbour', exact: true }).click()
    await page.locator('#chunk-text').waitFor()
    // The cited lines are the lines that are shown.
    expect(await textOf(page, '#chunk-title')).toBe('README.md:5-9')
    expect(await page.locator('#chunk-text li').count()).toBe(5)
    await openPart(page, 'Symbols')
    await page.locator('.rows li').waitFor()
    expect(await page.locator('.rows li').allTextContents()).toEqual(['hoistsrc/sail.ts:1'])

    await openPart(page, 'Files')
    await page.getByRole('link', { name: 'README.md' }).click()
    await page.locator('.file-part').nth(2).waitFor()
    expect(await textOf(page, '.file-part:nth-of-type(3)')).toContain('The other one.')
    await page.getByRole('link', { name: 'Search in this file' }).click()
    await page.getByText('3 results', { exact: true }).waitFor()
    expect(await page.locator('#filter-kind option').allTextContents()).not.toContain('Python')

    await page.goto(
      page
        .url()
        .replace(/\?.*|$/, '/files?path=nope.txt')
        .replace('/files/files', '/files'),
    )
    await page.getByText('This file is not in the index.').waitFor()
  })

  test('shows its images, and no script in them runs', async () => {
    const page = await openBoats()
    await openPart(page, 'Files')
    await page.getByRole('link', { name: 'pictures/point.png' }).click()
    const image = page.getByRole('img', { name: 'pictures/point.png' })
    await image.waitFor()
    const shown = `[document.querySelector('main img').naturalWidth, document.querySelector('main img').src.slice(0, 5)]`
    await expect.poll(() => page.evaluate(shown)).toEqual([1, 'blob:'])
    await page.goBack()
    await page.getByRole('link', { name: 'pictures/drawing.png' }).click()
    await page.getByText('The browser cannot show this image.').waitFor()
    expect(await page.evaluate(`'ran' in globalThis`)).toBe(false)
  })

  test('is exported under the name of its folder and index, and a compact pack says what it lacks', async () => {
    const page = await openBoats()
    const full = await expectPack(page, await packWithProgram('boats'))
    expect(await textOf(page, '#secrets-warning')).toMatch(/\.env, src\/keys\.ts.*Leave files out/s)
    const compact = await download(page, 'Compact pack')
    expect(full).toMatch(/^boats\.llmx-[0-9a-f]{8}\.zip$/)
    expect(compact.name).toBe(full.replace('.zip', '.compact.zip'))
    fs.writeFileSync(sandbox.path(compact.name), compact.bytes)
    await page.goto(`${host.address}#/`)
    await page.locator('#pack-input').setInputFiles(sandbox.path(compact.name))
    await page.locator('#search-box').waitFor()
    expect(await textOf(page, 'h1')).toBe('boats')
    expect(await textOf(page, '.index-head')).toMatch(/not known/)
    expect(await textOf(page, '.index-head')).not.toMatch(/0 B/)
    await openPart(page, 'Symbols')
    await page.getByText('A compact pack does not say which definitions its code has.').waitFor()

    fs.writeFileSync(sandbox.path('manifest.json'), unzip(await packWithProgram('boats')).get('manifest.json') ?? '')
    await page.goto(`${host.address}#/`)
    await page.locator('#pack-input').setInputFiles(sandbox.path('manifest.json'))
    expect(await page.getByRole('alert').textContent()).toMatch(/manifest\.json is not the index\.json of a pack/)
  })
})

test('excluded files are read neither now nor by an update, as if an ignore file listed them', async () => {
  const page = await openShared()
  await preview(page)
  await page.getByText('Leave files out', { exact: true }).click()
  const patterns = '.env\n/src/keys.*\npictures/\n'
  await page.locator('#leave-out').fill(patterns)
  await page.getByRole('button', { name: 'Read 6 files' }).click()
  await page.locator('#search-box').waitFor()
  expect(await page.locator('#secrets-line').count()).toBe(0)
  fs.cpSync(sandbox.path('boats'), sandbox.path('without/boats'), { recursive: true })
  fs.writeFileSync(sandbox.path('without/boats/.pharosignore'), `${patterns}.pharosignore\n`)
  const wanted = await packWithProgram('without/boats')
  await expectPack(page, wanted)

  await preview(page, 'boats', '[id^=update-input]')
  expect(await page.locator('#leave-out').inputValue()).toBe(patterns)
  expect(await textOf(page, '#changes')).toMatch(/^0 new, 0 changed, 0 removed, 6 unchanged: the index is up to date/)
  await page.getByRole('link', { name: 'Open the index' }).click()
  await page.locator('#search-box').waitFor()
})

test('the chunk limit can be changed, and the page says which files are incomplete', async () => {
  const page = await openShared()
  await preview(page)
  await page.getByText('Limits', { exact: true }).click()
  await page.getByLabel('Chunk limit per file').fill('2')
  await readPreviewed(page)
  expect(await textOf(page, '#missing')).toMatch(/1 file is missing, 2 files are incomplete/)
  await expectPack(page, await packWithProgram('boats', '--max-chunks-per-file', '2'))
})

test('an update previews the files to read, and is offered for a known folder', async () => {
  // This browser has no other index.
  const page = await openFresh()
  await readUploaded(page, sandbox.path('boats'))
  const later = sandbox.path('later/boats')
  fs.cpSync(sandbox.path('boats'), later, { recursive: true, preserveTimestamps: true })
  writeFiles(later, [['new.md', '# New\n\nA boat.\n']])
  fs.rmSync(`${later}/data.json`)
  await page.goto(`${host.address}#/`)
  await preview(page, 'later/boats')
  await page.getByRole('button', { name: 'Read 10 files' }).waitFor()
  await page.getByRole('button', { name: 'Update it instead' }).click()
  await page.getByRole('heading', { name: 'Update from boats' }).waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  expect(await textOf(page, '#changes')).toMatch(/^1 new, 0 changed, 1 removed, 9 unchanged/)
  await page.getByText('New 1', { exact: true }).click()
  expect(await page.locator('.summary .examples li').allTextContents()).toEqual(['new.md', 'data.json'])
  await page.getByRole('button', { name: 'Read 1 new or changed file' }).click()
  await page.locator('#search-box').waitFor()
  await page.goto(`${host.address}#/`)
  await page.getByRole('link', { name: 'Open boats' }).waitFor()
  expect(await page.getByRole('link', { name: 'Open boats' }).count()).toBe(1)

  await page.getByRole('button', { name: 'Delete boats' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => textOf(page, '#said')).toBe('boats is deleted.')
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
})

test('going back restores the previous view and scroll position', async () => {
  writeFiles(
    sandbox.path('many'),
    Array.from({ length: 60 }, (_, i) => [`note-${i}.md`, `# Note ${i}\n\nA mooring.\n`]),
  )
  const page = await openShared()
  await readUploaded(page, sandbox.path('many'))
  // The order of the hits changes once, when the index can be searched by meaning too.
  await page.getByText('Searched by words and meaning').waitFor({ timeout: 60_000 })
  await page.locator('#search-box').fill('mooring')
  await page.getByText('The best 50 of 60 results').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  const hit = page.locator('a.hit').nth(55)
  await hit.scrollIntoViewIfNeeded()
  const words = await hit.textContent()
  const top = await page.evaluate<number>('scrollY')
  expect(top).toBeGreaterThan(1000)
  const scrollAndFocus = `[scrollY, document.activeElement.textContent]`
  for (const back of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
    await hit.click()
    await page.locator('#chunk-text').waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
    await back()
    await expect.poll(() => page.evaluate(scrollAndFocus)).toEqual([top, words])
  }
})

test('leaving while a folder is read needs a confirmation, and going back stops the reading', async () => {
  const page = await openFresh()
  await preview(page)
  // Reading is blocked until the test releases it.
  await page.workers()[0]?.evaluate(`{
    const { arrayBuffer } = Blob.prototype
    const released = new Promise((resolve) => { globalThis.release = resolve })
    Blob.prototype.arrayBuffer = async function () {
      await released
      return arrayBuffer.call(this)
    }
  }`)
  await page.getByRole('button', { name: 'Read 10 files' }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor()
  const dialogOpened = page.waitForEvent('dialog')
  const closing = page.close({ runBeforeUnload: true })
  const dialog = await dialogOpened
  expect(dialog.type()).toBe('beforeunload')
  await dialog.dismiss()
  await closing
  await page.goBack()
  await page.workers()[0]?.evaluate('release()')
  await page.getByRole('heading', { name: 'Search a folder, make a pack' }).waitFor()
  await page.locator('#kept-title').waitFor({ state: 'detached' })
  expect(await page.evaluate('location.hash')).toBe('')
})
