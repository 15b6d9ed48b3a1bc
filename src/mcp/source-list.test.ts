import { expect, test } from 'vitest'
import { DEFAULT_SCOPE } from '../core/url/scope.ts'
import { DEFAULT_SETTINGS, type RefreshSchedule } from '../library/source.ts'
import { type ListedSource, listedRecord, writeListed } from './source-list.ts'

const DUE_AT = Date.UTC(2026, 1, 21, 10)

function listedWith(refresh: RefreshSchedule | undefined, isRunning = false): ListedSource {
  const url = 'https://docs.test/'
  const source = { id: 'id', name: 'docs', version: null, url, siteUrl: url, createdAt: 0, scope: DEFAULT_SCOPE }
  return {
    source: { ...source, settings: DEFAULT_SETTINGS, ...(refresh === undefined ? {} : { refresh }) },
    ...{ status: 'INDEXED', pages: 0, chunks: 0, lastCrawledAt: null, shortfall: null, isRunning },
    types: { prose: 0, code: 0 },
  }
}

test('a listed source says when it is crawled again by itself, and why the last attempt failed', () => {
  const schedule = { everyMs: 86_400_000, dueAt: DUE_AT, attempts: 0, problem: null }
  expect(listedRecord(listedWith(schedule))).toMatchObject({ nextRefreshAt: '2026-02-21T10:00:00Z' })
  expect(listedRecord(listedWith(undefined))).toMatchObject({ nextRefreshAt: null })
  expect(writeListed(listedWith(schedule))).toContain('never crawled, next 2026-02-21T10:00:00Z — id')
  expect(writeListed(listedWith(undefined))).toContain('never crawled — id')
  const failed = { ...schedule, attempts: 2, problem: 'status\n503' }
  expect(writeListed(listedWith(failed))).toContain('next 2026-02-21T10:00:00Z (status 503) — id')
  expect(writeListed(listedWith({ ...failed, problem: null }))).toContain('(last refresh unfinished)')
  expect(writeListed(listedWith(failed, true))).toContain('never crawled — id')
})
