import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { UNSHOWABLE } from '../../src/core/text/showable.ts'
import { Workshop } from '../e2e/program.ts'
import { openChromium } from './chromium.ts'
import { download, type Host, openExport, openHost } from './local-stage.ts'

/* The page that works on one machine, in a real Chromium that lacks something, or with files that mean harm. */

/** Many files: what a long run proves of a hundred thousand, a short one does of fewer. */
const MANY = process.env['TEST_LONG'] === undefined ? 2000 : 100_000
/** Machines can be busy. */
const PATIENCE = { timeout: process.env['TEST_LONG'] === undefined ? 20_000 : 400_000 }
/** Writing, taking in and reading them takes minutes. */
const LASTING = { timeout: 3 * PATIENCE.timeout }
/** Far more than a busy machine takes for a piece of work that gives way in time, far less than one that does not would. */
const UNRESPONSIVE_MS = 2000

const MEGABYTE = 2 ** 20

const workshop = new Workshop()
let browser: Browser
let host: Host

// Chromium may have to be installed first.
beforeAll(async () => {
  const opening = openChromium()
  host = await openHost()
  browser = await opening
}, 300_000)

afterAll(async () => {
  await browser?.close()
  await host?.close()
  workshop.remove()
})

/** What files do that mean harm; nothing of it may happen. */
const HARM = 'globalThis.ran=1;alert(1)'
const IMAGE = `<img src=x onerror=${HARM}>`
const SCRIPT = `<script>${HARM}</script>`
/** Turns the direction of writing around, rings a bell, changes the colours of a terminal. */
const UNSEEN = '\u202egnp.\u0007\u001b[31m\u2066'

