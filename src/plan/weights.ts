import type { Address } from './address.ts'
import { roleOf, type Shape } from './shapes.ts'

/** What the planner knows about an address when it weighs it. */
export interface Weighed {
  readonly address: Address
  readonly shape: Shape
  /** Whether its shape has known or possible place hubs. */
  readonly place: 'hub' | 'maybe' | 'none'
  readonly isSectionFront: boolean
  /** Whether older pages are wanted too, so that pagination and archives come first. */
  readonly isHistory: boolean
  /** Whether the home page links to it. */
  readonly isOnHome: boolean
}

/** Links of the home page other than articles and places are its navigation. */
const HOME_NAVIGATION = -50

const HUB = 0
const HISTORY = 5
const SECTION = 10
const MAYBE_HUB = 15
/** Addresses up to this weight are navigation pages. */
export const NAVIGATION = 20
const FIRST_OF_SHAPE = 30
const OTHER = 40
const PAGINATION = 60
const ARTICLE = 70
const TAG = 90
const QUERY = 95

/** Number of addresses per shape that are visited early. */
const FIRST_FEW = 3
/** Number of read pages from which the role of a shape is trusted. */
const ENOUGH_READ = 5

/** Weight of an address; the lowest is visited first. Addresses that teach most about the site come first. */
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

/** Lowers the priority of a shape the more of its pages were read. */
function tire({ articles, hubs, others }: Shape): number {
  return Math.min(9, Math.floor(Math.log2(articles + hubs + others + 1)))
}
