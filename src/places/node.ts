/* The door of places for libraries on this machine. */
export type { Places } from './ports/places-library.ts'
export { openPlaces } from './store/open-places.ts'
