import { expect, test } from 'vitest'
import { PharosError } from '../../src/core/errors.ts'
import type { Renderer } from '../../src/crawl/ports.ts'
import { openRendering } from '../../src/library/crawl/open-rendering.ts'
import type { Library } from '../../src/library/library.ts'

const SNAPSHOT = { url: 'http://127.0.0.1/', body: '<p>Lamp</p>', status: 200, headers: {} }

/** A library with only these parts. */
const libraryWith = (parts: Partial<Library> = {}): Library => parts as unknown as Library

/** A library with a fake browser, and the number of times it was opened. */
function stageBrowser(prepare: () => Promise<void>) {
  let opened = 0
  const renderer: Renderer = { prepare, render: async (snapshot) => ({ type: 'rendered', snapshot }) }
  const library = libraryWith({
    openRenderer: async () => {
      opened++
      return renderer
    },
  })
  return { library, countOpened: () => opened }
}

test('chromium and crawl4ai are refused if there is no browser or service', async () => {
  expect(await openRendering(libraryWith(), 'http')).toEqual({})
  await expect(openRendering(libraryWith(), 'chromium')).rejects.toMatchObject({ code: 'BROWSER_MISSING' })
  await expect(openRendering(libraryWith(), 'crawl4ai')).rejects.toMatchObject({ code: 'USAGE' })
})

test('auto without a browser reports needs-rendering for each page', async () => {
  const { renderer } = await openRendering(libraryWith(), 'auto')
  for (let pages = 0; pages < 2; pages++) {
    expect(await renderer?.render(SNAPSHOT, {})).toEqual({
      type: 'failed',
      reason: 'needs-rendering',
      detail: 'this library was opened without a browser',
      isTransient: false,
    })
  }
  await expect(renderer?.prepare()).rejects.toMatchObject({ code: 'BROWSER_MISSING' })
})

test('a browser is opened once, with the first page that needs it', async () => {
  const { library, countOpened } = stageBrowser(async () => {})
  const { renderer } = await openRendering(library, 'auto')
  expect(countOpened()).toBe(0)
  const rendered = await Promise.all([renderer?.render(SNAPSHOT, {}), renderer?.render(SNAPSHOT, {})])
  expect(rendered.map((one) => one?.type)).toEqual(['rendered', 'rendered'])
  expect(countOpened()).toBe(1)
})

test('an error other than a missing browser is not swallowed', async () => {
  const failure = new PharosError('SERVICE_UNUSABLE', { service: 'a browser' })
  const { library } = stageBrowser(() => Promise.reject(failure))
  const { renderer } = await openRendering(library, 'auto')
  await expect(renderer?.render(SNAPSHOT, {})).rejects.toBe(failure)
})
