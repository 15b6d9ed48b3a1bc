import { type PagerLinks, writeHref } from './parts.ts'

/** Which part of a list was asked for: ids before or after one, and how many. */
export interface PageRange {
  readonly before: number | undefined
  readonly after: number | undefined
  readonly limit: number
}

/**
 * Takes from a list, newest first, which was asked for one more than is shown, what is shown, and tells where it goes on in both
 * directions. The one too many is the oldest, or the newest where those after an id were asked for.
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
