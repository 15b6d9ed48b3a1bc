import type { GivenFile, GivenFiles, GivenFolder } from '../folder/given-folder.ts'
import { hidesNames } from '../folder/hidden-names.ts'
import { folderOfEntry } from '../folder/take-in.ts'
import type { AskOptions, Work } from './connect.ts'
import type { HandedFolder } from './operations.ts'

/** Time budget for posting one message, short enough to go unnoticed. */
const UNNOTICED_MS = 20

/** Bounds for the number of files per message. Resolving the path of a file takes time too. */
const LEAST = 16
const MOST = 256

/** Hands a folder to the session: as a handle, or file by file if the handle hides names. */
export async function handOver(
  folder: GivenFolder,
  work: Work,
  options: AskOptions,
): Promise<GivenFolder | HandedFolder> {
  if (folder.type === 'files') return handOverFiles(folder, work, options)
  const { name, handle, entry } = folder
  const onLook = (done: number) => {
    options.signal?.throwIfAborted()
    options.onProgress?.({ stage: 'looking', done })
  }
  if (entry === undefined) return folder
  if (await hidesNames(handle, entry, onLook)) return handOverFiles(folderOfEntry(entry), work, options)
  return { type: 'handle', name, handle, isWhole: true }
}

/** Sends the files in batches whose size adapts to the time that posting takes. */
async function handOverFiles(
  { name, files, most }: GivenFiles,
  work: Work,
  options: AskOptions,
): Promise<HandedFolder> {
  let done = 0
  let size = LEAST
  let some: GivenFile[] = []
  const give = async () => {
    options.signal?.throwIfAborted()
    const begun = performance.now()
    const given = work.ask('give', { files: some, isFirst: done === 0 })
    const took = Math.max(performance.now() - begun, 0.1)
    // Without a worker only this timeout yields to the event loop.
    await Promise.all([given, new Promise((resolve) => setTimeout(resolve))])
    done += some.length
    size = Math.max(LEAST, Math.min(MOST, Math.floor((size * UNNOTICED_MS) / took)))
    some = []
    options.onProgress?.({ stage: 'taking', done, total: most })
  }
  for await (const file of files) {
    some.push(file)
    if (some.length >= size) await give()
  }
  if (some.length > 0 || done === 0) await give()
  return { type: 'handed', name }
}
