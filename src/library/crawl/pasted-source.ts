import { PharosError } from '../../core/errors.ts'
import { readPastedAddress } from '../../core/url/pasted-address.ts'
import type { Library } from '../library.ts'
import { type SourceSettings, treeSettings } from '../source.ts'

/** A request with an address as a user pasted it. */
interface PastedRequest {
  readonly url: string
  /** `site` crawls the address as it is, even if it names a repository or package. */
  readonly as?: 'site' | undefined
  readonly isOwnFolder?: boolean
  readonly settings?: Partial<Pick<SourceSettings, 'tree'>>
}

/**
 * Replaces the page of a repository or package by the repository or package itself. A branch and folder in the address apply unless others
 * are given. Throws for other pages of a code host, because a crawl of them would not end at one project.
 */
export function resolvePasted<R extends PastedRequest>({ trees }: Pick<Library, 'trees'>, request: R): R {
  if (trees === undefined || request.as === 'site' || request.isOwnFolder === true) return request
  const { url, ref, path, isCodeHostPage } = readPastedAddress(request.url)
  if (isCodeHostPage === true) {
    const { host } = new URL(url)
    const problem = `it names no repository of ${host}, and a crawl of ${host} would not end at one project`
    const advice = `give the address of a repository, such as ${host}/owner/name, or add \`--as site\` to \`pharos add\``
    throw new PharosError('URL_INVALID', { url, problem, advice })
  }
  const { tree } = request.settings ?? {}
  const named = treeSettings({ ref: tree?.ref ?? ref, path: tree?.path ?? path })
  return { ...request, url, ...(named.tree !== undefined && { settings: { ...request.settings, ...named } }) }
}
