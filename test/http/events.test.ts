import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { FeedEventName } from '../../src/library/jobs/events/feed.ts'
import { openStream, openTestServer, type StreamEvent, type TestServer, until } from './server.ts'
import * as shapes from './shapes.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000'
const B = 'bbbbbbbb-0000-4000-8000-000000000000'

function emit(server: TestServer, name: FeedEventName, jobId: string | null, payload: Record<string, unknown>): void {
  server.dispatcher.feed.tell(name, jobId, payload)
}

function isEvent(i: number): (event: StreamEvent) => boolean {
  return ({ data }) => data.i === i
}

async function countStreams(server: TestServer): Promise<number> {
  return (await server.ask('/api/status')).body.eventStreams
}

test('a stream delivers the requested events in order', async () => {
  const server = await openTestServer()
  const [all, quiet, ofJob] = await Promise.all([
    openStream(`${server.origin}/events`),
    openStream(`${server.origin}/events?logs=0`),
    openStream(`${server.origin}/events?job=${A}`),
  ])
  expect(all.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(all.headers.get('content-encoding')).toBeNull()
  emit(server, 'log', A, { stream: 'stdout', line: 'of a' })
  emit(server, 'queue', B, { action: 'enqueued', url: 'https://b.example/' })
  emit(server, 'queue', A, { action: 'enqueued', url: 'https://a.example/' })
  emit(server, 'jobs', null, { count: 0, items: [] })
  for (const stream of [all, quiet, ofJob]) await stream.until(({ name }) => name === 'jobs')
  const names = (events: readonly StreamEvent[]) => events.map(({ name, data }) => [name, data.jobId])
  expect(names(all.events)).toEqual([
    ['log', null],
    ['log', A],
    ['queue', B],
    ['queue', A],
    ['jobs', undefined],
  ])
  expect(names(quiet.events)).toEqual([
    ['queue', B],
    ['queue', A],
    ['jobs', undefined],
  ])
  // Events without a job go to every stream.
  expect(names(ofJob.events)).toEqual([
    ['log', null],
    ['log', A],
    ['queue', A],
    ['jobs', undefined],
  ])
  const { epoch, last } = server.dispatcher.feed
  expect(all.events.slice(1).map(({ id }) => id)).toEqual([3, 2, 1, 0].map((before) => `${epoch}-${last - before}`))
})

test('a stream that broke off resumes where it ended', async () => {
  const server = await openTestServer()
  for (let i = 1; i <= 10; i++) emit(server, 'queue', A, { i })
  const { epoch, last } = server.dispatcher.feed
  const resumed = await openStream(`${server.origin}/events`, { 'last-event-id': `${epoch}-${last - 3}` })
  emit(server, 'queue', A, { i: 11 })
  await resumed.until(isEvent(11))
  expect(resumed.events.map(({ data }) => data.i)).toEqual([8, 9, 10, 11])

  for (const id of ['other-7', `${epoch}-99999`, `${epoch}-x`, 'nonsense']) {
    const fresh = await openStream(`${server.origin}/events?logs=0`, { 'last-event-id': id })
    const notice = await fresh.until(({ name }) => name === 'log')
    expect([id, shapes.events['log']?.parse(notice.data)]).toMatchObject([id, { stream: 'server', missed: null }])
    expect(fresh.events.some(({ name }) => name === 'queue')).toBe(false)
  }
})

test('a late stream gets a notice about events that were dropped', async () => {
  const server = await openTestServer()
  const { feed } = server.dispatcher
  const from = feed.last + 1000
  for (let i = 1; i <= 7000; i++) emit(server, 'queue', A, { i })
  const late = await openStream(`${server.origin}/events?logs=0`, { 'last-event-id': `${feed.epoch}-${from}` })
  const notice = await late.until(({ name }) => name === 'log')
  await late.until(isEvent(7000))
  const first = late.events.find(({ name }) => name === 'queue')?.data.i
  expect(notice.data.missed).toBe(first - 1001)
  expect(late.events.filter(({ name }) => name === 'queue')).toHaveLength(7000 - first + 1)
})

test('a stream without events sends heartbeats', async () => {
  const server = await openTestServer({ http: { heartbeatMs: 100 } })
  const stream = await openStream(`${server.origin}/events`)
  await stream.wait(() => stream.comments.length >= 3)
  expect(stream.events).toHaveLength(1)
})

test('the number of streams is limited', async () => {
  const server = await openTestServer({ http: { maxStreams: 2 } })
  // A HEAD request opens no stream.
  expect((await server.ask('/events', { method: 'HEAD' })).status).toBe(200)
  const first = await openStream(`${server.origin}/events`)
  await openStream(`${server.origin}/events`)
  const third = await server.ask('/events')
  expect([third.status, shapes.failure.parse(third.body).code]).toEqual([503, 'STREAMS_FULL'])
  // A closed stream frees its slot.
  first.close()
  await until(
    () => countStreams(server),
    (count) => count === 1,
  )
  expect((await openStream(`${server.origin}/events`)).status).toBe(200)
})

test('a client that disconnects at once holds no stream', async () => {
  const server = await openTestServer({ http: { heartbeatMs: 200 } })
  const port = Number(new URL(server.origin).port)
  const request = 'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
  for (let i = 0; i < 60; i++) {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    // Some clients send several requests before the first response has ended.
    socket.write(i % 10 === 0 ? request.repeat(3) : request)
    if (i % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
    socket.resetAndDestroy()
  }
  await until(
    () => countStreams(server),
    (count) => count === 0,
  )
  expect(server.lines.filter((line) => line.startsWith('[req] GET /events')).length).toBeGreaterThan(10)
})

/** Opens a stream of events and reads nothing. */
async function openStuck(server: TestServer): Promise<Socket> {
  const { port } = new URL(server.origin)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET /events?logs=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  return socket
}

/** Emits many large events at a pace that a reading client can follow. */
async function emitMany(server: TestServer, rounds: number, from: number): Promise<number> {
  const text = 'x'.repeat(20_000)
  let i = from
  for (let round = 0; round < rounds; round++) {
    for (let count = 0; count < 50; count++) emit(server, 'queue', A, { i: ++i, text })
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return i
}

test('a client that does not read delays no other client, and learns what it missed when it reads again', async () => {
  const server = await openTestServer()
  const reader = await openStream(`${server.origin}/events?logs=0`)
  const stuck = await openStuck(server)
  await until(
    () => countStreams(server),
    (count) => count === 2,
  )
  // Far more than a connection and the feed can hold.
  const last = await emitMany(server, 24, 0)
  await reader.until(isEvent(last))
  let text = ''
  stuck.on('data', (data: Buffer) => {
    text += data.toString('latin1')
  })
  stuck.resume()
  await until(
    async () => text.includes(`"i":${last},`),
    (isComplete) => isComplete,
  )
  const missed = [...text.matchAll(/"missed":(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  expect(missed).toBeGreaterThan(100)
  expect(text.length).toBeLessThan(last * 20_000)
})

test('a client that reads nothing for long is disconnected', async () => {
  const server = await openTestServer({ http: { stuckMs: 300, heartbeatMs: 200 } })
  const reader = await openStream(`${server.origin}/events?logs=0`)
  const stuck = await openStuck(server)
  await until(
    () => countStreams(server),
    (count) => count === 2,
  )
  const closed = once(stuck, 'close')
  const last = await emitMany(server, 16, 0)
  await until(
    () => countStreams(server),
    (count) => count === 1,
  )
  stuck.resume()
  await closed
  // The other client is still served.
  emit(server, 'queue', A, { i: last + 1 })
  await reader.until(isEvent(last + 1))
})