describe('files that mean harm', () => {
  const root = `harm ${IMAGE} \u202efdp`

  test('are shown as text wherever they are shown, and cut as the program cuts them', async () => {
    writeHostileFolder(root)
    const { page, problems } = await openPage()
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
      // The part before stays until this one is there.
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

  test('stay in their folder, whatever paths they come with', async () => {
    const { page, problems } = await openPage()
    await page.evaluate(`{
      const paths = ${JSON.stringify(TRICKS)}
      const data = new DataTransfer()
      for (const path of paths) data.items.add(new File(['# Kiln ' + path], path.split('/').at(-1)))
      const input = document.querySelector('#folder-input')
      input.files = data.files
      // No disk gives such paths; a browser gone wrong might.
      for (const [i, file] of [...input.files].entries()) {
        Object.defineProperty(file, 'webkitRelativePath', { value: 'root/' + paths[i] })
      }
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }`)
    await page.getByRole('heading', { name: 'Preview of root' }).waitFor(PATIENCE)
    await page.getByText('Neither file nor folder').click()
    expect(await page.locator('.figure').textContent()).toContain(`${PLAIN.length} files`)
    await page.getByRole('button', { name: /^Read/ }).click()
    await page.locator('#search-box').waitFor(PATIENCE)
    await openPart(page, 'Files')
    await page.locator('.rows').waitFor(PATIENCE)
    expect(await page.locator('.rows a.path').allTextContents()).toEqual(PLAIN)
    expect(problems).toEqual([])
  })

  test('stay as they are when they are dropped under one name', async () => {
    const { page, problems } = await openPage()
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
    expect(problems).toEqual([])
  })
})

/** Paths that lead elsewhere, and some that only look odd. */
const PLAIN = [
  '...',
  // Where such a name can come from, it is one.
  '..\\up.md',
  'C:\\windows\\up.md',
  '__proto__',
  'a.md',
  'constructor/prototype.md',
  'toString.md',
]
const TRICKS = [
  ...PLAIN,
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
  test('leave the page usable while they are read', LASTING, async () => {
    const folder = 'many'
    for (let i = 0; i < MANY; i++) write(`${folder}/${i % 50}/note-${i}.md`, `# Note ${i}\n\nThe kiln number ${i}.\n`)
    const { page, problems } = await openPage(`globalThis.watch = () => {
      let last = performance.now()
      globalThis.longest = 0
      const tick = () => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
        requestAnimationFrame(tick)
      }
      requestAnimationFrame(tick)
    }`)
    const longest = () => page.evaluate<number>('longest')
    await upload(page, folder)
    // How the browser takes in an upload is its own affair; what is done with it is ours.
    await page.evaluate('watch()')
    const read = page.getByRole('button', { name: /^Read [\d,]+ files$/ })
    await read.waitFor(PATIENCE)
    await read.click()
    await page.getByText(/\d+ of [\d,]+ files, [\d,]+ chunk/).waitFor(PATIENCE)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await read.click(PATIENCE)
    await page.locator('#search-box').fill(`kiln ${MANY - 7}`, PATIENCE)
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    expect(await page.locator('a.hit').first().textContent()).toContain(`note-${MANY - 7}.md`)
    for (const part of ['Files', 'Outline']) {
      await openPart(page, part)
      await page.locator('.rows li').first().waitFor(PATIENCE)
      // As many as anybody looks at.
      expect(await page.locator('.rows li').count()).toBeLessThan(500)
    }
    expect(await longest()).toBeLessThan(UNRESPONSIVE_MS)
    expect(problems).toEqual([])
  })
})

describe('a browser that keeps nothing', () => {
  test('for want of room: what is open can be used, and what was kept stays', async () => {
    write('small/a.md', '# Glaze\n\nThe first words.\n')
    writeLarge('large')
    const { page, problems, context } = await openPage()
    await ingest(page, 'small')
    const small = page.url()
    const devtools = await context.newCDPSession(page)
    const origin = new URL(host.address).origin
    // One is new, one comes in the place of what is kept.
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100 })
    await page.goto(`${host.address}#/`)
    await ingest(page, 'large')
    expect(await page.locator('#not-kept').textContent()).toMatch(/not kept.*no room.*Delete an index.*exported/s)
    await expectPack(page, 'large')
    write('small/b.md', `# Kiln\n\n${'The later words. '.repeat(80_000)}\n`)
    await page.goto(`${host.address}#/`)
    await page.locator('#open-unkept').waitFor(PATIENCE)
    await page.locator('[id^=update-input]').setInputFiles(workshop.path('small'))
    await page.getByRole('button', { name: 'Read 2 files' }).click(PATIENCE)
    await page.locator('#not-kept').waitFor(PATIENCE)
    await page.locator('#search-box').fill('later')
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)

    await page.goto(small)
    await page.reload()
    await page.locator('#search-box').waitFor(PATIENCE)
    expect(await page.locator('#index-facts').textContent()).toMatch(/^1 file/)
    expect(await readPrivateFolders(page)).toEqual([])
    await devtools.send('Storage.overrideQuotaForOrigin', { origin })
    await page.goto(`${host.address}#/`)
    await ingest(page, 'large')
    expect(await page.locator('#not-kept').count()).toBe(0)
    expect(await readPrivateFolders(page)).toHaveLength(1)
    expect(problems).toEqual([])
  })

  test('because it may not: the page says so, and works until it is closed', async () => {
    write('tiny/a.md', '# Glaze\n\nThe first words.\n')
    const denied = `Object.defineProperty(globalThis, 'indexedDB', { value: { open() { throw new DOMException('', 'SecurityError') } } })`
    for (const prelude of [denied, `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })`]) {
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

describe('a browser without', () => {
  beforeAll(() => writeLarge('mixed'))

  test('a picker of folders: one is uploaded', async () => {
    const { page, problems } = await openPage('delete globalThis.showDirectoryPicker')
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await (await choosing).setFiles(workshop.path('mixed'))
    await page.getByRole('button', { name: /^Read/ }).click(PATIENCE)
    await page.locator('#search-box').waitFor(PATIENCE)
    await expectPack(page, 'mixed')
    expect(problems).toEqual([])
  })

  test('any way to give a folder: files are chosen', async () => {
    write('loose/a.md', '# Kiln\n')
    write('loose/b.md', '# Glaze\n')
    const { page, problems } = await openPage(
      'delete HTMLInputElement.prototype.webkitdirectory; delete globalThis.showDirectoryPicker',
    )
    expect(await page.getByRole('button', { name: 'Choose a folder' }).count()).toBe(0)
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose files' }).click()
    await (await choosing).setFiles([workshop.path('loose/a.md'), workshop.path('loose/b.md')])
    await page.getByRole('button', { name: 'Read 2 files' }).click(PATIENCE)
    await page.locator('#search-box').waitFor(PATIENCE)
    expect(problems).toEqual([])
  })

  test('uploads of folders, and with a picker that it refuses: the page says so', async () => {
    const { page, problems } = await openPage(`delete HTMLInputElement.prototype.webkitdirectory
      globalThis.showDirectoryPicker = async () => { throw new DOMException('', 'SecurityError') }`)
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    expect(await page.getByRole('alert').textContent(PATIENCE)).toMatch(/folder.*Choose files/s)
    expect(problems).toEqual([])
  })

  const missing: readonly (readonly [what: string, prelude: string])[] = [
    ['workers', 'delete globalThis.Worker'],
    ['private files', 'delete StorageManager.prototype.getDirectory'],
    ['locks', 'delete (globalThis.Navigator ?? WorkerNavigator).prototype.locks'],
    [
      'anything of all that',
      'delete globalThis.Worker; delete StorageManager.prototype.getDirectory; delete Navigator.prototype.locks',
    ],
  ]

  test.each(missing)('%s: all else is the same', async (_, prelude) => {
    const { page, problems } = await openPage(prelude)
    await ingest(page, 'mixed')
    expect(await page.locator('#not-kept').count()).toBe(0)
    await page.reload()
    await page.locator('#search-box').fill('kiln', PATIENCE)
    await page.getByRole('list', { name: 'Results' }).waitFor(PATIENCE)
    await expectPack(page, 'mixed')
    expect(problems).toEqual([])
  })
})

describe('a worker that ends in the middle of its work', () => {
  test.each([
    ['by a failure', 'setTimeout(() => { throw new Error("lost") })'],
    ['without a word', 'close()'],
  ])('%s is told of, and loading anew helps', async (_, end) => {
    writeLarge('mixed')
    const { page } = await openPage()
    await upload(page, 'mixed')
    await page.getByRole('button', { name: /^Read/ }).waitFor(PATIENCE)
    const [worker] = page.workers()
    await worker?.evaluate(`Blob.prototype.arrayBuffer = () => { ${end}; return new Promise(() => {}) }; 0`)
    await page.getByRole('button', { name: /^Read/ }).click()
    expect(await page.getByRole('alert').textContent(PATIENCE)).toMatch(/ended unexpectedly.*Load the page anew/s)
    await page.goto(`${host.address}#/`)
    await page.reload()
    await ingest(page, 'mixed')
    expect(await page.locator('#not-kept').count()).toBe(0)
  })
})

interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** What went wrong, and what was asked of anybody else, since the page was opened. */
  readonly problems: string[]
}

/** Opens the page in a browser of its own. `prelude` is run before anything else, in the page and in its worker. */
async function openPage(prelude = ''): Promise<Opened> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  // What the page keeps of itself is no matter here, and would be fetched each time.
  await context.addInitScript(`delete Navigator.prototype.serviceWorker; ${prelude}`)
  await context.route(/\/worker-[^/]*\.js$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: `${prelude};${await response.text()}` })
  })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (said) => problems.push(`${said.type()}: ${said.text()}`))
  page.on('request', (request) => {
    if (!/^blob:/.test(request.url()) && !request.url().startsWith(host.address)) problems.push(request.url())
  })
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(host.address)
  await page.getByRole('button', { name: 'Choose files' }).waitFor(PATIENCE)
  return { page, context, problems }
}

