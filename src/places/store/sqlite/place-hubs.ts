import type { HubCoverage, HubVerdict, StoredHub } from '../../../library/ports/findings.ts'
import { parseStored } from '../../../store/common/damage.ts'
import type { Database, Write } from '../../../store/sqlite/database/database.ts'
import type { HubQuery, PlaceHubs } from '../../ports/place-hubs.ts'
import type { SeenHub } from '../common/seen-hub.ts'
import { createPatterns } from './patterns.ts'
import { createVerdicts } from './verdicts.ts'

/** Writes hubs inside the caller's transaction. */
export interface HubWriter {
  /** Adds a hub, or updates it with the new values; a known place, topic or title is never replaced by null. */
  write(hub: SeenHub, now: number): void
  /** Adds a hub that was found through its page 2 or a later page. For a known hub, only the time of the last sighting changes. */
  insertOrTouch(hub: SeenHub, now: number): void
  /** Removes an address that is no longer a hub. */
  remove(url: string): void
}

/** Creates the only writer of hubs, used by analyses and crawls. */
export function createHubWriter(db: Database): HubWriter {
  // The columns of a place change only when the new row has a place slug, and those of a topic only when it has a topic slug.
  const replaceIfKnown = (column: string, slugColumn: string) =>
    `${column} = iif(excluded.${slugColumn} IS NULL, ${column}, ifnull(excluded.${column}, ${column}))`
  const insert = `INSERT INTO place_hubs (host, url, place_id, place_slug, place_kind, topic_slug, topic_label, topic_kind, title,
       first_seen_at, last_seen_at, nav_links_count, article_links_count, evidence)
     VALUES (@host, @url, @placeId, @placeSlug, @placeKind, @topicSlug, @topicLabel, @topicKind, @title, @now, @now,
       @navLinks, @articleLinks, @evidence)
     ON CONFLICT (url) DO UPDATE SET`
  const upsert = db.prepare<[HubRow]>(
    `${insert} host = excluded.host,
       ${['place_id', 'place_slug', 'place_kind'].map((column) => replaceIfKnown(column, 'place_slug')).join(', ')},
       ${['topic_slug', 'topic_label', 'topic_kind'].map((column) => replaceIfKnown(column, 'topic_slug')).join(', ')},
       title = ifnull(excluded.title, title), first_seen_at = min(first_seen_at, excluded.first_seen_at),
       last_seen_at = max(last_seen_at, excluded.last_seen_at), nav_links_count = excluded.nav_links_count,
       article_links_count = excluded.article_links_count, evidence = json_patch(ifnull(evidence, '{}'), excluded.evidence)`,
  )
  const insertOrTouch = db.prepare<[HubRow]>(`${insert} last_seen_at = max(last_seen_at, excluded.last_seen_at)`)
  const remove = db.prepare<[string]>('DELETE FROM place_hubs WHERE url = ?')
  return {
    write: (hub, now) => {
      upsert.run({ ...hub, evidence: JSON.stringify(hub.evidence), now })
    },
    insertOrTouch: (hub, now) => {
      insertOrTouch.run({ ...hub, evidence: JSON.stringify(hub.evidence), now })
    },
    remove: (url) => {
      remove.run(url)
    },
  }
}

type HubRow = Omit<SeenHub, 'evidence'> & { readonly evidence: string; readonly now: number }

interface HubColumns extends Omit<StoredHub, 'evidence'> {
  readonly evidence: string | null
}

const HUBS = `SELECT url, host, place_id AS placeId, place_slug AS placeSlug, place_kind AS placeKind, topic_slug AS topicSlug,
    topic_label AS topicLabel, topic_kind AS topicKind, title, ifnull(nav_links_count, 0) AS navLinks,
    ifnull(article_links_count, 0) AS articleLinks, evidence, first_seen_at AS firstSeenAt, last_seen_at AS lastSeenAt
  FROM place_hubs`

/** The columns by which hubs can be filtered. */
const FILTER_COLUMNS = { host: 'host', placeId: 'place_id', placeKind: 'place_kind', topicSlug: 'topic_slug' } as const

/** Creates the hub queries. */
export function createPlaceHubs(db: Database, write: Write): PlaceHubs {
  const writer = createHubWriter(db)
  const verdicts = createVerdicts(db)
  const patterns = createPatterns(db)
  const selectOne = db.prepare<[string], HubColumns>(`${HUBS} WHERE url = ?`)
  const selectHosts = db.prepare<[number], { host: string; hubs: number }>(
    `SELECT host, sum(hubs) AS hubs FROM (
       SELECT host, count(*) AS hubs FROM place_hubs GROUP BY host UNION ALL SELECT DISTINCT host, 0 FROM url_patterns)
     GROUP BY host ORDER BY 2 DESC, host LIMIT ?`,
  )
  const selectCounts = db.prepare<[{ host: string }], Pick<HubCoverage, 'hubs' | 'countries' | 'countriesCovered'>>(
    `SELECT (SELECT count(*) FROM place_hubs WHERE host = @host) AS hubs,
       (SELECT count(*) FROM places WHERE kind = 'country' AND status = 'current') AS countries,
       (SELECT count(DISTINCT h.place_id) FROM place_hubs h JOIN places p ON p.id = h.place_id
        WHERE h.host = @host AND h.place_kind = 'country' AND p.kind = 'country' AND p.status = 'current') AS countriesCovered`,
  )
  const selectTopics = db.prepare<[string], HubCoverage['topics'][number]>(
    `SELECT topic_slug AS slug, ifnull(max(topic_label), topic_slug) AS label, count(*) AS hubs FROM place_hubs
     WHERE host = ? AND topic_slug IS NOT NULL GROUP BY topic_slug ORDER BY 3 DESC, 1`,
  )
  const list = ({ offset, limit, ...filter }: HubQuery) => {
    const columns = Object.entries(FILTER_COLUMNS).filter(([name]) => filter[name as keyof typeof filter] !== undefined)
    const where = columns.map(([name, column]) => `${column} = @${name}`).join(' AND ') || '1'
    const total = db.prepare<[object], number>(`SELECT count(*) FROM place_hubs WHERE ${where}`).pluck()
    const items = db.prepare<[object], HubColumns>(
      `${HUBS} WHERE ${where} ORDER BY host, place_kind, place_slug, url LIMIT @limit OFFSET @offset`,
    )
    return { total: total.get(filter) ?? 0, items: items.all({ ...filter, limit, offset }).map(toHub) }
  }
  // One transaction keeps all figures consistent.
  const measure = db.transaction(
    (host: string): HubCoverage => ({
      host,
      ...(selectCounts.get({ host }) ?? { hubs: 0, countries: 0, countriesCovered: 0 }),
      ...verdicts.listMissing(host),
      patterns: patterns.list(host),
      topics: selectTopics.all(host),
    }),
  )
  return {
    write: (hubs, now) =>
      write(() => {
        for (const hub of hubs) writer.write(hub, now)
      }),
    list: async (query) => list(query),
    find: async (url) => {
      const found = selectOne.get(url)
      return found && toHub(found)
    },
    listHosts: async (limit) => selectHosts.all(limit),
    coverage: async (host) => measure(host),
    findVerdict: async (url) => verdicts.find(URL.parse(url)?.host ?? '', url),
    listVerdicts: async (host, state: HubVerdict['state'], limit) => verdicts.listOf(host, state, limit),
  }
}

/** Converts a stored hub, whose JSON was written by this file. */
function toHub({ evidence, ...hub }: HubColumns): StoredHub {
  return { ...hub, evidence: parseStored<StoredHub['evidence']>(evidence ?? '{}') }
}
