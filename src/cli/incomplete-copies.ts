import type { EffectiveConfig } from '../config.ts'
import type { OpenLibrary } from '../open-library.ts'
import { shownLibrary } from './library.ts'
import { printableLine, shellWord } from './terminal.ts'

/** Lists the libraries whose copy into this one is incomplete. */
export async function listIncompleteCopies({ libraryCopy }: Pick<OpenLibrary, 'libraryCopy'>): Promise<string[]> {
  return (await libraryCopy.sessions.listOpen()).map(({ plan }) => plan.place)
}

/** Describes incomplete copies, whose content is not visible yet. */
export function writeIncompleteCopies(
  places: readonly string[],
  { values }: Pick<EffectiveConfig, 'values'>,
): string[] {
  return places.map((place) => {
    const words = [place, shownLibrary(values)].map((word) => shellWord(printableLine(word)))
    const again = ['pharos', 'copy', ...words].join(' ')
    return `a copy of ${printableLine(place)} is incomplete, so its sources are hidden; resume it with: ${again}; or remove it by adding --discard to that command`
  })
}
