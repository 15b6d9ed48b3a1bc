import type { HttpPorts } from '../../http/ports.ts'
import { withLibraryOr } from '../../http/server/store-access.ts'
import type { PlacesLibrary } from '../ports/places-library.ts'

/** How long the answer stays cached, in milliseconds: every page asks, and it changes with an import or a run only. */
const CACHE_TTL_MS = 10_000

const answers = new WeakMap<HttpPorts, { readonly at: number; readonly hasFindings: boolean }>()

/** Whether the library has places, hubs or analysis runs, which most libraries do not have. */
export async function readHasFindings(ports: HttpPorts): Promise<boolean> {
  const cached = answers.get(ports)
  if (cached !== undefined && performance.now() - cached.at < CACHE_TTL_MS) return cached.hasFindings
  const hasFindings = await withLibraryOr(ports, findAny, () => false)
  answers.set(ports, { at: performance.now(), hasFindings })
  return hasFindings
}

async function findAny({ gazetteer, analyses, placeHubs }: PlacesLibrary): Promise<boolean> {
  if (((await placeHubs?.listHosts(1)) ?? []).length > 0) return true
  if (((await analyses?.listRuns({ limit: 1, offset: 0 }))?.total ?? 0) > 0) return true
  return ((await gazetteer?.revision()) ?? '') !== ''
}
