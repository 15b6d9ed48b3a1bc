import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { thisRunner } from '../../processes/runner.ts'
import { type ListeningServer, listen } from './listen.ts'
import {
  findServer,
  readRegistrationText,
  removeStaleRegistration,
  type ServerRegistration,
  writeRegistration,
} from './server-registration.ts'

let folder = ''
let library = ''
let server: ListeningServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-note-'))
  library = join(folder, 'library.db')
  // A server that demands a token responds too.
  server = await listen(async () => new Response(null, { status: 401 }), 0)
})

afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

/** The runner id of another live process on this machine. */
const otherRunnerId = thisRunner.id.replace(/\d+$/, String(process.ppid))

function writeOtherRegistration(changes: Partial<ServerRegistration>): void {
  const registration = { origin: server.origin, pid: process.ppid, runner: otherRunnerId, tokenFile: null, ...changes }
  writeFileSync(`${library}.server.json`, JSON.stringify(registration))
}

test('finds a running server under every name of its library', async () => {
  writeOtherRegistration({ tokenFile: '/etc/token' })
  const found = { origin: server.origin, pid: process.ppid, runner: otherRunnerId, tokenFile: '/etc/token' }
  expect(await findServer(library)).toEqual(found)
  writeFileSync(library, '')
  symlinkSync(library, join(folder, 'link.db'))
  expect(await findServer(join(folder, 'link.db'))).toEqual(found)
  expect(await findServer(join(folder, 'other.db'))).toBeUndefined()
})

test('does not find a server that is gone, even if its pid or port is in use again', async () => {
  const { pid = 0 } = spawnSync('true')
  writeOtherRegistration({ runner: thisRunner.id.replace(/\d+$/, String(pid)) })
  expect(await findServer(library)).toBeUndefined()
  writeOtherRegistration({ runner: thisRunner.id })
  expect(await findServer(library)).toBeUndefined()
  writeOtherRegistration({ origin: 'http://127.0.0.1:1' })
  expect(await findServer(library)).toBeUndefined()
})

test.each(['', '{', '[]', 'null', '{"origin":"file:///etc/passwd","pid":1,"runner":"a","tokenFile":null}'])(
  'ignores an invalid registration (%j)',
  async (text) => {
    writeFileSync(`${library}.server.json`, text)
    expect(await findServer(library)).toBeUndefined()
  },
)

test('a registration is never overwritten, and removed only by its own server or if it is stale and unchanged', () => {
  const release = writeRegistration(library, { origin: server.origin, tokenFile: null })
  expect(JSON.parse(readFileSync(`${library}.server.json`, 'utf8'))).toMatchObject({ pid: process.pid })
  expect(writeRegistration(library, { origin: server.origin, tokenFile: null })).toBeUndefined()
  writeOtherRegistration({})
  release?.()
  expect(existsSync(`${library}.server.json`)).toBe(true)
  const staleText = readRegistrationText(library)
  writeOtherRegistration({ origin: 'http://127.0.0.1:2' })
  removeStaleRegistration(library, staleText)
  expect(existsSync(`${library}.server.json`)).toBe(true)
  removeStaleRegistration(library, readRegistrationText(library))
  const again = writeRegistration(library, { origin: server.origin, tokenFile: null })
  again?.()
  expect(existsSync(`${library}.server.json`)).toBe(false)
})
