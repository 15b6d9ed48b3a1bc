import type { PageClass } from '../../core/model.ts'
import { type Alias, type AliasFacts, isThere, type LedgerState, type Reason } from '../../crawl/ledger.ts'
import { parseStored } from './damage.ts'

/** An alias as it is kept. */
export interface AliasRecord extends Pick<Alias, 'url' | 'aliasUrl' | 'classification' | 'reason'> {
  readonly isThere: boolean | null
  readonly checkedAt: number
  /** As JSON; null before anybody has looked. */
  readonly metadata: string | null
}

/** The last alias that was looked up. */
export interface AliasPlace {
  readonly url: string
  readonly aliasUrl: string
}

/** How many were looked up, and where to go on. */
export interface CheckedAliases {
  readonly count: number
  readonly last: AliasPlace
}

/** Before all aliases. */
export const FIRST_ALIAS: AliasPlace = { url: '', aliasUrl: '' }

/** So many are looked up in one go: others who write wait that long. */
export const ALIASES_AT_ONCE = 500

/** What the ledger knows of an address that others stand for. */
export interface AliasFactRecord {
  readonly state: LedgerState
  readonly reason: Reason | null
  readonly status: number | null
  readonly hasPage: boolean
  readonly kind: PageClass | null
  readonly title: string | null
}

/** The alias that was kept. */
export function toAlias({ isThere: exists, checkedAt, metadata, ...alias }: AliasRecord): Alias {
  // Written by a store.
  return metadata === null ? alias : { ...alias, exists, checkedAt, metadata: parseStored<AliasFacts>(metadata) }
}

/** Whether something is at an address, and as what; nothing is known of one without a row. */
export function judgeAlias(found: AliasFactRecord | undefined): {
  readonly isThere: boolean | null
  readonly facts: AliasFacts
} {
  const { state = null, reason = null, status = null, kind = null, title = null } = found ?? {}
  return {
    isThere: found === undefined ? null : isThere(found),
    facts: { state, reason, status, kind, ...(title === null ? {} : { title }) },
  }
}
