import { describe, expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import { resolveReaderOptions } from './crawl4ai-options.ts'
import { ingestDocuments, ingestUrls } from './ingest.ts'
import { openPharosReader } from './pharos-reader.ts'
import { openQdrantStore } from './qdrant-store.ts'
import { neverFailing } from './reader-log.ts'

/** What callers without types may pass. */
// biome-ignore lint/suspicious/noExplicitAny: these options have wrong types on purpose.
type Wrong = any

const embedder = { space: {}, embed: async () => [] }
const reader = { lastFailures: [], loadAll: async () => [] }

/** Calls with options of a wrong type, and the error each gets. */
const CALLS: Readonly<Record<string, (options: Wrong) => unknown>> = {
  Crawl4AIReader: (options) => resolveReaderOptions(options),
  PharosReader: (options) => openPharosReader(options),
  ingestDocuments: (options) => ingestDocuments([], options),
  ingestUrls: (options) => ingestUrls(reader, [], options),
  openQdrantStore: (options) => openQdrantStore(options),
}

describe('an option of a wrong type is refused with its name', () => {
  test.each<[call: string, options: Wrong, problem: string]>([
    ['Crawl4AIReader', { endpointUrl: 5 }, 'endpointUrl must be a text, got 5'],
    ['Crawl4AIReader', { log: 'x' }, 'log must be a function, got "x"'],
    ['Crawl4AIReader', { allowPrivate: '127.0.0.1' }, 'allowPrivate must be a list of texts, got "127.0.0.1"'],
    ['Crawl4AIReader', { token: 7n }, 'token must be a text, got "7"'],
    ['Crawl4AIReader', { clock: null }, 'clock must be an object, got null'],
    ['Crawl4AIReader', { vectorStore: [] }, 'vectorStore must be an object, got []'],
    ['Crawl4AIReader', { endpointURL: 'http://localhost' }, 'endpointURL is not an option, did you mean endpointUrl?'],
    ['Crawl4AIReader', 'x', 'the options must be an object, got "x"'],
    ['PharosReader', { render: ['http'] }, 'render must be one of http, auto, chromium, crawl4ai, got ["http"]'],
    ['PharosReader', { render: 'x' }, 'render must be one of http, auto, chromium, crawl4ai, got "x"'],
    ['PharosReader', { allowPrivate: '127.0.0.1' }, 'allowPrivate must be a list of texts, got "127.0.0.1"'],
    ['PharosReader', { obeysRobots: 'no' }, 'obeysRobots must be true or false, got "no"'],
    ['PharosReader', { maxPageBytes: '1' }, 'maxPageBytes must be a number, got "1"'],
    ['PharosReader', { headers: () => 1 }, 'headers must be an object, got a value of the type function'],
    ['PharosReader', { obeyRobots: true }, 'obeyRobots is not an option, did you mean obeysRobots?'],
    [
      'ingestDocuments',
      { embedder, vectorStore: {}, chunks: 'nope' },
      'chunks must be one of library, pack, tokens, got "nope"',
    ],
    ['ingestDocuments', { vectorStore: {} }, 'embedder must be an object, got nothing'],
    ['ingestUrls', { embedder }, 'vectorStore must be given in the options or in the reader, got nothing'],
    ['openQdrantStore', { url: 5, collection: 'a', dimensions: 3 }, 'url must be a text, got 5'],
    ['openQdrantStore', { url: 'http://localhost', collection: 'a' }, 'dimensions must be a number, got nothing'],
  ])('%s with %o', async (call, options, problem) => {
    const error = await (async () => CALLS[call]?.(options))().catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(PharosError)
    expect(error).toMatchObject({ code: 'OPTION_INVALID', message: problem })
  })

  test('so are URLs that are no list, and a closed reader', async () => {
    const opened = await openPharosReader()
    const urls: Wrong = 'https://example.com/'
    for (const read of [opened.loadAll, opened.loadData]) {
      await expect(read(urls)).rejects.toMatchObject({
        code: 'OPTION_INVALID',
        message: 'urls must be a list of texts, got "https://example.com/"',
      })
    }
    await opened.close()
    await expect(opened.loadAll([])).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: 'the reader is closed',
    })
  })
})

test('a log that throws, at once or later, ends nothing else', async () => {
  const record = { level: 'info', event: 'batch-started' } as const
  const throwing = neverFailing(() => {
    throw new Error('disk full')
  })
  expect(() => throwing(record)).not.toThrow()
  const late: Wrong = () => Promise.reject(new Error('too late'))
  neverFailing(late)(record)
  await new Promise((resolve) => setImmediate(resolve))
})
