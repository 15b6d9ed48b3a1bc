import { afterEach, beforeEach, expect, test } from 'vitest'
import { compareUtf8 } from '../../src/core/text/order.ts'
import { keepEmbedding } from '../../src/library/background-embedding.ts'
import type { Library } from '../../src/library/library.ts'
import { embedLibrary } from '../../src/library/operations/embed-library.ts'
import { createWakeableSleep } from '../../src/library/wakeable-sleep.ts'
import { openLibrary } from '../../src/open-library.ts'
import { ProgramSandbox } from '../e2e/program.ts'
import { until } from '../e2e/server.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { openQdrantServer, type QdrantServer } from './servers/qdrant.ts'
import { openTeiServer, type TeiServer } from './servers/tei.ts'

const PUT_POINTS = 'PUT /collections/:name/points'
const SCROLL = 'POST /collections/:name/points/scroll'

let workshop: ProgramSandbox
let tei: TeiServer
let qdrant: QdrantServer
let library: Library & { close(): Promise<void> }
let stop: AbortController
let running: Promise<void> | undefined

beforeEach(async () => {
  workshop = new ProgramSandbox()
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
  workshop.remove()
})

function open(hasCopy: boolean): Promise<Library & { close(): Promise<void> }> {
  return openLibrary({
    path: workshop.path('library.db'),
    version: '0.0.0',
    embed: true,
    embedding: { type: 'tei', endpoint: tei.origin },
    ...(hasCopy ? { qdrant: { url: qdrant.origin } } : {}),
  })
}

/** Runs the catch-up until the end of the test. Returns its messages, and `alarm`, which wakes it. */
function catchUp() {
  const alarm = createWakeableSleep()
  const said: string[] = []
  const note = (text: string): void => void said.push(text)
  running = keepEmbedding(library, stop.signal, { wakeableSleep: alarm, log: { info: note, warn: note } })
  return { alarm, said }
}

const textsIn = (): string[] =>
  [...(qdrant.pointsOf('pharos')?.values() ?? [])].map(({ payload }) => String(payload['chunk_text'])).sort(compareUtf8)

test('vectors made while no copy was configured are copied at the start', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp\n---\nlens')
  const other = await open(false)
  for await (const _ of embedLibrary(other));
  await other.close()
  const { said } = catchUp()
  await until(
    async () => textsIn(),
    (texts) => texts.length === 2,
  )
  await until(
    async () => said,
    (lines) => lines.includes(`copied 2 vectors to ${qdrant.origin} (pharos)`),
  )
})

test('the end of a crawl syncs the copy: vectors that failed before are written, and stale ones are removed', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp\n---\nlens')
  const { alarm, said } = catchUp()
  await until(
    async () => textsIn(),
    (texts) => texts.length === 2,
  )
  // The number of vectors stays the same, and writing the new ones fails at first.
  qdrant.queueFaults(PUT_POINTS, { type: 'answer', status: 400, json: { status: { error: 'no' }, time: 0 } })
  await writePage(library.store, 'docs', '/a', 'wick\n---\nfog horn')
  alarm.wake()
  await until(
    async () => textsIn(),
    (texts) => texts.join() === 'fog horn,wick',
  )
  await until(
    async () => said,
    (lines) => lines.includes(`copied 2 vectors to ${qdrant.origin} (pharos)`),
  )
  expect(library.vectorCopy?.problem).toBeNull()
})

test('a copy in sync is only asked for its count, and its points are not listed', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp')
  const { alarm } = catchUp()
  await until(
    async () => qdrant.count(SCROLL),
    (count) => count === 1,
  )
  await until(
    async () => textsIn(),
    (texts) => texts.length === 1,
  )
  qdrant.clearRequests()
  alarm.wake()
  await until(
    async () => qdrant.count(),
    (count) => count > 0,
  )
  expect(qdrant.requests.map(({ path }) => path)).toEqual(['/collections/pharos/points/count'])
})

test('a failing copy is reported, and chunks are still embedded', async () => {
  await writePage(library.store, 'docs', '/a', 'lamp')
  await qdrant.stopListening()
  const { said } = catchUp()
  await until(
    async () => said,
    (lines) => lines.some((line) => line.startsWith('catching up with vectors fails and is tried again: Qdrant at ')),
  )
  expect(await library.vectors?.count()).toMatchObject({ embedded: 1 })
  await qdrant.resumeListening()
})
