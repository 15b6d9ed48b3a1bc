import { afterEach, expect, test } from 'vitest'
import { embedLibrary } from '../../src/library/embed/embed-library.ts'
import type { Library } from '../../src/library/library.ts'
import { rankHits } from '../../src/library/search/ranked-hits.ts'
import { openConnections } from '../../src/open-connections.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { createEmbedFixture } from './embed-fixture.ts'
import { createQuickClock } from './quick-clock.ts'
import { openTeiServer } from './servers/tei.ts'

const stage = createEmbedFixture()
afterEach(() => stage.end())

/** A library whose connections to services stay open, as in a server. */
async function stageServer() {
  const server = stage.later(await openTeiServer())
  const clock = createQuickClock()
  const connections = stage.later(
    openConnections({
      options: { embedding: { type: 'tei', endpoint: server.origin } },
      userAgent: 'Pharos/test',
      allowance: { isNameAllowed: () => false, isAllowed: () => false },
      proxy: undefined,
      maxPageBytes: undefined,
      clock,
    }),
  )
  const store = createMemoryStore()
  await addSourceTo(store, 'docs')
  await writePage(store, 'docs', '/a', 'a lamp\n---\na foghorn')
  const { openEmbedder } = connections
  const library = { store, vectors: store.vectors, clock, newId: () => 'me', openEmbedder, hasEmbeddingService: true }
  // The tests use no other part of a library.
  return { server, clock, store, library: library as unknown as Library }
}

async function embed(library: Library): Promise<void> {
  for await (const _ of embedLibrary(library));
}

const search = async (library: Library) => {
  const { engines, notices } = await rankHits(
    library,
    { query: 'lamp', filter: {}, fusion: 'convex', explain: false },
    0,
  )
  return { engines, notices: notices.join() }
}

test('a service is reopened when its model changes, and again when the old model is back', async () => {
  const { library, server, clock, store } = await stageServer()
  await embed(library)
  expect((await search(library)).engines).toEqual(['words', 'vectors'])
  const [first, second] = ['thenlper/gte-base', 'BAAI/bge-m3']
  server.serve({ id: second })
  clock.advance(61_000)
  expect((await search(library)).notices).toContain(`it now serves ${second} instead of ${first}`)
  expect((await search(library)).notices).toContain(`than the configured one (${second})`)
  await writePage(store, 'docs', '/b', 'a buoy')
  await expect(embed(library)).rejects.toMatchObject({ code: 'VECTOR_SPACE_OTHER' })
  server.serve({ id: first })
  clock.advance(61_000)
  // The first request after the change detects it and fails.
  await expect(embed(library)).rejects.toMatchObject({ code: 'SERVICE_UNUSABLE' })
  await embed(library)
  expect(await search(library)).toEqual({ engines: ['words', 'vectors'], notices: '' })
})
