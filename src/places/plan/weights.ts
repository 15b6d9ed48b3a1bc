import type { Address } from './address.ts'
import { roleOf, type Shape } from './shapes.ts'

/** What the planner knows about an address when it weighs it. */
export interface AddressFacts {
  readonly address: Address
  readonly shape: Shape
  /** Whether the address is a place hub, judged by the places in its path. */
  readonly place: 'hub' | 'maybe' | 'none'
  readonly isSectionFront: boolean
  /** Whether older pages are wanted too, so that pagination and archives come first. */
  readonly isHistory: boolean
  /** Whether the home page links to the address. */
  readonly isOnHome: boolean
}

/** Links of the home page other than articles and places are its navigation. */
const HOME_NAVIGATION_WEIGHT = -50

const HUB_WEIGHT = 0
const HISTORY_WEIGHT = 5
const SECTION_WEIGHT = 10
const MAYBE_HUB_WEIGHT = 15
/** Addresses up to this weight are navigation pages. */
export const NAVIGATION_WEIGHT = 20
const FIRST_OF_SHAPE_WEIGHT = 30
const OTHER_WEIGHT = 40
const PAGINATION_WEIGHT = 60
const ARTICLE_WEIGHT = 70
const TAG_WEIGHT = 90
const QUERY_WEIGHT = 95

/** Number of addresses per shape that are visited early. */
const EARLY_PER_SHAPE = 3
/** Number of read pages from which the role of a shape is trusted. */
const MIN_READ_PAGES = 5

/** Weight of an address; the lowest is visited first. Addresses that teach most about the site come first. */
export function weighAddress({ address, shape, place, isSectionFront, isHistory, isOnHome }: AddressFacts): number {
  const { isPagination, isTag, hasQuery, date, kind } = address
  if (hasQuery) return QUERY_WEIGHT
  if (isPagination) return isHistory ? HISTORY_WEIGHT : PAGINATION_WEIGHT
  if (isTag) return TAG_WEIGHT
  if (isHistory && date !== null && kind === 'nav') return HISTORY_WEIGHT
  if (place === 'hub') return HUB_WEIGHT
  if (isOnHome && place === 'none' && kind !== 'article') return HOME_NAVIGATION_WEIGHT
  if (isSectionFront) return SECTION_WEIGHT
  if (place === 'maybe') return MAYBE_HUB_WEIGHT
  const isFirst = shape.planned <= EARLY_PER_SHAPE
  const role = roleOf(shape)
  const hasEnoughReads = shape.articles + shape.hubs + shape.others >= MIN_READ_PAGES
  if (hasEnoughReads && role === 'topic-hub') return NAVIGATION_WEIGHT
  if (role === 'article') return isFirst ? FIRST_OF_SHAPE_WEIGHT : ARTICLE_WEIGHT + penalizeRepetition(shape)
  if (kind === 'nav') return NAVIGATION_WEIGHT
  return isFirst ? FIRST_OF_SHAPE_WEIGHT : OTHER_WEIGHT + penalizeRepetition(shape)
}

/** Lowers the priority of a shape the more of its pages were read. */
function penalizeRepetition({ articles, hubs, others }: Shape): number {
  return Math.min(9, Math.floor(Math.log2(articles + hubs + others + 1)))
}
