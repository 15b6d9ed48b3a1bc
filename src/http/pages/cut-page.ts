import { type PagerLinks, writeHref } from './parts.ts'

/** The requested part of a list: entries before or after an id, and how many. */
export interface PageRange {
  readonly before: number | undefined
  readonly after: number | undefined
  readonly limit: number
}

/**
 * Cuts a list (newest first) that was read with one extra entry, and tells whether it continues in either direction. The extra entry is the
 * oldest one, or the newest one when entries after an id were requested.
 */
export function cutPage<Item extends { readonly id: number }>(
  list: readonly Item[],
  { before, after, limit }: PageRange,
  path: string,
  filters: Readonly<Record<string, string | number | undefined>>,
): { readonly items: readonly Item[]; readonly links: PagerLinks } {
  const hasMore = list.length > limit
  const isUpward = after !== undefined
  const items = isUpward ? list.slice(-limit) : list.slice(0, limit)
  const first = items[0]?.id
  const last = items.at(-1)?.id
  const hasNewer = isUpward ? hasMore : before !== undefined
  const hasOlder = isUpward || hasMore
  return {
    items,
    links: {
      latest: writeHref(path, filters),
      newer: hasNewer && first !== undefined ? writeHref(path, { ...filters, after: first }) : null,
      older: hasOlder && last !== undefined ? writeHref(path, { ...filters, before: last }) : null,
    },
  }
}
