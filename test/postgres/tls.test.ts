import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/postgres/database/database.ts'
import { makeSelfSigned } from '../connectors/servers/self-signed.ts'
import { findFreePort } from '../e2e/server.ts'
import { createDatabase, execute } from './databases.ts'
import { startPgBouncer, type TlsPort } from './pgbouncer.ts'
import { type PostgresServer, startPostgres } from './server.ts'

/* Libraries whose connections are encrypted, directly and through PgBouncer. */

let folder: string
let trusted: string
let other: string
let files: Omit<TlsPort, 'port'>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pharos-tls-'))
  chmodSync(folder, 0o755)
  const { key, cert } = makeSelfSigned('localhost')
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  trusted = write('cert.pem', cert)
  other = write('other.pem', makeSelfSigned('localhost').cert)
  files = { certFile: trusted, keyFile: write('key.pem', key) }
  // PostgreSQL accepts only a key that nobody else can read.
  chmodSync(files.keyFile, 0o600)
  if (process.getuid?.() === 0) spawnSync('chown', ['postgres:', files.keyFile])
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Expects that the library is used over TLS, and only if the certificate is trusted. */
async function expectVerified(server: string): Promise<void> {
  const db = await openDatabase(`${server}?sslmode=verify-full&sslrootcert=${trusted}`)
  expect(await db.get('SELECT count(*) AS n FROM sources')).toEqual({ n: 0 })
  await db.close()
  await expect(openDatabase(`${server}?sslmode=verify-full&sslrootcert=${other}`)).rejects.toMatchObject({
    code: 'LIBRARY_UNUSABLE',
    message: expect.stringMatching(/certificate/),
  })
  // A name that the certificate does not have.
  const elsewhere = server.replace('localhost', '127.0.0.1')
  await expect(openDatabase(`${elsewhere}?sslmode=verify-full&sslrootcert=${trusted}`)).rejects.toMatchObject({
    code: 'LIBRARY_UNUSABLE',
    message: expect.stringMatching(/certificate/),
  })
}

describe('a library over TLS', () => {
  let server: PostgresServer | undefined
  afterAll(() => server?.stop())

  test('in PostgreSQL is used if the certificate is trusted', async () => {
    const port = await findFreePort()
    const { certFile, keyFile } = files
    const tls = ['ssl=on', `ssl_cert_file=${certFile}`, `ssl_key_file=${keyFile}`]
    server = startPostgres(["listen_addresses='127.0.0.1'", `port=${port}`, ...tls])
    await expectVerified(`postgres://pharos@localhost:${port}/postgres`)
  })

  test('behind PgBouncer with changing sessions is used if the certificate is trusted', async () => {
    const name = await createDatabase()
    await execute(`ALTER DATABASE ${name} SET search_path TO pharos`)
    const port = await findFreePort()
    await startPgBouncer(name, 'transaction', { ...files, port })
    await expectVerified(`postgres://pharos@localhost:${port}/${name}`)
    await expect(openDatabase(`postgres://pharos@localhost:${port}/${name}?sslmode=disable`)).rejects.toMatchObject({
      code: 'LIBRARY_UNREACHABLE',
      message: expect.stringMatching(/SSL required/),
    })
  })
})
