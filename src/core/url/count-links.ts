import { withoutFragment } from '../extract/resolve.ts'
import type { Page } from '../model.ts'
import { keyPath, parseHttp } from './key.ts'
import { createReachTest } from './reach.ts'

/** Counts the addresses that a page links to. Each counts once, regardless of its fragment; those in the page's domain are internal. */
export function countLinks({ url, links }: Pick<Page, 'url' | 'links'>): {
  readonly internal: number
  readonly external: number
} {
  const pageUrl = parseHttp(url)
  const reach = pageUrl && createReachTest('domain', pageUrl, pageUrl)
  let internal = 0
  let external = 0
  for (const address of new Set(links.map((link) => withoutFragment(link.url)))) {
    const target = parseHttp(address)
    if (target === undefined) continue
    if (reach?.locate(target, keyPath(target)) === 'inside') internal++
    else external++
  }
  return { internal, external }
}
