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
  /** An index in the format of another version of this program. */
  function spoil(path: string): void {
    const db = new Sqlite(path)
    const index = db.prepare<[], Buffer>('SELECT name_index FROM gazetteer_state').pluck().get()
    if (index === undefined) throw new Error('there are names')
    index.writeUInt32LE(index.readUInt32LE(4) + 1, 4)
    db.prepare('UPDATE gazetteer_state SET name_index = ?').run(index)
    db.close()
  }

  test('is rebuilt from its places, and no result is lost', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-names-'))
    const path = join(folder, 'library.db')
    const openHere = () => openLibrary({ path, version: '0', patienceMs: 50 })
    try {
      const library = await openHere()
      await storeNews(library.store, { articles: ARTICLES })
      await importPlaces(library.gazetteer)
      const { run: first } = await analyse(library)
      await library.close()
      spoil(path)
      const writer = new Sqlite(path)
      writer.exec('BEGIN IMMEDIATE')
      const kept = await openHere()
      // The database is locked: the index cannot be written, so no places are found, and this process does not try again.
      const none = await kept.openPlaces()
      expect(none.revision).toBe('')
      writer.exec('ROLLBACK')
      writer.close()
      expect(await kept.openPlaces()).toBe(none)
      await expect(analyse(kept)).rejects.toMatchObject({ code: 'GAZETTEER_UNREADABLE' })
      await kept.close()
      const again = await openHere()
      const { run } = await analyse(again)
      expect(run.progress).toMatchObject({ pages: 0, totalPages: 0 })
      expect(run.summary).toMatchObject({ gazetteerRevision: first.summary?.['gazetteerRevision'] })
      const [france] = await again.gazetteer.resolve('France', 1)
      expect((await again.gazetteer.listArticles(france?.id ?? 0, 5)).length).toBeGreaterThan(0)
      expect((await again.openPlaces()).bySlug('france')).toHaveLength(1)
      await again.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
