import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

/** A PostgreSQL with pgvector inside this process. It has a single session that all connections share, one at a time. */
export interface PgliteServer {
  /** Runs statements, and drops the prepared statements of the last connection. */
  execute(text: string): Promise<void>
  /** The address of a new library that does not exist yet. */
  addressOfNew(): string
  stop(): Promise<void>
}

const MODULES = join(import.meta.dirname, '../../node_modules')

/** An empty database. Creating one takes seconds, so the first is cached for later runs. */
async function createEmpty(): Promise<PGlite> {
  const { version } = JSON.parse(readFileSync(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'))
  const cache = join(MODULES, `.cache/pharos-pglite-${version}.tar`)
  if (existsSync(cache)) return PGlite.create({ extensions: { vector }, loadDataDir: new Blob([readFileSync(cache)]) })
  const db = await PGlite.create({ extensions: { vector } })
  const unfinished = `${cache}.${process.pid}`
  writeFileSync(unfinished, await (await db.dumpDataDir('none')).bytes())
  renameSync(unfinished, cache)
  return db
}

/** Starts the server on a socket in a temporary folder. The pgvector extension is available but not created. */
export async function startPglite(): Promise<PgliteServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pglite-'))
  const db = await createEmpty()
  const server = new PGLiteSocketServer({ db, path: join(folder, '.s.PGSQL.5432') })
  await server.start()
  let libraryCount = 0
  return {
    async execute(text) {
      await db.exec('DISCARD ALL')
      await db.exec(text)
    },
    addressOfNew: () => `postgres://postgres@/postgres?host=${folder}&schema=library_${libraryCount++}`,
    async stop() {
      await server.stop()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