async function upload(page: Page, folder: string): Promise<void> {
  await page.locator('#folder-input').setInputFiles(workshop.path(folder), PATIENCE)
}

async function ingest(page: Page, folder: string): Promise<void> {
  await upload(page, folder)
  await page.getByRole('button', { name: /^Read/ }).click(PATIENCE)
  await page.locator('#search-box').waitFor(PATIENCE)
}

async function openPart(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Parts of the index' }).getByRole('link', { name }).click()
}

/** What the page shows: texts, elements that are not of its own, and whether anything of a file was run. */
interface Seen {
  readonly texts: readonly string[]
  readonly foreign: readonly string[]
  readonly ran: boolean
}

/** Everything that can be read, after a look at whether it is text of ours and nothing else. */
async function readSafely(page: Page): Promise<string> {
  const { texts, foreign, ran } = await page.evaluate<Seen>(`(() => {
    const all = [...document.querySelectorAll('#app *')]
    const isOurs = (one) => !/^(img|script|iframe|object|embed|style|link|base)$/i.test(one.tagName)
    const isStill = (one) =>
      [...one.attributes].every(({ name, value }) => !name.startsWith('on') && !/^\\s*(javascript|data):/i.test(value))
    const named = all.flatMap((one) => ['title', 'aria-label', 'alt'].map((name) => one.getAttribute(name) ?? ''))
    return {
      texts: [document.title, document.body.textContent, ...named],
      foreign: all.filter((one) => !isOurs(one) || !isStill(one)).map((one) => one.outerHTML),
      ran: 'ran' in globalThis,
    }
  })()`)
  expect(foreign).toEqual([])
  expect(ran).toBe(false)
  expect(texts.flatMap((text) => text.match(UNSHOWABLE) ?? [])).toEqual([])
  return texts.join('\n')
}

