import { withLikeness } from '../../core/retrieval/with-likeness.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import type { Library } from '../library.ts'

/**
 * Makes pages comparable that an older Pharos stored, from what is stored of them, and says how many there were. Until then a search
 * shows them beside others that say the same.
 */
export function comparePages({ store }: Pick<Library, 'store'>, signal?: AbortSignal): Promise<number> {
  // What files hold may be code.
  return store.fillLikenesses((page) => withLikeness(page, !isFileUrl(page.url)), signal)
}
