import { PharosError } from '../../../src/core/errors.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'

/** Advice for users of the page; the table of errors has advice for the command line. */
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  SOURCE_EMPTY: 'See what was passed over and why; ignore files and limits decide what is read.',
  SOURCE_IS_PACK: 'Open it as a pack, or choose the folder that it was made from.',
  CHUNK_NOT_FOUND: 'The index was updated since, perhaps: search for it, or look for its file.',
  PACK_INVALID: 'Choose a pack or an index.json that Pharos wrote, whole and unchanged.',
  PACK_VERSION: 'Load this page anew to have its latest version, or make the pack again.',
}

/** Turns any error of the session into a message for the user. The page itself does without the table of errors, which is large. */
export function describeFailure(error: unknown): ErrorMessage {
  if (!(error instanceof PharosError)) return describeError(error)
  return { message: error.message, advice: ADVICE[error.code] ?? error.entry.advice }
}