/** Exports the open index, and holds it against what the program writes for the same folder. */
async function expectPack(page: Page, folder: string): Promise<void> {
  await openExport(page)
  const { bytes } = await download(page, 'Full pack')
  expect(bytes.equals(await packWithProgram(folder))).toBe(true)
}

/** What the program writes, which is the same each time. */
async function packWithProgram(folder: string): Promise<Buffer> {
  const place = workshop.path(`packs/${createHash('sha256').update(folder).digest('hex')}.zip`)
  if (!existsSync(place)) {
    mkdirSync(dirname(place), { recursive: true })
    const { code, stderr } = await workshop.runHere(['pack', folder, '--out', place])
    if (code !== 0) throw new Error(stderr)
  }
  return readFileSync(place)
}

/** Folders of the page's own in which it keeps large indexes. */
function readPrivateFolders(page: Page): Promise<string[]> {
  return page.evaluate(`(async () => {
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('llmx-ingestor', { create: true })
    return Array.fromAsync(root.keys())
  })()`)
}

function write(path: string, content: string | Uint8Array): void {
  const place = workshop.path(path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, content)
}

/** Text, data and code; more than a database is given. */
function writeLarge(folder: string): void {
  const words = (from: number) => Array.from({ length: 2000 }, (_, i) => `kiln-${from + i} glaze`).join(' ')
  for (let i = 0; i < 40; i++) write(`${folder}/text/note-${i}.md`, `# Note ${i}\n\n${words(i * 7)}\n`)
  write(`${folder}/data.json`, JSON.stringify({ kiln: { heat: [1, 2, 3] }, glaze: words(3) }))
  write(`${folder}/code/kiln.ts`, 'export function fire(kiln: string): number {\n  return kiln.length\n}\n')
  write(`${folder}/code/glaze.py`, 'def mix(glaze):\n    return glaze\n')
}

function writeHostileFolder(folder: string): void {
  const files: Record<string, string | Uint8Array> = {
    [`${IMAGE}.md`]: `# ${IMAGE} ${SCRIPT}\n\n[kiln](javascript:${HARM}) ${SCRIPT}\n\n## ${UNSEEN} __proto__\n\nkiln ${UNSEEN}\n`,
    [`" onmouseover="${HARM}" x=".md`]: '# kiln\n',
    [`odd ${UNSEEN}.md`]: '# kiln\n',
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
    'line.txt': `kiln ${'word '.repeat((10 * MEGABYTE - 64) / 5)}`,
    [`${IMAGE}.dat`]: new Uint8Array([0, 1, 2, 0, 255]),
    'not-text.md': new Uint8Array([0x23, 0x20, 0x6b, 0x69, 0x6c, 0x6e, 0xff, 0xfe, 0x0a]),
    '.gitignore': `*${IMAGE}*.log\n`,
    [`a${IMAGE}b.log`]: 'x',
  }
  for (const [name, content] of Object.entries(files)) write(`${folder}/${name}`, content)
}
