import type { Refusal } from '../../crawl/ledger.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import type { CandidateAddress } from '../../crawl/planning/planner.ts'
import { type Address, parseAddress } from './address.ts'
import type { SiteModel } from './site-model.ts'

const DAY_MS = 86_400_000

/** Enforces the limits on the number and age of pages per hub. */
export class HubLimits {
  readonly #site: SiteModel
  readonly #options: Pick<PlannerOptions, 'hubMaxPages' | 'hubMaxDays'>
  /** Number of pages taken per hub. */
  readonly #taken = new Map<string, number>()

  constructor(site: SiteModel, options: Pick<PlannerOptions, 'hubMaxPages' | 'hubMaxDays'>) {
    this.#site = site
    this.#options = options
  }

  /** Why an address is refused. Null when it is accepted; it then counts toward the limit of its hub. */
  refuse(candidate: CandidateAddress, now: number): Refusal | null {
    const { hubMaxPages, hubMaxDays } = this.#options
    const address = hubMaxDays === undefined && hubMaxPages === undefined ? undefined : parseAddress(candidate.url)
    if (address === undefined) return null
    if (hubMaxDays !== undefined && isOlderThan(address, now - hubMaxDays * DAY_MS)) {
      return { reason: 'hub-age', pattern: `${hubMaxDays} days`, target: null }
    }
    if (hubMaxPages === undefined || candidate.foundOn === null || candidate.discovery !== 'link') return null
    const hub = this.#site.hubUrlOf(candidate.foundOn)
    if (hub === undefined || this.#site.hubLikelihoodOf(address) !== 'none' || this.#site.sections.isFront(address))
      return null
    const taken = this.#taken.get(hub) ?? 0
    if (taken >= hubMaxPages) return { reason: 'hub-cap', pattern: `${hubMaxPages} of ${hub}`, target: null }
    this.#taken.set(hub, taken + 1)
    return null
  }
}

/** Whether the date in an address is before a moment; a month counts by its end. */
function isOlderThan({ date }: Address, moment: number): boolean {
  if (date === null) return false
  const at = Date.parse(date)
  return Number.isFinite(at) && at + (date.length === 7 ? 31 : 1) * DAY_MS <= moment
}
