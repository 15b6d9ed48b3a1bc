import type { PlaceMatcher } from '../analysis/matcher.ts'

/** What a plan asks of a gazetteer. */
export type PlanPlaces = Pick<PlaceMatcher, 'countries' | 'bySlug'>
