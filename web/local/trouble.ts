import { PharosError } from '../../src/core/errors.ts'

/** What the user of the page is told when something cannot be done. */
export interface Told {
  readonly message: string
  /** What to do about it. */
  readonly advice: string
}

/** Something that cannot be done, for a reason that the user can do something about. */
export class Trouble extends Error {
  override readonly name = 'Trouble'
  readonly advice: string

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options)
    this.advice = advice
  }
}

/** What the table of errors advises is for a command line; these are for a page. */
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  SOURCE_EMPTY: 'See what was passed over and why; ignore files and limits decide what is read.',
  SOURCE_IS_PACK: 'Open it as a pack, or choose the folder that it was made from.',
  PACK_INVALID: 'Choose a pack or an index.json that Pharos wrote, whole and unchanged.',
  PACK_VERSION: 'Load this page anew to have its latest version, or make the pack again.',
}

/** Puts whatever was thrown into words for the user. */
export function tell(error: unknown): Told {
  if (error instanceof Trouble) return { message: error.message, advice: error.advice }
  if (error instanceof PharosError) return { message: error.message, advice: ADVICE[error.code] ?? error.entry.advice }
  if (error instanceof DOMException && error.name === 'QuotaExceededError') return NO_ROOM
  const message = error instanceof Error ? error.message : String(error)
  return { message: `Something went wrong: ${message}`, advice: 'Try again; what was kept before is as it was.' }
}

const NO_ROOM: Told = {
  message: 'The browser has no room left for this.',
  advice:
    'Delete an index that you no longer need, or free space on the disk; what is open can still be searched and exported.',
}
