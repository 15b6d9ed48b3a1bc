import { PharosError } from '../../../src/core/errors.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'

/** Advice for users of the page, because the advice in the table of errors is for the command line. */
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  SOURCE_EMPTY: 'Check what was skipped and why; ignore files and limits decide what is read.',
  SOURCE_IS_PACK: 'Open it as a pack, or choose the folder that it was made from.',
  CHUNK_NOT_FOUND: 'The index may have been updated since: search again, or open the file.',
  PACK_INVALID: 'Choose a pack or an index.json that Pharos wrote, complete and unchanged.',
  PACK_VERSION: 'Reload this page to get its latest version, or make the pack again.',
}

/** Turns any error of the session into a message for the user. The page itself does not load the large table of errors. */
export function describeFailure(error: unknown): ErrorMessage {
  if (!(error instanceof PharosError)) return describeError(error)
  return { message: error.message, advice: ADVICE[error.code] ?? error.entry.advice }
}
