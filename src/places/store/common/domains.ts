import type { Analyses } from '../../ports/analyses.ts'

/** The part of the analysis store that deals with hosts. */
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
