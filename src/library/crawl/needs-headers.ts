import type { Scope } from '../../core/url/scope.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import { resolveScope } from './add-source.ts'

/** The options of a crawl that decide whether it sends headers. */
interface HeaderInput {
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly scope?: Partial<Scope> | undefined
}

/** Whether a crawl has headers of its own, or can reach an origin for which the owner configured some. */
export async function needsHeaders(
  { siteHeaders }: Pick<Library, 'siteHeaders'>,
  source: Pick<Source, 'url' | 'siteUrl' | 'scope'>,
  { headers = {}, scope = {} }: HeaderInput,
): Promise<boolean> {
  if (Object.keys(headers).length > 0) return true
  const origins = siteHeaders?.origins ?? []
  if (origins.length === 0) return false
  // Loaded on demand, because the list of public suffixes takes longer to load than most commands run.
  const { createReachTest } = await import('../../core/url/reach.ts')
  const { reach } = resolveScope(source.scope, scope)
  const test = createReachTest(reach, new URL(source.url), new URL(source.siteUrl))
  return origins.some((origin) => test.locate(new URL(origin), '/') !== 'elsewhere')
}
