import { ask } from '../page-state.ts'
import type { RequestOptions } from '../work/connect.ts'
import type { Artefact, ExportedFile } from '../work/operations.ts'

/** Time until the blob URL is revoked: long enough for the browser to start the download. */
const REVOKE_DELAY_MS = 60_000

/** Writes an artefact and downloads it. */
export async function downloadArtefact(artefact: Artefact, options?: RequestOptions): Promise<ExportedFile> {
  const exported = await ask('exportArtefact', { artefact }, options)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(exported.blob)
  link.download = exported.name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_DELAY_MS)
  return exported
}
