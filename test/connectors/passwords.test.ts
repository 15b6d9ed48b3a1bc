import { expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { openCrawl4AIReader } from '../../src/readers/crawl4ai-reader.ts'
import { openQdrantStore } from '../../src/readers/qdrant-store.ts'

const endpoint = 'http://me:s3cret@127.0.0.1:1/'
const library = { path: ':memory:', version: '0.0.0' }

test.each<[string, string, () => Promise<unknown>]>([
  ['embedding.endpoint', 'key', () => openLibrary({ ...library, embedding: { type: 'tei', endpoint } })],
  ['reranking.endpoint', 'key', () => openLibrary({ ...library, reranking: { type: 'tei', endpoint } })],
  ['qdrant.url', 'key', () => openLibrary({ ...library, qdrant: { url: endpoint } })],
  ['crawl4ai.endpoint', 'token', () => openLibrary({ ...library, crawl4ai: { endpoint } })],
  ['endpointUrl', 'token', () => openCrawl4AIReader({ endpointUrl: endpoint })],
  ['url', 'key', () => openQdrantStore({ url: endpoint, collection: 'c', dimensions: 3 })],
])('a password in %s is refused, and the message does not repeat it', async (option, key, open) => {
  await expect(open()).rejects.toMatchObject({
    code: 'OPTION_INVALID',
    message: `${option}: expected an address without user name and password: give a key as ${key}`,
    entry: { advice: 'correct the option' },
  })
})
