import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type ListeningServer, listen, listenInRange } from './listen.ts'

const opened: ListeningServer[] = []

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close()
})

function closeAfterTest(server: ListeningServer): ListeningServer {
  opened.push(server)
  return server
}

const answer = async (): Promise<Response> => new Response('here')
const portOf = ({ origin }: ListeningServer): number => Number(new URL(origin).port)

describe('server that searches for a port', () => {
  test('takes the first free port of the range, or any free port if all are taken', async () => {
    const taken = portOf(closeAfterTest(await listen(answer, 0)))
    const next = closeAfterTest(await listenInRange(answer, { first: taken, last: taken + 50 }))
    expect(portOf(next)).toBeGreaterThan(taken)
    const other = closeAfterTest(await listenInRange(answer, { first: taken, last: taken }))
    expect(portOf(other)).not.toBe(taken)
    expect(await (await fetch(other.origin)).text()).toBe('here')
  })

  test('refuses an address that this machine does not have', async () => {
    await expect(listenInRange(answer, { first: 41_000, last: 41_001 }, { host: '192.0.2.1' })).rejects.toThrow(
      '--host 192.0.2.1: this machine has no such address',
    )
  })
})

test('a handler receives the address of the client', async () => {
  const seen: (string | undefined)[] = []
  const server = closeAfterTest(
    await listen(async (_, peer) => {
      seen.push(peer?.address)
      return new Response()
    }, 0),
  )
  await fetch(server.origin)
  expect(seen).toEqual(['127.0.0.1'])
})

test('an exception in a handler is not disclosed, and a malformed request is refused', async () => {
  const server = closeAfterTest(
    await listen(async () => {
      throw new Error('a secret of the program')
    }, 0),
  )
  const failed = await fetch(server.origin)
  expect([failed.status, await failed.text()]).toEqual([500, 'internal error'])
  expect(await send(server, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect(await send(server, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
})

test('closing a server ends responses that are still being sent', async () => {
  const server = await listen(async () => new Response(new ReadableStream()), 0)
  const response = await fetch(server.origin)
  await server.close()
  await expect(response.text()).rejects.toThrow('terminated')
})

function send(server: ListeningServer, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = ''
    const socket = connect(portOf(server), '127.0.0.1', () => socket.write(text))
    socket
      .setEncoding('latin1')
      .on('data', (part: string) => {
        got += part
      })
      .on('end', () => resolve(got))
      .on('error', reject)
  })
}
