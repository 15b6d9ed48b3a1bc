import type { Library } from '../../library/library.ts'
import type { Hint } from '../library.ts'

/** The hint for commands that work better with a gazetteer, while it is empty. */
export function writeNoPlaces(hint: Hint): string {
  return `there are no places yet; import them: ${hint('gazetteer', 'import')}`
}

/** Whether a library supports places but has none. */
export async function hasNoPlaces({ plans }: Pick<Library, 'plans'>): Promise<boolean> {
  return plans !== undefined && !(await plans.hasPlaces())
}
