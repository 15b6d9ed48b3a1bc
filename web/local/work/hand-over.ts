import type { GivenFolder } from '../folder/given-folder.ts'
import type { AskOptions, Work } from './connect.ts'
import type { HandedFolder } from './operations.ts'

/** Writing a message may take about so long without anybody noticing. */
const UNNOTICED_MS = 20

const LEAST = 16
const MOST = 1024

/** Gives files to whoever works, as many at a time as go unnoticed: a browser takes its time for each. Folders with a handle stay as they are. */
export async function handOver(
  folder: GivenFolder,
  work: Work,
  options: AskOptions,
): Promise<GivenFolder | HandedFolder> {
  if (folder.type === 'handle') return folder
  const { name, files } = folder
  let size = LEAST
  for (let at = 0; at < files.length || at === 0; ) {
    options.signal?.throwIfAborted()
    const some = files.slice(at, at + size)
    const begun = performance.now()
    const given = work.ask('give', { files: some, isFirst: at === 0 })
    const took = Math.max(performance.now() - begun, 0.1)
    await given
    at += size
    size = Math.max(LEAST, Math.min(MOST, Math.floor((size * UNNOTICED_MS) / took)))
    options.onProgress?.({ stage: 'taking', done: Math.min(at, files.length), total: files.length })
  }
  return { type: 'handed', name }
}
