import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import { readPastedAddress } from '../../core/url/pasted-address.ts'
import { withScheme } from '../../core/url/with-scheme.ts'
import type { Library } from '../library.ts'
import { type SourceSettings, treeSettings } from '../source.ts'

/** What a pasted address was understood as; left out if it was taken as it is. */
interface Understood {
  readonly meaning?: string
}

/** A request with an address as a user pasted it. */
interface PastedRequest {
  readonly url: string
  /** `site` crawls the address as it is, even if it names a repository or package. */
  readonly as?: 'site' | undefined
  readonly isOwnFolder?: boolean
  readonly settings?: Partial<Pick<SourceSettings, 'tree'>>
}

/**
 * Replaces the page of a repository or package by the repository or package itself, unless a source has that page as its start. A branch
 * and folder in the address apply unless others are given. Throws for other pages of a code host, because a crawl of them would not end at
 * one project.
 */
export async function resolvePasted<R extends PastedRequest>(
  { trees, store }: Pick<Library, 'trees' | 'store'>,
  request: R,
): Promise<R & Understood> {
  if (trees === undefined || request.as === 'site' || request.isOwnFolder === true) return request
  const literal = looseKey(withScheme(request.url.trim()))
  if ((await store.listSources()).some((source) => looseKey(source.url) === literal)) return request
  const { url, ref, path, meaning, isCodeHostPage } = readPastedAddress(request.url)
  if (isCodeHostPage === true) {
    const { host } = new URL(url)
    const problem = `it names no repository of ${host}, and a crawl of ${host} would not end at one project`
    const advice = `give the address of a repository, such as ${host}/owner/name, or add \`--as site\``
    throw new PharosError('URL_INVALID', { url, problem, advice, as: 'site' })
  }
  const { tree } = request.settings ?? {}
  const named = treeSettings({ ref: tree?.ref ?? ref, path: tree?.path ?? path })
  return {
    ...request,
    url,
    ...(meaning !== undefined && { meaning }),
    ...(named.tree !== undefined && { settings: { ...request.settings, ...named } }),
  }
}
