import type { Alias } from '../../../crawl/settlement.ts'
import { listKeysOf } from '../../../library/sources/address-keys.ts'
import { selectColumns } from '../../common/columns.ts'
import {
  ALIAS_COLUMNS,
  ALIAS_FACTS,
  ALIASES_AT_ONCE,
  type AliasFactRecord,
  type AliasPosition,
  type AliasRecord,
  type CheckedAliases,
  judgeAlias,
  toAlias,
} from '../../common/ledger/alias-record.ts'
import type { Database } from '../database/database.ts'

/** Other addresses of the same content. */
export interface Aliases {
  write(source: number, alias: Alias, now: number): void
  list(source: number, url: string): Alias[]
  /** Checks the next batch of aliases inside the caller's transaction. Undefined when none are left. */
  check(source: number, after: AliasPosition, now: number): CheckedAliases | undefined
}

interface AliasColumns extends Omit<AliasRecord, 'isThere'> {
  readonly exists: 0 | 1 | null
}

interface FactColumns extends Omit<AliasFactRecord, 'hasPage'> {
  readonly hasPage: 0 | 1
}

const ALIASES = `SELECT ${selectColumns(ALIAS_COLUMNS)}, "exists", checked_at AS checkedAt, metadata
  FROM url_aliases WHERE source = @source`

/** Creates the alias queries. */
export function createAliases(db: Database): Aliases {
  // The facts of earlier checks stay, because the address is the same.
  const upsert = db.prepare<[number, string, string, string, string | null, number]>(
    `INSERT INTO url_aliases (source, ${ALIAS_COLUMNS}, checked_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET classification = excluded.classification, reason = excluded.reason
       WHERE classification <> excluded.classification OR reason IS NOT excluded.reason`,
  )
  const select = db.prepare<[{ source: number; url: string }], AliasColumns>(
    `${ALIASES} AND url = @url UNION ${ALIASES} AND alias_url = @url ORDER BY 1, 2`,
  )
  const selectBatch = db.prepare<[{ source: number; limit: number } & AliasPosition], AliasColumns>(
    `${ALIASES} AND (url, alias_url) > (@url, @aliasUrl) ORDER BY url, alias_url LIMIT @limit`,
  )
  const selectFacts = db.prepare<[number, string], FactColumns>(
    `SELECT ${ALIAS_FACTS}
     FROM ledger l LEFT JOIN pages p ON p.id = l.id LEFT JOIN page_analyses a ON a.page = l.id
     WHERE l.source = ? AND l.key = ?`,
  )
  const update = db.prepare<[{ source: number; now: number; isThere: 0 | 1 | null; facts: string } & AliasPosition]>(
    `UPDATE url_aliases SET "exists" = @isThere, checked_at = @now, metadata = @facts
     WHERE source = @source AND url = @url AND alias_url = @aliasUrl`,
  )
  /** The facts about an address. If its query or session matters, the address has a more specific row, which takes precedence. */
  const findFacts = (source: number, url: string): FactColumns | undefined => {
    for (const key of listKeysOf(url).toReversed()) {
      const found = selectFacts.get(source, key)
      if (found !== undefined) return found
    }
    return undefined
  }
  const checkOne = (source: number, { url, aliasUrl }: AliasColumns, now: number): void => {
    const found = findFacts(source, aliasUrl)
    const { isThere, facts } = judgeAlias(found && { ...found, hasPage: found.hasPage === 1 })
    const exists = isThere === null ? null : isThere ? 1 : 0
    update.run({ source, url, aliasUrl, now, isThere: exists, facts: JSON.stringify(facts) })
  }
  return {
    write: (source, alias, now) => {
      upsert.run(source, alias.url, alias.aliasUrl, alias.classification, alias.reason, now)
    },
    list: (source, url) => select.all({ source, url }).map(fromColumns),
    check: (source, after, now) => {
      const batch = selectBatch.all({ source, limit: ALIASES_AT_ONCE, ...after })
      for (const alias of batch) checkOne(source, alias, now)
      const last = batch.at(-1)
      return last && { count: batch.length, last: { url: last.url, aliasUrl: last.aliasUrl } }
    },
  }
}

function fromColumns({ exists, ...alias }: AliasColumns): Alias {
  return toAlias({ ...alias, isThere: exists === null ? null : exists === 1 })
}
