import { openSqliteWithPlaces } from '../place-store.ts'
import type { SiteCountry } from './news-site.ts'

/** The countries that a library knows, in the order of their codes. */
export async function listCountries(path: string): Promise<SiteCountry[]> {
  const store = await openSqliteWithPlaces(path)
  try {
    const { items } = await store.gazetteer.listPlaces({ kind: 'country', sort: 'country', offset: 0, limit: 1000 })
    return items.map(({ countryCode, name }) => ({ code: countryCode ?? '', name }))
  } finally {
    await store.close()
  }
}
