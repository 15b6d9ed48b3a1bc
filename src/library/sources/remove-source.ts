import type { Library } from '../library.ts'
import type { Store } from '../ports/store.ts'

/** Removes a source with all its data; returns how much was removed. */
export async function removeSource(
  { store, imports }: Pick<Library, 'imports' | 'store'>,
  id: string,
): ReturnType<Store['removeSource']> {
  const removed = await store.removeSource(id)
  await imports?.forget(id)
  return removed
}
