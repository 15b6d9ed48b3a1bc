import * as fs from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ProgramSandbox } from '../e2e/program.ts'
import { openChromium } from './chromium.ts'
import { openPageHost, readPreviewed, readUploaded } from './local-fixture.ts'

/* The local page searches by meaning in a real Chromium, with the same vectors as the program. */

const sandbox = new ProgramSandbox()
let browser: Browser

/** The file that answers this question contains none of its words. */
const QUESTION = 'automobile repair garage'

beforeAll(async () => {
  sandbox.write({
    'docs/cars.md': '# Workshop\n\nMechanics fix broken engines and brakes of cars here.\n',
    'docs/bread.md': '# Bakery\n\nKnead the dough, let it rise and bake the loaf.\n',
    'docs/sea.md': '# Lighthouse\n\nA lamp shows ships where the rocks are.\n\n## Fog\n\nA horn sounds each minute.\n',
    'docs/code.js': '/** Opens the door. */\nexport function open(door) {\n  return door.turn()\n}\n',
    'docs/de.md': `# Turm\n\n${'Der Leuchtturm zeigt den Schiffen, wo der Hafen ist, und er brennt die ganze Nacht. '.repeat(5)}\n`,
    'later/doctor.md': '# Clinic\n\nPhysicians treat patients with fevers.\n',
    'later/music.md': '# Choir\n\nSingers rehearse on Mondays.\n',
  })
  const packed = await sandbox.runInProcess(['pack', 'docs', '--out', 'docs.zip', '--full', '--vectors'])
  expect(packed).toMatchObject({ code: 0 })
  expect(await sandbox.runInProcess(['pack', 'docs', '--out', 'docs-pack', '--full', '--vectors'])).toMatchObject({
    code: 0,
  })
  browser = await openChromium()
})

afterAll(async () => {
  await browser?.close()
  sandbox.remove()
})

/** The vectors that the browser stores for each index, by the name of the index. */
async function readKeptVectors(page: Page): Promise<Record<string, Buffer>> {
  const found = await page.evaluate<Record<string, number[]>>(`(async () => {
    const answerOf = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result) })
    const database = await answerOf(indexedDB.open('llmx-ingestor'))
    const records = await answerOf(database.transaction('indexes').objectStore('indexes').getAll())
    database.close()
    const vectors = {}
    for (const { name, body } of records) {
      if (body.vectors) vectors[name] = [...new Uint8Array(await body.vectors.arrayBuffer())]
    }
    return vectors
  })()`)
  return Object.fromEntries(Object.entries(found).map(([name, bytes]) => [name, Buffer.from(bytes)]))
}

async function waitForMeaningSearch(page: Page): Promise<void> {
  await page.getByText('Searched by words and meaning').waitFor({ timeout: 60_000 })
}

/** Runs a search and returns the paths of the hits. */
async function find(page: Page, question: string): Promise<string[]> {
  await page.locator('#search-box').fill(question)
  await page.locator('.results:not(.busy) .hits').waitFor()
  const links = await page.locator('.hits a.hit').allTextContents()
  return links.map((text) => text.replace(/:\d+-\d+$/, ''))
}

test('a folder is searched by meaning with the same vectors as in the program, also offline', async () => {
  const host = await openPageHost()
  onTestFinished(() => host.close())
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  await page.goto(host.address)
  // The first load requests no file of the model.
  await page.getByRole('heading').first().waitFor()
  expect(host.requestedPaths.filter((path) => path.includes('/model/'))).toEqual([])

  await readUploaded(page, sandbox.path('docs'))
  await waitForMeaningSearch(page)
  expect((await find(page, QUESTION))[0]).toBe('cars.md')
  expect(await page.locator('.hits header').first().textContent()).toMatch(/by meaning alone$/)
  // A file without the words of the question may answer it, but "radar" is in no file.
  await find(page, 'radar for ships at night')
  expect(await page.locator('#doubt').textContent()).toMatch(/^Weak match: .*"radar"/)
  const wanted = fs.readFileSync(sandbox.path('docs-pack/vectors.bin'))
  await expect.poll(async () => (await readKeptVectors(page))['docs']).toEqual(wanted)

  // A pack contains its vectors.
  await page.goto(`${host.address}#/`)
  await page.locator('#pack-input').setInputFiles(sandbox.path('docs.zip'))
  await waitForMeaningSearch(page)
  expect((await find(page, QUESTION))[0]).toBe('cars.md')

  const countModelFiles = `caches.keys().then(async (names) => {
    const model = names.find((name) => name.includes(' model '))
    return model === undefined ? 0 : (await (await caches.open(model)).keys()).length
  })`
  await expect.poll(() => page.evaluate(countModelFiles)).toBe(5)
  await host.close()
  // A kept index is searched by its stored vectors, and another folder is embedded offline.
  await page.goto(`${host.address}#/`)
  await page.reload()
  await page.getByRole('link', { name: 'Open docs', exact: true }).last().click()
  await waitForMeaningSearch(page)
  expect((await find(page, QUESTION))[0]).toBe('cars.md')
  await page.goto(`${host.address}#/`)
  await page.locator('#folder-input').setInputFiles(sandbox.path('later'))
  await readPreviewed(page)
  await waitForMeaningSearch(page)
  expect((await find(page, 'medical help for sick people'))[0]).toBe('doctor.md')
  expect(problems).toEqual([])
})

test('a reload keeps the vectors that were made before', async () => {
  const part = (i: number) => `## Part ${i}\n\n${`The harbour opens at ${i} and closes at dusk. `.repeat(20)}`
  sandbox.write({ 'many/a.md': Array.from({ length: 200 }, (_, i) => part(i)).join('\n\n') })
  const host = await openPageHost()
  onTestFinished(() => host.close())
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(host.address)
  await readUploaded(page, sandbox.path('many'))
  const countVectors = async () => (await readKeptVectors(page))['many']?.filter((byte) => byte !== 0).length ?? 0
  await expect.poll(countVectors).toBeGreaterThan(0)
  const before = await countVectors()
  await page.getByText(/embedding is \d+ % done/).waitFor()
  await page.reload()
  await page.getByText(/embedding is \d+ % done/).waitFor()
  expect(await countVectors()).toBeGreaterThanOrEqual(before)
})
