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
import type { Sql } from '../database/database.ts'
import { toArrays, writeUnnest } from '../database/row-arrays.ts'

const WRITTEN_COLUMNS = 'url text, alias_url text, classification text, reason text'
const CHECKED_COLUMNS = 'url text, alias_url text, is_there bool, metadata text'

const ALIASES = `SELECT ${selectColumns(`${ALIAS_COLUMNS}, is_there, checked_at, metadata`)}
  FROM url_aliases WHERE source = $1`

/** Writes aliases. The facts of earlier checks stay, because the addresses are the same. */
export async function writeAliases(sql: Sql, source: number, aliases: readonly Alias[], now: number): Promise<void> {
  if (aliases.length === 0) return
  // When two aliases concern the same pair, the later one wins.
  const distinct = [...new Map(aliases.map((alias) => [JSON.stringify([alias.url, alias.aliasUrl]), alias])).values()]
  await sql.run(
    `INSERT INTO url_aliases AS a (source, ${ALIAS_COLUMNS}, checked_at) SELECT $1, ${ALIAS_COLUMNS}, $2
     FROM ${writeUnnest(WRITTEN_COLUMNS, 'n', 3)}
     ON CONFLICT (source, digest_of(url), digest_of(alias_url))
       DO UPDATE SET classification = excluded.classification, reason = excluded.reason
       WHERE a.classification <> excluded.classification OR a.reason IS DISTINCT FROM excluded.reason`,
    [source, now, ...toArrays(WRITTEN_COLUMNS, distinct)],
  )
}

/** Aliases that name this address on either side. */
export async function listAliases(sql: Sql, source: number, url: string): Promise<Alias[]> {
  const found = await sql.all<AliasRecord>(
    `SELECT * FROM (${ALIASES} AND digest_of(url) = digest_of($2) AND url = $2
       UNION ${ALIASES} AND digest_of(alias_url) = digest_of($2) AND alias_url = $2) a ORDER BY url, "aliasUrl"`,
    [source, url],
  )
  return found.map(toAlias)
}

interface FactColumns extends AliasFactRecord {
  readonly key: string
}

/** Checks the next batch of aliases inside the caller's transaction. Undefined when none are left. */
export async function checkAliases(
  sql: Sql,
  source: number,
  after: AliasPosition,
  now: number,
): Promise<CheckedAliases | undefined> {
  const batch = await sql.all<AliasRecord>(
    `${ALIASES} AND (left(url, 512), left(alias_url, 512)) >= (left($2, 512), left($3, 512)) AND (url, alias_url) > ($2, $3)
     ORDER BY left(url, 512), left(alias_url, 512), url, alias_url LIMIT $4`,
    [source, after.url, after.aliasUrl, ALIASES_AT_ONCE],
  )
  const last = batch.at(-1)
  if (last === undefined) return undefined
  const facts = await readFacts(sql, source, batch)
  const judged = batch.map(({ url, aliasUrl }) => {
    const { isThere, facts: metadata } = judgeAlias(findFacts(facts, aliasUrl))
    return { url, aliasUrl, isThere, metadata: JSON.stringify(metadata) }
  })
  await sql.run(
    `UPDATE url_aliases a SET is_there = n.is_there, checked_at = $2, metadata = n.metadata
     FROM ${writeUnnest(CHECKED_COLUMNS, 'n', 3)}
     WHERE a.source = $1 AND digest_of(a.url) = digest_of(n.url) AND digest_of(a.alias_url) = digest_of(n.alias_url)`,
    [source, now, ...toArrays(CHECKED_COLUMNS, judged)],
  )
  return { count: batch.length, last: { url: last.url, aliasUrl: last.aliasUrl } }
}

async function readFacts(
  sql: Sql,
  source: number,
  aliases: readonly AliasRecord[],
): Promise<ReadonlyMap<string, AliasFactRecord>> {
  const keys = [...new Set(aliases.flatMap(({ aliasUrl }) => listKeysOf(aliasUrl)))]
  const found = await sql.all<FactColumns>(
    `SELECT l.key, ${ALIAS_FACTS}
     FROM unnest($2::text[]) AS k (key) JOIN ledger l ON l.source = $1 AND digest_of(l.key) = digest_of(k.key) AND l.key = k.key
       LEFT JOIN pages p ON p.id = l.id LEFT JOIN page_analyses a ON a.page = l.id`,
    [source, keys],
  )
  return new Map(found.map(({ key, ...facts }) => [key, facts]))
}

/** The facts about an address. If its query or session matters, the address has a more specific row, which takes precedence. */
function findFacts(facts: ReadonlyMap<string, AliasFactRecord>, url: string): AliasFactRecord | undefined {
  const key = listKeysOf(url)
    .toReversed()
    .find((candidate) => facts.has(candidate))
  return key === undefined ? undefined : facts.get(key)
}
