import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

/** A PostgreSQL with pgvector, inside this process. It has one session, which whoever is connected shares: one at a time. */
export interface PgliteServer {
  /** Runs statements, and forgets what the last who was connected had prepared. */
  execute(text: string): Promise<void>
  /** The address of a library of its own that nobody has made yet. */
  addressOfNew(): string
  stop(): Promise<void>
}

/** Starts it on a socket in a temporary folder; the extension is there, and nobody has asked for it yet. */
export async function startPglite(): Promise<PgliteServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pglite-'))
  const db = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db, path: join(folder, '.s.PGSQL.5432') })
  await server.start()
  let made = 0
  return {
    async execute(text) {
      await db.exec('DISCARD ALL')
      await db.exec(text)
    },
    addressOfNew: () => `postgres://postgres@/postgres?host=${folder}&schema=library_${made++}`,
    async stop() {
      await server.stop()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
