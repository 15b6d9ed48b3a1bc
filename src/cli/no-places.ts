import type { Library } from '../library/library.ts'
import type { Hint } from './library.ts'

/** What whoever could do with the places of the world is told, while there are none. */
export function writeNoPlaces(hint: Hint): string {
  return `there are no places yet; import them: ${hint('gazetteer', 'import')}`
}

/** Whether a library could know places, and knows none. */
export async function hasNoPlaces({ gazetteer }: Pick<Library, 'gazetteer'>): Promise<boolean> {
  return gazetteer !== undefined && (await gazetteer.revision()) === ''
}
