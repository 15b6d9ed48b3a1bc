import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openLibrary } from '../../src/open-library.ts'
import { ARTICLES, analyse, describeRuns } from './runs.contract.ts'
import { importPlaces } from './some-places.ts'
import { storeNews } from './stored-news.ts'

describeRuns(() => openLibrary({ path: ':memory:', version: '0' }))

describe('a gazetteer whose name index cannot be read', () => {
  /** Gives the stored index the format number of another version of this program. */
  function makeIndexUnreadable(path: string): void {
    const db = new Sqlite(path)
    const index = db.prepare<[], Buffer>('SELECT name_index FROM gazetteer_state').pluck().get()
    if (index === undefined) throw new Error('the gazetteer has no name index')
    index.writeUInt32LE(index.readUInt32LE(4) + 1, 4)
    db.prepare('UPDATE gazetteer_state SET name_index = ?').run(index)
    db.close()
  }

  test('rebuilds the index from its places, and no result is lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-names-'))
    const path = join(folder, 'library.db')
    const openHere = () => openLibrary({ path, version: '0', patienceMs: 50 })
    try {
      const library = await openHere()
      await storeNews(library.store, { articles: ARTICLES })
      await importPlaces(library.gazetteer)
      const { run: first } = await analyse(library)
      await library.close()
      makeIndexUnreadable(path)
      const writer = new Sqlite(path)
      writer.exec('BEGIN IMMEDIATE')
      const locked = await openHere()
      // The database is locked: the index cannot be written, so no places are found, and this process does not try again.
      const none = await locked.openPlaces()
      expect(none.revision).toBe('')
      writer.exec('ROLLBACK')
      writer.close()
      expect(await locked.openPlaces()).toBe(none)
      await expect(analyse(locked)).rejects.toMatchObject({ code: 'GAZETTEER_UNREADABLE' })
      await locked.close()
      const reopened = await openHere()
      const { run } = await analyse(reopened)
      expect(run.progress).toMatchObject({ pages: 0, totalPages: 0 })
      expect(run.summary).toMatchObject({ gazetteerRevision: first.summary?.['gazetteerRevision'] })
      const [france] = await reopened.gazetteer.resolve('France', 1)
      expect((await reopened.gazetteer.listArticles(france?.id ?? 0, 5)).length).toBeGreaterThan(0)
      expect((await reopened.openPlaces()).bySlug('france')).toHaveLength(1)
      await reopened.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
