import type { Analyses } from '../../library/analyses.ts'

/** What is known of hosts from their pages. */
export type Domains = Pick<
  Analyses,
  | 'listHosts'
  | 'measureDomain'
  | 'writeDomain'
  | 'readDomain'
  | 'listTitleCountries'
  | 'readLocale'
  | 'writeLocale'
  | 'listAchievements'
>
