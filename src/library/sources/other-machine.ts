import { type Library, machineOf } from '../library.ts'
import type { Source } from '../source.ts'

/** The machine of a local tree that is not on this machine, where the same path holds something else; undefined for any other source. */
export function findOtherMachine(
  { runner }: Pick<Library, 'runner'>,
  { settings: { machine } }: Pick<Source, 'settings'>,
): string | undefined {
  return machine === machineOf(runner) ? undefined : machine
}
