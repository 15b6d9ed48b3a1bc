import type { Warning, WarningCode } from '../../../src/core/model.ts'

/** Advice for warnings whose message does not say what to do. */
const HINTS: Readonly<Partial<Record<WarningCode, string>>> = {
  max_chunks_per_file:
    ': the rest of the file is not in the index. Update the index with a higher limit to include it.',
  max_file_bytes: '. Update the index with a higher limit to include it.',
  max_total_bytes: '. Update the index with a higher limit to include it.',
  unreadable: '. If it was changed after the folder was chosen, choose the folder again.',
}

/** The message of a warning, with advice. */
export function writeWarning({ code, message }: Pick<Warning, 'code' | 'message'>): string {
  return `${message}${HINTS[code] ?? ''}`
}
