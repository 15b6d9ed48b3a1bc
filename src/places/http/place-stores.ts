import { PharosError } from '../../core/errors.ts'
import type { HttpPorts } from '../../http/ports.ts'
import { withLibrary } from '../../http/server/store-access.ts'
import type { PlacesLibrary, PlaceTables } from '../ports/places-library.ts'

/** The stores of analysis results. */
export type AnalysisStores = Pick<PlaceTables, 'gazetteer' | 'analyses' | 'placeHubs'>

/** Like {@link withLibrary}, for analysis results. */
export function withAnalysisStores<T>(
  ports: HttpPorts,
  use: (stores: AnalysisStores, library: PlacesLibrary) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return withLibrary(ports, (library) => use(analysisStoresOf(library), library), otherwise)
}

/** The analysis stores of a library; throws STORE_UNAVAILABLE when the library has none. */
export function analysisStoresOf({ gazetteer, analyses, placeHubs }: PlacesLibrary): AnalysisStores {
  if (gazetteer === undefined || analyses === undefined || placeHubs === undefined) {
    throw new PharosError('STORE_UNAVAILABLE')
  }
  return { gazetteer, analyses, placeHubs }
}
