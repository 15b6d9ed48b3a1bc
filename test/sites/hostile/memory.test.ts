import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { page } from '../site.ts'
import { crawlHostile, isLong, openRawServer, rowsOf, send } from './harness.ts'

/* Many concurrent responses, each of which is harmless alone. */

const COUNT = 16
const MEBIBYTES = 19

/** The encodings of the responses of each crawl, used in turn. */
const ENCODINGS = isLong ? [[['identity']], [['gzip']]] : [[['identity', 'gzip']]]

test.each(ENCODINGS)('16 concurrent responses of 20 MB, as %j, stay within the memory limit', async (encodings) => {
  const server = await openRawServer()
  const paths = Array.from({ length: COUNT }, (_, i) => `/large/${i}`)
  server.answers.set('/', send(page('Start', [...paths, '/good'])))
  server.answers.set('/good', send(page('Good')))
  const filler = Buffer.alloc(MEBIBYTES * 2 ** 20, 'words nobody sees ')
  for (const [i, path] of paths.entries()) {
    const body = Buffer.concat([Buffer.from(`${page(`Large ${path}`)}<!--`), filler])
    const encoding = encodings[i % encodings.length] ?? ''
    const bytes = encoding === 'gzip' ? gzipSync(body, { level: 1 }) : body
    server.answers.set(path, send(bytes, { 'content-type': 'text/html', 'content-encoding': encoding }))
  }
  const run = await crawlHostile([{ url: `${server.origin}/` }])
  const rows = rowsOf(run, server)
  expect(['/good', ...paths].filter((path) => rows[path] !== 'indexed')).toEqual([])
})

test('a crawl that exceeds its memory continues with one page at a time', async () => {
  const server = await openRawServer()
  const paths = Array.from({ length: 10 }, (_, i) => `/page/${i}`)
  let open = 0
  let maxOpen = 0
  server.answers.set('/', send(page('Start', paths)))
  for (const path of paths) {
    server.answers.set(path, (socket, requestedPath) => {
      maxOpen = Math.max(maxOpen, ++open)
      setTimeout(() => {
        open--
        send(page(`Page ${path}`))(socket, requestedPath)
      }, 20)
    })
  }
  const run = await crawlHostile([{ url: `${server.origin}/` }], { limits: { memoryBytes: 1_000_000 } })
  const rows = rowsOf(run, server)
  expect(paths.filter((path) => rows[path] !== 'indexed')).toEqual([])
  expect(maxOpen).toBe(1)
  expect(run.sources.get(`${server.origin}/`)?.eventCounts).toMatchObject({ paused: expect.any(Number) })
})
