import { looseKey } from '../../core/url/key.ts'
import { readPastedAddress } from '../../core/url/pasted-address.ts'
import type { Library } from '../library.ts'
import { writeLabel } from '../search/display-text.ts'
import type { Source } from '../source.ts'

/** A package with one page of at most this many chunks has hardly more than a short README. */
const MAX_THIN_CHUNKS = 5

/**
 * Lists the addresses of documentation to offer for a package with hardly more than a short README. Addresses that are sources of the
 * library already are left out.
 */
export async function offerDocumentation(
  { store }: Pick<Library, 'store'>,
  { settings: { documentation = [] } }: Source,
  { pages, chunks }: { readonly pages: number; readonly chunks: number },
): Promise<readonly string[]> {
  if (documentation.length === 0 || pages > 1 || chunks > MAX_THIN_CHUNKS) return []
  const known = new Set((await store.listSources()).map(({ url }) => looseKey(url)))
  return documentation.filter((url) => !known.has(looseKey(url)) && !known.has(looseKey(readPastedAddress(url).url)))
}

/** Says why documentation is offered: `react has only one short page, and names its documentation` */
export function writeDocumentationOffer(source: Source): string {
  return `${writeLabel(source)} has only one short page, and names its documentation`
}
