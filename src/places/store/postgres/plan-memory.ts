import type { HubVerdict } from '../../../library/ports/findings.ts'
import type { Database, Sql } from '../../../store/postgres/database/database.ts'
import { removeHub } from '../../../store/postgres/empty-hubs.ts'
import type { EarlierAddress, PlanMemory } from '../../ports/plan-memory.ts'
import { writeHub } from './hub-writer.ts'
import { listPatterns, replacePatterns } from './patterns.ts'
import { listVerdicts, writeVerdict } from './verdicts.ts'

/** Stores the memory of crawl plans. */
export function createPlanMemory(db: Database): PlanMemory {
  return {
    readPatterns: (host) => listPatterns(db, host),
    writePatterns: (host, learned, now) => db.transaction((sql) => replacePatterns(sql, host, learned, now)),
    readVerdicts: (host) => listVerdicts(db, host),
    writeVerdicts: async (host, newVerdicts) => {
      if (newVerdicts.length === 0) return
      await db.transaction(async (sql) => {
        for (const verdict of newVerdicts) await applyVerdict(sql, host, verdict)
      })
    },
    sampleAddresses: (sourceId, limit) => db.snapshot((sql) => sample(sql, sourceId, limit)),
    readMilestones: async (crawlId) => {
      const found = await db.all<{ kind: string }>(
        'SELECT kind FROM reached_milestones WHERE crawl_id = $1 ORDER BY kind',
        [crawlId],
      )
      return found.map(({ kind }) => kind)
    },
    writeMilestones: async (crawlId, kinds) => {
      if (kinds.length === 0) return
      await db.run(
        'INSERT INTO reached_milestones (crawl_id, kind) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING',
        [crawlId, kinds],
      )
    },
  }
}

/** Stores a verdict, and adds or removes the hub that it concerns. */
async function applyVerdict(sql: Sql, host: string, verdict: HubVerdict): Promise<void> {
  await writeVerdict(sql, host, verdict)
  const { state, url, placeId, placeSlug, placeKind, title, navLinks, articleLinks, pattern, origin } = verdict
  if (state !== 'confirmed') await removeHub(sql, url)
  if (state !== 'confirmed' || (placeId === null && placeSlug === null)) return
  const topic = { topicSlug: null, topicLabel: null, topicKind: null }
  const evidence = { by: 'plan', pattern, origin }
  const hub = { host, url, placeId, placeSlug, placeKind, ...topic, title, navLinks, articleLinks, evidence }
  await writeHub(sql, hub, verdict.checkedAt)
}

async function sample(sql: Sql, sourceId: string, limit: number): Promise<EarlierAddress[]> {
  // Only hosts with stored pages belong to the site; addresses on other hosts teach nothing about it.
  const hosts = await sql.all<{ source: number; host: string; rows: number }>(
    `SELECT h.source, h.host, h.pending_rows + h.indexed_rows + h.unchanged_rows + h.skipped_rows + h.failed_rows AS rows
     FROM sources s JOIN host_counts h ON h.source = s.id WHERE s.uuid = $1 AND NOT s.is_removed AND h.pages > 0
     ORDER BY h.host`,
    [sourceId],
  )
  const step = Math.max(1, Math.ceil(hosts.reduce((sum, { rows }) => sum + rows, 0) / limit))
  const found: EarlierAddress[] = []
  for (const { source, host } of hosts) {
    if (found.length >= limit) break
    // Missing pages have no URL pattern worth learning.
    const sampled = await sql.all<EarlierAddress>(
      `SELECT l.url, coalesce(a.kind, 'unknown') AS kind, l.page_hash IS NOT NULL AS "isPage"
       FROM (SELECT id, row_number() OVER (ORDER BY at, id) AS place FROM ledger WHERE source = $1 AND host = $2) n
         JOIN ledger l ON l.id = n.id LEFT JOIN page_analyses a ON a.page = l.id
       WHERE n.place % $3 = 0 AND l.state <> 'gone'
         AND coalesce(l.reason, '') NOT IN ('not-found', 'removed', 'guess-missed')
       ORDER BY n.place LIMIT $4`,
      [source, host, step, limit - found.length],
    )
    found.push(...sampled)
  }
  return found
}
