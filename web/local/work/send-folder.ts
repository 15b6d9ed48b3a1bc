import type { GivenFile, GivenFiles, GivenFolder } from '../folder/given-folder.ts'
import { hasHiddenNames } from '../folder/hidden-names.ts'
import { folderOfEntry } from '../folder/input-folder.ts'
import type { RequestOptions, SessionConnection } from './connect.ts'
import type { SentFolder } from './operations.ts'

/** Time budget for posting one message, short enough to go unnoticed. */
const MESSAGE_BUDGET_MS = 20

/** Bounds for the number of files per message, because resolving the path of each file takes time too. */
const MIN_BATCH_FILES = 16
const MAX_BATCH_FILES = 256

/** Hands a folder to the session: as a handle, or file by file if the handle hides names. */
export async function sendFolder(
  folder: GivenFolder,
  session: SessionConnection,
  options: RequestOptions,
): Promise<GivenFolder | SentFolder> {
  if (folder.type === 'files') return sendFiles(folder, session, options)
  const { name, handle, entry } = folder
  const onFolder = (done: number) => {
    options.signal?.throwIfAborted()
    options.onProgress?.({ stage: 'looking', done })
  }
  if (entry === undefined) return folder
  if (await hasHiddenNames(handle, entry, onFolder)) return sendFiles(folderOfEntry(entry), session, options)
  return { type: 'handle', name, handle, isVerified: true }
}

/** Sends the files in batches whose size adapts to the time that posting takes. */
async function sendFiles(
  { name, files, maxFiles }: GivenFiles,
  session: SessionConnection,
  options: RequestOptions,
): Promise<SentFolder> {
  let done = 0
  let size = MIN_BATCH_FILES
  let batch: GivenFile[] = []
  const sendBatch = async () => {
    options.signal?.throwIfAborted()
    const startedAt = performance.now()
    const sending = session.ask('give', { files: batch, isFirst: done === 0 })
    const elapsedMs = Math.max(performance.now() - startedAt, 0.1)
    // Without a worker only this timeout yields to the event loop.
    await Promise.all([sending, new Promise((resolve) => setTimeout(resolve))])
    done += batch.length
    size = Math.max(MIN_BATCH_FILES, Math.min(MAX_BATCH_FILES, Math.floor((size * MESSAGE_BUDGET_MS) / elapsedMs)))
    batch = []
    options.onProgress?.({ stage: 'taking', done, total: maxFiles })
  }
  for await (const file of files) {
    batch.push(file)
    if (batch.length >= size) await sendBatch()
  }
  if (batch.length > 0 || done === 0) await sendBatch()
  return { type: 'handed', name }
}
