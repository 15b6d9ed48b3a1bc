import type { PageClass } from '../../../core/model.ts'
import { isExistingAddress } from '../../../crawl/ledger.ts'
import type { LedgerState, Reason } from '../../../crawl/ledger-reasons.ts'
import type { Alias, AliasFacts } from '../../../crawl/settlement.ts'
import { parseStored } from '../damage.ts'

/** An alias as it is stored. */
export interface AliasRecord extends Pick<Alias, 'url' | 'aliasUrl' | 'classification' | 'reason'> {
  readonly isThere: boolean | null
  readonly checkedAt: number
  /** As JSON; null before the first check. */
  readonly metadata: string | null
}

/** The columns of an alias besides those of its last check. */
export const ALIAS_COLUMNS = 'url, alias_url, classification, reason'

/** SQL that selects what {@link judgeAlias} needs of a row l. */
export const ALIAS_FACTS = `l.state, l.reason, l.status, l.page_hash IS NOT NULL AS "hasPage", a.kind, p.title`

/** The position of the last checked alias. */
export interface AliasPosition {
  readonly url: string
  readonly aliasUrl: string
}

/** How many aliases were checked, and where to continue. */
export interface CheckedAliases {
  readonly count: number
  readonly last: AliasPosition
}

/** The position before all aliases. */
export const FIRST_ALIAS: AliasPosition = { url: '', aliasUrl: '' }

/** Batch size of an alias check, which limits how long other writers wait. */
export const ALIASES_AT_ONCE = 500

/** Ledger facts about the target of an alias. */
export interface AliasFactRecord {
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  readonly hasPage: boolean
  readonly kind: PageClass | null
  readonly title: string | null
}

/** Converts a stored alias. */
export function toAlias({ isThere: exists, checkedAt, metadata, ...alias }: AliasRecord): Alias {
  // The JSON was written by a store.
  return metadata === null ? alias : { ...alias, exists, checkedAt, metadata: parseStored<AliasFacts>(metadata) }
}

/** Decides from its ledger row whether an address exists, and as what. Without a row nothing is known. */
export function judgeAlias(found: AliasFactRecord | undefined): {
  readonly isThere: boolean | null
  readonly facts: AliasFacts
} {
  const { state = null, reason = null, status = null, kind = null, title = null } = found ?? {}
  return {
    isThere: found === undefined ? null : isExistingAddress(found),
    facts: { state, reason, status, kind, ...(title === null ? {} : { title }) },
  }
}
