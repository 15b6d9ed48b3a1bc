import { describe, expect, test } from 'vitest'
import type { LibraryStore } from '../../src/library/ports/library-store.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { describeJobLog } from '../contracts/job-log.contract.ts'
import { event, jobOf } from '../contracts/job-notes.ts'
import { createLibrary } from './databases.ts'

const open = async (): Promise<LibraryStore> => openPostgresStore(await createLibrary())

describe('the history of jobs in PostgreSQL', () => {
  describeJobLog(open)

  test('can be written by several processes concurrently, and notes of one call stay together', async () => {
    const address = await createLibrary()
    const [first, second] = await Promise.all([openPostgresStore(address), openPostgresStore(address)])
    await first.jobLog.add(jobOf('shared'))
    const append = async (store: LibraryStore, name: string): Promise<void> => {
      for (let i = 0; i < 100; i += 5) {
        await store.jobLog.append([0, 1, 2, 3, 4].map((step) => event('shared', `/${name}/${i + step}`)))
      }
    }
    await Promise.all([append(first, 'a'), append(second, 'b')])
    expect(await first.jobLog.find('shared')).toMatchObject({ events: 200 })
    const events = await first.jobLog.listQueueEvents('shared', { limit: 500 })
    expect(new Set(events.map(({ url }) => url)).size).toBe(200)
    for (let i = 0; i < events.length; i += 5) {
      const [last, ...before] = events.slice(i, i + 5).map(({ url }) => Number(url.split('/')[2]))
      expect(before).toEqual([1, 2, 3, 4].map((steps) => (last ?? 0) - steps))
    }
    await first.close()
    await second.close()
  })
})
