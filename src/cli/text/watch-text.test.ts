import { expect, test } from 'vitest'
import { createSource, createSummary } from '../../../test/crawl-facts.ts'
import type { WatchEvent } from '../../library/import/watch-tree.ts'
import type { Hint } from '../library.ts'
import { failureLine, WatchCounts, watchRecord, writeWatchEvent } from './watch-text.ts'

const hint: Hint = (verb, ...words) => ['pharos', verb, ...words].join(' ')
const source = { ...createSource(), name: 'docs', version: null }
const summary = createSummary({ indexed: 2, unchanged: 1, removed: 1, failed: 0 })
const failed = { type: 'failed', path: 'a.pdf', reason: 'damaged', detail: 'no end', retries: 1 } as const

test.each<[Exclude<WatchEvent, { type: 'progress' }>, string, boolean]>([
  [
    { type: 'caught-up', isFirst: true, summary, folders: 3, polling: null },
    'docs: 2 read, 1 unchanged, 1 removed; watching 3 folders',
    false,
  ],
  [
    {
      type: 'caught-up',
      isFirst: true,
      summary,
      folders: 0,
      polling: { problem: 'a poll interval is set', everyMs: 5000 },
    },
    'docs: 2 read, 1 unchanged, 1 removed; polling it every 5s, because a poll interval is set',
    false,
  ],
  [{ type: 'indexed', path: 'a\n.md', chunks: 1, cause: 'created' }, 'added a\u{fffd}.md (1 chunk)', false],
  [{ type: 'indexed', path: 'a.md', chunks: 2, cause: 'modified' }, 'updated a.md (2 chunks)', false],
  [{ type: 'indexed', path: 'a.md', chunks: 2, cause: 'startup' }, 'updated a.md (2 chunks)', true],
  [{ type: 'removed', path: 'a.md', cause: 'catch-up' }, 'removed a.md', true],
  [
    { ...failed, cause: 'startup', retryMs: 30_000 },
    'failed a.pdf: it is damaged, or not a file of its format: no end; retry in 30s',
    false,
  ],
  [
    { ...failed, cause: 'retry', retryMs: null },
    'failed a.pdf: it is damaged, or not a file of its format: no end; retry when it changes',
    false,
  ],
  [
    { type: 'withheld', pages: 30, problem: '30 of 40 pages were not found any more' },
    '30 of 40 pages were not found any more; they are kept in the library. To remove them: pharos recrawl docs --accept-loss',
    false,
  ],
])('the watch event %j is written as %j', (event, text, isDetail) => {
  expect(writeWatchEvent(event, source, hint)).toEqual({ text, isDetail })
})

test('the JSON record of an event has every field', () => {
  expect(watchRecord({ ...failed, cause: 'retry', retryMs: null }, source)).toEqual({
    ...{ event: 'failed', source: 'docs', path: 'a.pdf', reason: 'damaged', detail: 'no end', cause: 'retry' },
    ...{ retries: 1, retry_ms: null },
  })
})

test('the failure log has only failures and recoveries', () => {
  const now = Date.UTC(2026, 1, 20)
  const fileFields = { file_path: '/docs/s/a.pdf', file_name: 'a.pdf', timestamp: '2026-02-20T00:00:00.000Z' }
  expect(failureLine({ ...failed, path: 's/a.pdf', cause: 'created', retryMs: 1 }, '/docs/', now)).toEqual({
    ...fileFields,
    ...{ event_type: 'created', error_type: 'damaged', retry_count: 1 },
    error_message: 'it is damaged, or not a file of its format: no end',
  })
  expect(failureLine({ type: 'healed', path: 's/a.pdf', isGone: false, retries: 2 }, '/docs/', now)).toEqual({
    ...fileFields,
    ...{ event_type: 'resolved', error_type: null, error_message: null, retry_count: 2 },
  })
  expect(failureLine({ type: 'removed', path: 's/a.pdf', cause: 'modified' }, '/docs/', now)).toBeUndefined()
})

test('the counts at the end are pages read, pages removed and files that still fail', () => {
  const counts = new WatchCounts()
  counts.add({ type: 'settled', summary })
  counts.add({ ...failed, cause: 'created', retryMs: 1 })
  counts.add({ ...failed, path: 'b.pdf', cause: 'created', retryMs: 1 })
  counts.add({ type: 'healed', path: 'b.pdf', isGone: true, retries: 0 })
  expect(counts.write('docs')).toBe('docs: stopped watching; 2 pages read, 1 removed, 1 file could not be read')
  expect(counts.record()).toEqual({ read: 2, removed: 1, failing: 1 })
})
