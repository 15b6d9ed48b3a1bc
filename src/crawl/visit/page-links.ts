import { withoutFragment } from '../../core/extract/resolve.ts'
import type { Link, Page } from '../../core/model.ts'
import { dropSlash } from '../../core/url/key.ts'
import { isSpellingOf } from '../../core/url/key-preference.ts'
import type { ActiveCrawl } from '../active-crawl.ts'
import type { DiscoveryContext, FoundAddresses } from '../addresses/offers.ts'
import type { Visit } from '../ledger.ts'
import type { Reason } from '../ledger-reasons.ts'
import { isFollowed } from '../read-page.ts'
import type { Alias } from '../settlement.ts'
import type { Conclusion } from './conclude-outcome.ts'

/** The part of a crawl that judges the links of pages. */
type LinkingCrawl = Pick<ActiveCrawl, 'ports' | 'site' | 'offers'>

/** For a page without new addresses. */
export const NO_FINDS: FoundAddresses = { finds: [], aliases: [] }

/** Addresses found on a page: links that are followed, links beyond the limit, nofollow links, and other forms of the page. */
export function findLinks(
  { site, offers }: LinkingCrawl,
  visit: Visit,
  page: Page,
  links: readonly string[],
): FoundAddresses {
  const followed = new Set(links)
  const others = page.links.filter(({ url }) => !followed.has(withoutFragment(url)))
  const isFollowable = (link: Link) => page.robots.follow && isFollowed(link)
  const judgeOthers = (skipped: readonly Link[], reason: Reason, pattern: string | null) =>
    offers.judge(new Set(skipped.map(({ url }) => withoutFragment(url))), {
      ...linkContextOf(visit),
      refusal: { reason, pattern, target: null },
    })
  const target = visit.key
  const variants = page.alternates.filter(({ type }) => type === 'text/markdown').map(({ url }) => withoutFragment(url))
  const lists = [
    offers.judge(
      variants.filter((url) => site.addressFilter.keyOf(url) !== target),
      {
        ...linkContextOf(visit),
        discovery: 'alternate',
        refusal: { reason: 'covered', pattern: 'text/markdown', target },
      },
    ),
    offers.judge(links, linkContextOf(visit)),
    judgeOthers(others.filter(isFollowable), 'too-many-links', String(links.length)),
    judgeOthers(
      others.filter((link) => !isFollowable(link)),
      'nofollow',
      null,
    ),
  ]
  // An address counts once, by the first list that contains it.
  const finds = [
    ...new Map(
      lists
        .flatMap((list) => list.finds)
        .map((find) => [find.key, find] as const)
        .reverse(),
    ).values(),
  ]
  return { finds: finds.reverse(), aliases: lists.flatMap((list) => list.aliases) }
}

/** Returns the canonical address of a page, if it is another address that this crawl will read. */
export async function findCanonicalAddress(
  { ports, site, offers }: LinkingCrawl,
  visit: Visit,
  page: {
    readonly canonical: string | null
    readonly alternates: readonly { readonly url: string; readonly type: string | null }[]
  },
): Promise<({ readonly verdict: Partial<Conclusion> } & FoundAddresses) | undefined> {
  const { canonical } = page
  const key = canonical === null ? undefined : site.addressFilter.keyOf(canonical)
  // Many sites name one canonical address for different pages, so only another spelling of the same address is accepted. If two pages name
  // each other, neither gets content at first, so both are read again at the end, whichever came first. A trailing slash alone is not worth
  // a second request: if both addresses are linked, their content tells whether they are one page.
  const isOther = key !== undefined && dropSlash(key) !== dropSlash(visit.key)
  if (canonical !== null && isOther && isSpellingOf(canonical, visit.url)) {
    const row = await ports.ledger.findRow(visit.sourceId, key)
    const leadsBack = row?.reason === 'redirect' && row.target === visit.key
    const depth = site.redirectDepth(visit)
    const found = offers.judge([canonical], { depth, foundOn: visit.url, discovery: 'canonical' })
    const isRefused = site.addressFilter.judge(canonical, depth).refusal !== null
    if (!leadsBack && !isRefused) return aliasTo(visit, canonical, key, 'canonical', null, found)
  }
  for (const { url, type } of page.alternates) {
    const variantKey = type === 'text/markdown' ? site.addressFilter.keyOf(url) : undefined
    if (variantKey === undefined || variantKey === visit.key) continue
    const row = await ports.ledger.findRow(visit.sourceId, variantKey)
    const isRead =
      row?.discovery === 'llms-txt' && row.state !== 'failed' && row.state !== 'gone' && row.state !== 'skipped'
    if (isRead) return aliasTo(visit, url, variantKey, 'markdown-variant', 'text/markdown', NO_FINDS)
  }
  return undefined
}

function aliasTo(
  visit: Visit,
  url: string,
  target: string,
  classification: Alias['classification'],
  pattern: string | null,
  found: FoundAddresses,
): { readonly verdict: Partial<Conclusion> } & FoundAddresses {
  return {
    verdict: { reason: 'canonical', pattern, target, isProvenGone: visit.hasPage, detail: `the same as ${url}` },
    finds: found.finds,
    aliases: [...found.aliases, { url: visit.url, aliasUrl: url, classification, reason: null }],
  }
}

/** How the links of a visited page are found. */
export function linkContextOf(visit: Visit): DiscoveryContext {
  return { depth: visit.depth + 1, foundOn: visit.url, discovery: 'link' }
}

/** Adds found addresses to those of a conclusion. */
export function withFinds<T extends Partial<FoundAddresses>>(verdict: T, more: FoundAddresses): T & FoundAddresses {
  const { finds = [], aliases = [] } = verdict
  return { ...verdict, finds: [...more.finds, ...finds], aliases: [...more.aliases, ...aliases] }
}
