import { ask } from '../desk.ts'
import type { AskOptions } from '../work/connect.ts'
import type { Artefact, Exported } from '../work/operations.ts'

/** Long enough for the browser to have begun to write it. */
const KEPT_MS = 60_000

/** Writes an artefact and hands it to the browser under its name. */
export async function downloadArtefact(artefact: Artefact, options?: AskOptions): Promise<Exported> {
  const exported = await ask('exportArtefact', { artefact }, options)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(exported.blob)
  link.download = exported.name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
  return exported
}
