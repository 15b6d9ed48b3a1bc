import { ask } from '../desk.ts'
import type { AskOptions } from '../work/connect.ts'
import type { Artefact, Exported } from '../work/operations.ts'

/** Time until the blob URL is revoked: long enough for the browser to start the download. */
const KEPT_MS = 60_000

/** Writes an artefact and downloads it. */
export async function downloadArtefact(artefact: Artefact, options?: AskOptions): Promise<Exported> {
  const exported = await ask('exportArtefact', { artefact }, options)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(exported.blob)
  link.download = exported.name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
  return exported
}
