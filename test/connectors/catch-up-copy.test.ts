import { afterEach, beforeEach, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { keepEmbedding } from '../../src/library/embed/background-embedding.ts'
import { embedLibrary } from '../../src/library/embed/embed-library.ts'
import type { Library } from '../../src/library/library.ts'
import { createWakeableSleep } from '../../src/library/wakeable-sleep.ts'
import { openLibrary } from '../../src/open-library.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { until } from '../e2e/server.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { openQdrantServer, type QdrantServer } from './servers/qdrant.ts'
import { openTeiServer, type TeiServer } from './servers/tei.ts'

const PUT_POINTS = 'PUT /collections/:name/points'
const SCROLL = 'POST /collections/:name/points/scroll'

let sandbox: ProgramSandbox
let tei: TeiServer
let qdrant: QdrantServer
let library: Library & { close(): Promise<void> }
let stop: AbortController
let running: Promise<void> | undefined

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  tei = await openTeiServer()
  qdrant = await openQdrantServer()
  library = await open(true)
  stop = new AbortController()
  running = undefined
  await addSourceTo(library.store, 'docs')
})

afterEach(async () => {
  stop.abort()
  await running
  await library.close()
  await Promise.all([tei.close(), qdrant.close()])
  sandbox.remove()
})

function open(hasCopy: boolean): Promise<Library & { close(): Promise<void> }> {
  return openLibrary({
    path: sandbox.path('library.db'),
    version: '0.0.0',
    embed: true,
    embedding: { type: 'tei', endpoint: tei.origin },
    ...(hasCopy ? { qdrant: { url: qdrant.origin } } : {}),
  })
}

/** Embeds in the background until the end of the test. Returns the log messages, and `wakeableSleep`, which wakes the background work. */
function catchUp() {
  const wakeableSleep = createWakeableSleep()
  const messages: string[] = []
  const addMessage = (text: string): void => void messages.push(text)
  running = keepEmbedding(library, stop.signal, { wakeableSleep, log: { info: addMessage, warn: addMessage } })
  return { wakeableSleep, messages }
}

const listCopiedTexts = (): string[] =>
  [...(qdrant.pointsOf('pharos')?.values() ?? [])].map(({ payload }) => String(payload['chunk_text'])).sort(compareUtf8)

test('vectors made while no copy was configured are copied at the start', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp\n---\nlens')
  const other = await open(false)
  for await (const _ of embedLibrary(other));
  await other.close()
  const { messages } = catchUp()
  await until(
    async () => listCopiedTexts(),
    (texts) => texts.length === 2,
  )
  await until(
    async () => messages,
    (lines) => lines.includes(`copied 2 vectors to ${qdrant.origin} (pharos)`),
  )
})

test('the end of a crawl syncs the copy: vectors that failed before are written, and stale ones are removed', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp\n---\nlens')
  const { wakeableSleep, messages } = catchUp()
  await until(
    async () => listCopiedTexts(),
    (texts) => texts.length === 2,
  )
  // The number of vectors stays the same, and writing the new ones fails at first.
  qdrant.queueFaults(PUT_POINTS, { type: 'answer', status: 400, json: { status: { error: 'no' }, time: 0 } })
  await writePage(library.store, 'docs', '/a', 'wick\n---\nfog horn')
  wakeableSleep.wake()
  await until(
    async () => listCopiedTexts(),
    (texts) => texts.join() === 'fog horn,wick',
  )
  await until(
    async () => messages,
    (lines) => lines.includes(`copied 2 vectors to ${qdrant.origin} (pharos)`),
  )
  expect(library.vectorCopy?.problem).toBeNull()
})

test('a copy in sync is only asked for its count, and its points are not listed', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp')
  const { wakeableSleep } = catchUp()
  await until(
    async () => qdrant.count(SCROLL),
    (count) => count === 1,
  )
  await until(
    async () => listCopiedTexts(),
    (texts) => texts.length === 1,
  )
  qdrant.clearRequests()
  wakeableSleep.wake()
  await until(
    async () => qdrant.count(),
    (count) => count > 0,
  )
  expect(qdrant.requests.map(({ path }) => path)).toEqual(['/collections/pharos/points/count'])
})

test('a failing copy is reported, and chunks are still embedded', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp')
  await qdrant.stopListening()
  const { messages } = catchUp()
  await until(
    async () => messages,
    (lines) => lines.some((line) => line.startsWith('could not update the vectors; retrying: Qdrant at ')),
  )
  expect(await library.vectors?.count()).toMatchObject({ embedded: 1 })
  await qdrant.resumeListening()
})
