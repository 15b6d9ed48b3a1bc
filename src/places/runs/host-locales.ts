import type { Analyses, HostLocale } from '../ports/analyses.ts'
import { judgeLocale } from './judge-domain.ts'

/** Countries of hosts, as determined for a run. */
export class HostLocales {
  readonly #analyses: Pick<Analyses, 'listTitleCountries' | 'readLocale' | 'writeLocale'>
  readonly #isDryRun: boolean
  /** Countries of the hosts that were asked for so far. */
  readonly #countries = new Map<string, string | null>()

  constructor(analyses: Pick<Analyses, 'listTitleCountries' | 'readLocale' | 'writeLocale'>, isDryRun: boolean) {
    this.#analyses = analyses
    this.#isDryRun = isDryRun
  }

  /** Determines the country of a host and stores it. */
  async settle(host: string): Promise<void> {
    const locale = await this.#judge(host)
    const stored = await this.#analyses.readLocale(host)
    const isStored = stored?.countryCode === locale.countryCode && stored.confidence === locale.confidence
    if (!isStored) await this.#analyses.writeLocale(host, locale)
  }

  /** Returns the country of a host, and determines it now for a host added meanwhile. */
  async countryOf(host: string): Promise<string | null> {
    const known = this.#countries.get(host)
    if (known !== undefined) return known
    const stored = this.#isDryRun ? undefined : await this.#analyses.readLocale(host)
    const locale = stored ?? (await this.#judge(host))
    if (stored === undefined && !this.#isDryRun) await this.#analyses.writeLocale(host, locale)
    this.#countries.set(host, locale.countryCode)
    return locale.countryCode
  }

  async #judge(host: string): Promise<HostLocale> {
    const byDomain = judgeLocale(host, [])
    return byDomain.countryCode === null ? judgeLocale(host, await this.#analyses.listTitleCountries(host)) : byDomain
  }
}
