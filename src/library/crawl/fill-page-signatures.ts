import { withPageSignature } from '../../core/retrieval/with-page-signature.ts'
import { isFileUrl } from '../../core/url/file-url.ts'
import type { Library } from '../library.ts'

/**
 * Computes the signatures of pages stored by an older Pharos; returns how many. Until then, search shows such pages beside their
 * duplicates.
 */
export function fillPageSignatures({ store }: Pick<Library, 'store'>, signal?: AbortSignal): Promise<number> {
  // Files may contain code, whose language must not be guessed.
  return store.fillPageSignatures((page) => withPageSignature(page, !isFileUrl(page.url)), signal)
}
