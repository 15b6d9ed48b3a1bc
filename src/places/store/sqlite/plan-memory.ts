import type { HubVerdict } from '../../../library/ports/findings.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { EarlierAddress, PlanMemory } from '../../ports/plan-memory.ts'
import { createPatterns } from './patterns.ts'
import { createHubWriter } from './place-hubs.ts'
import { createVerdicts } from './verdicts.ts'

interface SampledColumns {
  readonly url: string
  readonly kind: EarlierAddress['kind']
  readonly isPage: 0 | 1
}

/** Creates the memory of crawl plans. */
export function createPlanMemory(db: Database, write: Write): PlanMemory {
  const patterns = createPatterns(db)
  const verdicts = createVerdicts(db)
  const hubs = createHubWriter(db)
  // Only hosts with stored pages belong to the site; addresses on other hosts teach nothing about it.
  const selectHosts = db.prepare<[string], { source: number; host: string; rows: number }>(
    `SELECT h.source, h.host, h.pending_rows + h.indexed_rows + h.unchanged_rows + h.skipped_rows + h.failed_rows AS rows
     FROM sources s JOIN host_counts h ON h.source = s.id WHERE s.uuid = ? AND s.is_removed = 0 AND h.pages > 0
     ORDER BY h.host`,
  )
  // Missing pages have no URL pattern worth learning.
  const selectSample = db.prepare<[number, string, number, number], SampledColumns>(
    `SELECT l.url, ifnull(a.kind, 'unknown') AS kind, l.page_hash IS NOT NULL AS isPage
     FROM (SELECT id, row_number() OVER () AS place FROM ledger INDEXED BY ledger_by_host WHERE source = ? AND host = ?) n
       CROSS JOIN ledger l ON l.id = n.id LEFT JOIN page_analyses a ON a.page = l.id
     WHERE n.place % ? = 0 AND l.state <> 'gone' AND ifnull(l.reason, '') NOT IN ('not-found', 'removed', 'guess-missed')
     LIMIT ?`,
  )
  const selectReached = db
    .prepare<[string], string>('SELECT kind FROM reached_milestones WHERE crawl_id = ? ORDER BY kind')
    .pluck()
  const insertReached = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO reached_milestones (crawl_id, kind) VALUES (?, ?)',
  )

  const sample = (sourceId: string, limit: number): EarlierAddress[] => {
    const hosts = selectHosts.all(sourceId)
    const step = Math.max(1, Math.ceil(hosts.reduce((sum, { rows }) => sum + rows, 0) / limit))
    return hosts
      .flatMap(({ source, host }) => selectSample.all(source, host, step, limit))
      .slice(0, limit)
      .map(({ isPage, ...found }) => ({ ...found, isPage: isPage === 1 }))
  }
  const writeVerdict = (host: string, verdict: HubVerdict): void => {
    verdicts.write(host, verdict)
    const { state, url, placeId, placeSlug, placeKind, title, navLinks, articleLinks, pattern, origin } = verdict
    if (state !== 'confirmed') hubs.remove(url)
    if (state !== 'confirmed' || (placeId === null && placeSlug === null)) return
    const topic = { topicSlug: null, topicLabel: null, topicKind: null }
    const evidence = { by: 'plan', pattern, origin }
    const hub = { host, url, placeId, placeSlug, placeKind, ...topic, title, navLinks, articleLinks, evidence }
    hubs.write(hub, verdict.checkedAt)
  }

  return {
    readPatterns: async (host) => patterns.list(host),
    writePatterns: (host, learned, now) => write(() => patterns.replace(host, learned, now)),
    readVerdicts: async (host) => verdicts.list(host),
    writeVerdicts: async (host, newVerdicts) => {
      if (newVerdicts.length > 0) await write(() => newVerdicts.forEach((verdict) => void writeVerdict(host, verdict)))
    },
    sampleAddresses: async (sourceId, limit) => sample(sourceId, limit),
    readMilestones: async (crawlId) => selectReached.all(crawlId),
    writeMilestones: async (crawlId, kinds) => {
      if (kinds.length > 0) await write(() => kinds.forEach((kind) => void insertReached.run(crawlId, kind)))
    },
  }
}
