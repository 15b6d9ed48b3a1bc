import { PharosError } from '../../../core/errors.ts'
import type { CrawlSummary } from '../../../crawl/events.ts'
import { MAX_DELAY_MS } from '../../../crawl/transitions.ts'
import { type Crawl, MAX_FOCUSED_RUNS } from '../../../library/ports/store.ts'
import { labelOf } from '../../../library/source.ts'
import {
  CRAWL_COLUMNS,
  type CrawlRecord,
  crawlValues,
  IS_FOCUSED,
  reopenCrawl,
  SELECT_CRAWLS,
  toCrawl,
} from '../../common/ledger/crawl-record.ts'
import type { Database } from '../database/database.ts'
import type { Sources } from '../sources.ts'

/** The crawls of all sources. */
export interface Crawls {
  begin(crawl: Crawl, staleMs: number, resume: string | undefined, goneRunner: string | undefined): Crawl
  touch(id: string, now: number, runner: string | undefined): boolean
  end(id: string, summary: CrawlSummary | null, now: number, runner: string | undefined): void
  list(source: number, limit: number): Crawl[]
  /** The running crawls of all sources. */
  listRunning(): Crawl[]
  /**
   * Whether a crawl may write: it is running, and was not taken over since this process began it. An unknown crawl has no owner and may
   * write too.
   */
  mayWrite(id: string): boolean
}

/** SQL condition for a crawl by its id. */
const BY_ID = 'id = (SELECT id FROM crawl_ids WHERE uuid = ?)'

/** Creates the crawl queries. */
export function createCrawls(db: Database, sources: Sources): Crawls {
  const selectAllRunning = db.prepare<[], CrawlRecord>(`${SELECT_CRAWLS} WHERE j.state = 'running' ORDER BY j.id`)
  const selectNewest = db.prepare<[number, number], CrawlRecord>(
    `${SELECT_CRAWLS} WHERE j.source = ? ORDER BY j.started_at DESC, j.id DESC LIMIT ?`,
  )
  const isHeld = `state = 'running' AND runner IS ifnull(?, runner)`
  const touch = db.prepare<[number, string, string | null]>(
    `UPDATE crawls SET heartbeat_at = ? WHERE ${BY_ID} AND ${isHeld}`,
  )
  const end = db.prepare<[string, number, string | null, string, string | null]>(
    `UPDATE crawls SET state = ?, ended_at = ?, summary = ? WHERE ${BY_ID} AND ${isHeld}`,
  )
  const selectTerm = db.prepare<[string], { state: string; term: number }>(
    `SELECT state, term FROM crawls WHERE ${BY_ID}`,
  )
  /** The term of each crawl when this connection began it. A term counts how often a crawl was begun, so a higher one means a takeover. */
  const terms = new Map<string, number>()
  const begin = createBeginning(db, sources)

  return {
    begin: (crawl, staleMs, resume, goneRunner) => {
      const begun = begin(crawl, staleMs, resume, goneRunner)
      terms.set(begun.id, selectTerm.get(begun.id)?.term ?? 0)
      return begun
    },
    mayWrite: (id) => {
      const found = selectTerm.get(id)
      if (found === undefined) return true
      return found.state === 'running' && found.term === (terms.get(id) ?? found.term)
    },
    touch: (id, now, runner) => touch.run(now, id, runner ?? null).changes > 0,
    end: (id, summary, now, runner) => {
      end.run(summary?.end ?? 'cancelled', now, summary && JSON.stringify(summary), id, runner ?? null)
    },
    listRunning: () => selectAllRunning.all().map(toCrawl),
    list: (source, limit) => selectNewest.all(source, limit).map(toCrawl),
  }
}

/** Creates the function that begins or resumes a crawl. */
function createBeginning(db: Database, sources: Sources): Crawls['begin'] {
  const selectOne = db.prepare<[string, number], CrawlRecord>(`${SELECT_CRAWLS} WHERE i.uuid = ? AND j.source = ?`)
  const selectRunning = db.prepare<[number], CrawlRecord>(`${SELECT_CRAWLS} WHERE j.source = ? AND j.state = 'running'`)
  const selectLabel = db.prepare<[number], { name: string; version: string | null }>(
    'SELECT name, version FROM sources WHERE id = ?',
  )
  const insert = db.prepare<unknown[]>(
    `INSERT INTO crawls (id, source, ${CRAWL_COLUMNS}, keeps_earlier) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
  )
  const cancel = db.prepare<[string]>(`UPDATE crawls SET state = 'cancelled', ended_at = heartbeat_at WHERE ${BY_ID}`)
  const reopen = db.prepare<[number, string | null, string]>(
    `UPDATE crawls SET state = 'running', term = term + 1, heartbeat_at = ?, runner = ?, ended_at = NULL, summary = NULL WHERE ${BY_ID}`,
  )
  const releaseAll = db.prepare<[number]>(
    `UPDATE ledger SET state = 'pending', lease = NULL, leased_until = NULL WHERE source = ? AND state = 'leased'`,
  )

  const clearLongDelays = db.prepare<[number, number]>(
    `UPDATE ledger SET due_at = NULL WHERE source = ? AND state = 'pending' AND due_at > ?`,
  )
  const resetAttempts = db.prepare<[number]>(
    `UPDATE ledger SET attempts = 0, is_final = 0, awaits_confirmation = 0 WHERE source = ? AND state = 'pending'`,
  )

  const deleteEarlierPages = db.prepare<[number]>('DELETE FROM earlier_pages WHERE source = ?')
  /** Deletes all but the newest focused crawls of a source, that is runs for changes in a watched folder. Running crawls are kept. */
  const deleteOldFocused = db.prepare<[number, number, number]>(
    `DELETE FROM crawls WHERE source = ? AND ${IS_FOCUSED} AND id NOT IN (
      SELECT id FROM crawls WHERE source = ? AND ${IS_FOCUSED} ORDER BY started_at DESC, id DESC LIMIT ?)`,
  )

  return db.transaction((crawl: Crawl, staleMs: number, resume?: string, goneRunner?: string): Crawl => {
    const source = sources.requireNumber(crawl.sourceId)
    const now = resume === undefined ? crawl.startedAt : crawl.heartbeatAt
    for (const running of selectRunning.all(source)) {
      const isGone = goneRunner !== undefined && running.runner === goneRunner
      if (!isGone && Math.abs(now - running.heartbeatAt) < staleMs) {
        const { name, version } = selectLabel.get(source) ?? { name: crawl.sourceId, version: null }
        throw new PharosError('CRAWL_RUNNING', { source: labelOf({ name, version }) })
      }
      if (running.id !== resume) cancel.run(running.id)
    }
    releaseAll.run(source)
    clearLongDelays.run(source, now + MAX_DELAY_MS)
    if (resume !== undefined) {
      const reopened = reopenCrawl(selectOne.get(resume, source), resume, now, crawl.runner)
      reopen.run(now, crawl.runner, resume)
      return reopened
    }
    resetAttempts.run(source)
    deleteEarlierPages.run(source)
    if (crawl.options.isFocused === true) deleteOldFocused.run(source, source, MAX_FOCUSED_RUNS - 1)
    insert.run(sources.crawlNumber(source, crawl.id), source, ...crawlValues(crawl))
    return crawl
  })
}
