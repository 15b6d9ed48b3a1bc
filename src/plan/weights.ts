import type { Address } from './address.ts'
import { roleOf, type Shape } from './shapes.ts'

/** What a plan knows about an address when it is weighed. */
export interface Weighed {
  readonly address: Address
  readonly shape: Shape
  /** Whether it is of a kind of which hubs of places are known, or could be. */
  readonly place: 'hub' | 'maybe' | 'none'
  readonly isSectionFront: boolean
  /** Whether everything older is wanted, so that further pages and archives come first. */
  readonly isHistory: boolean
  /** Whether the home page leads to it. */
  readonly isOnHome: boolean
}

/** What the home page leads to besides articles and places: its navigation. */
const HOME_NAVIGATION = -50

const HUB = 0
const HISTORY = 5
const SECTION = 10
const MAYBE_HUB = 15
/** What is at most this heavy is there to find one's way. */
export const NAVIGATION = 20
const FIRST_OF_SHAPE = 30
const OTHER = 40
const PAGINATION = 60
const ARTICLE = 70
const TAG = 90
const QUERY = 95

/** So many of a shape are looked at early. */
const FIRST_FEW = 3
/** What was read often enough to go by. */
const ENOUGH_READ = 5

/** How early an address is to be visited, the least first: what teaches most about the site comes first. */
export function weighAddress({ address, shape, place, isSectionFront, isHistory, isOnHome }: Weighed): number {
  const { isPagination, isTag, hasQuery, date, kind } = address
  if (hasQuery) return QUERY
  if (isPagination) return isHistory ? HISTORY : PAGINATION
  if (isTag) return TAG
  if (isHistory && date !== null && kind === 'nav') return HISTORY
  if (place === 'hub') return HUB
  if (isOnHome && place === 'none' && kind !== 'article') return HOME_NAVIGATION
  if (isSectionFront) return SECTION
  if (place === 'maybe') return MAYBE_HUB
  const isFirst = shape.planned <= FIRST_FEW
  const role = roleOf(shape)
  const isRead = shape.articles + shape.hubs + shape.others >= ENOUGH_READ
  if (isRead && role === 'topic-hub') return NAVIGATION
  if (role === 'article') return isFirst ? FIRST_OF_SHAPE : ARTICLE + tire(shape)
  if (kind === 'nav') return NAVIGATION
  return isFirst ? FIRST_OF_SHAPE : OTHER + tire(shape)
}

/** A shape of which much was read teaches less and less. */
function tire({ articles, hubs, others }: Shape): number {
  return Math.min(9, Math.floor(Math.log2(articles + hubs + others + 1)))
}
