import type { GivenFile, GivenFiles, GivenFolder } from '../folder/given-folder.ts'
import { hasHiddenNames } from '../folder/hidden-names.ts'
import { folderOfEntry } from '../folder/input-folder.ts'
import type { RequestOptions, SessionConnection } from './connect.ts'
import type { SentFolder } from './operations.ts'

/** Time budget for posting one message, short enough to go unnoticed. */
const MESSAGE_BUDGET_MS = 20

/** Bounds for the number of files per message. Resolving the path of a file takes time too. */
const MIN_BATCH_FILES = 16
const MAX_BATCH_FILES = 256

/** Hands a folder to the session: as a handle, or file by file if the handle hides names. */
export async function sendFolder(
  folder: GivenFolder,
  work: SessionConnection,
  options: RequestOptions,
): Promise<GivenFolder | SentFolder> {
  if (folder.type === 'files') return sendFiles(folder, work, options)
  const { name, handle, entry } = folder
  const onLook = (done: number) => {
    options.signal?.throwIfAborted()
    options.onProgress?.({ stage: 'looking', done })
  }
  if (entry === undefined) return folder
  if (await hasHiddenNames(handle, entry, onLook)) return sendFiles(folderOfEntry(entry), work, options)
  return { type: 'handle', name, handle, isVerified: true }
}

/** Sends the files in batches whose size adapts to the time that posting takes. */
async function sendFiles(
  { name, files, maxFiles }: GivenFiles,
  work: SessionConnection,
  options: RequestOptions,
): Promise<SentFolder> {
  let done = 0
  let size = MIN_BATCH_FILES
  let some: GivenFile[] = []
  const give = async () => {
    options.signal?.throwIfAborted()
    const begun = performance.now()
    const given = work.ask('give', { files: some, isFirst: done === 0 })
    const took = Math.max(performance.now() - begun, 0.1)
    // Without a worker only this timeout yields to the event loop.
    await Promise.all([given, new Promise((resolve) => setTimeout(resolve))])
    done += some.length
    size = Math.max(MIN_BATCH_FILES, Math.min(MAX_BATCH_FILES, Math.floor((size * MESSAGE_BUDGET_MS) / took)))
    some = []
    options.onProgress?.({ stage: 'taking', done, total: maxFiles })
  }
  for await (const file of files) {
    some.push(file)
    if (some.length >= size) await give()
  }
  if (some.length > 0 || done === 0) await give()
  return { type: 'handed', name }
}
