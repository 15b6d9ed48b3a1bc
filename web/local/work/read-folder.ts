import type { Grammars } from '../../../src/core/chunk/code-grammars.ts'
import { codeLanguageOf } from '../../../src/core/chunk/languages.ts'
import { FileCutter, type FileState, readAhead } from '../../../src/core/folder/cut-files.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { bytesOf } from '../folder/open-folder.ts'
import type { IndexContent, Stamp } from '../keep/index-store.ts'
import type { OpenedIndex, Survey } from './operations.ts'
import type { PreviousIndex } from './previous-index.ts'
import { type SurveyedFolder, type UnchangedFiles, unreachableError } from './survey.ts'
import type { Task } from './task.ts'

/** The result of reading a folder. */
export interface FolderContent extends Omit<IndexContent, 'index' | 'vectors'> {
  readonly files: readonly ChunkedFile[]
  readonly counts: NonNullable<OpenedIndex['counts']>
}

/** Number of files read ahead. */
const READ_AHEAD = 8

/** The resolution of the coarsest file system clock in use. */
const CLOCK_RESOLUTION_MS = 2000

/** A modification time that no file has. */
export const NO_MODIFIED_TIME: number = -1

/** A single unreadable file may lack permission. After this many in a row, the folder itself is probably gone. */
const MAX_UNREADABLE_FILES = 3

/** Reads and cuts the files of a surveyed folder; `before` is the index to update. */
export async function readFolder(
  { folder, paths, sizes, same: unchanged, survey }: SurveyedFolder,
  limits: Limits,
  grammars: Grammars | undefined,
  before: PreviousIndex | undefined,
  task: Task,
): Promise<FolderContent> {
  await grammars?.prepare(paths.flatMap((path) => codeLanguageOf(path)?.grammar ?? []))
  const cutter = new FileCutter({ ...limits, ...(grammars === undefined ? {} : { grammars }) })
  const openedAt = Date.now()
  const files: ChunkedFile[] = []
  const stamps: Stamp[] = []
  const images = new Map<string, Blob>()
  let chunks = 0
  let unreadableCount = 0
  // If the survey found no changes, an update reads every file, because the user doubts that they are unchanged.
  const same: UnchangedFiles = hasChanges(survey) ? unchanged : new Map()
  const find = (path: string) => findFile(path, { folder, cutter, before, same, size: sizes.get(path) ?? 0 })
  for await (const [path, { found, stamp, isUnreadable }] of readAhead(paths, find, {
    ahead: READ_AHEAD,
    signal: task.signal,
  })) {
    // Reported before the file is cut, because a large file takes a while.
    task.progress({ stage: 'reading', done: files.length, total: paths.length, chunks, path })
    unreadableCount = isUnreadable ? unreadableCount + 1 : 0
    if (
      isUnreadable &&
      (unreadableCount >= MAX_UNREADABLE_FILES || before !== undefined) &&
      !(await folder.isAccessible())
    )
      throw unreachableError()
    // The previous chunks of this file cannot be reused. Instead of removing them with a warning, the update fails.
    if (unreadableCount >= MAX_UNREADABLE_FILES && found.type === 'left-out' && before?.stamps.has(path))
      throw unreachableError()
    const cut = cutter.cut(path, found, before?.files.get(path)).chunked
    const chunked = isUnreadable && found.type === 'known' ? keepPreviousVersion(cut) : cut
    files.push(chunked)
    chunks += chunked.chunks.length
    if (chunked.file.kind === 'image' && chunked.chunks.length > 0) {
      images.set(
        path,
        found.type === 'bytes' ? new Blob([found.bytes as Uint8Array<ArrayBuffer>]) : imageOf(before, path),
      )
    }
    // A file written just now can change again within one tick of the clock and look unchanged, so its time is not recorded.
    const isSettled = stamp !== undefined && (found.type === 'known' || stamp[2] < openedAt - CLOCK_RESOLUTION_MS)
    if (stamp !== undefined) {
      const [, size, changedAt, sha256 = chunked.file.sha256] = stamp
      const at = isSettled ? changedAt : NO_MODIFIED_TIME
      // A file that was not read has no digest.
      stamps.push(sha256 === '' ? [path, size, at] : [path, size, at, sha256])
    }
    await task.yieldIfDue()
  }
  const { filesCut, filesUnchanged } = cutter.counts
  return { files, stamps, images, counts: { cut: filesCut, unchanged: filesUnchanged } }
}

/** Whether an update found changes. */
function hasChanges({ changes }: Survey): boolean {
  return changes !== undefined && changes.added.count + changes.changed.count + changes.removed.count > 0
}

/** Keeps the last readable version of a file that can no longer be read. */
function keepPreviousVersion(chunked: ChunkedFile): ChunkedFile {
  const { path } = chunked.file
  const message = 'cannot be read now; the previous version is kept'
  return { ...chunked, warnings: [...chunked.warnings, { path, code: 'unreadable', message }] }
}

function imageOf(before: PreviousIndex | undefined, path: string): Blob {
  return before?.images.get(path) ?? new Blob()
}

interface FileContext {
  readonly folder: SurveyedFolder['folder']
  readonly cutter: FileCutter
  readonly before: PreviousIndex | undefined
  readonly same: UnchangedFiles
  /** The size at the time of the survey. */
  readonly size: number
}

interface FoundFile {
  readonly found: FileState
  readonly stamp?: Stamp
  /** Whether the file could not be read. */
  readonly isUnreadable: boolean
}

/** Number of attempts for a file that changes while it is read. */
const MAX_ATTEMPTS = 3

async function findFile(path: string, { folder, cutter, before, same, size }: FileContext): Promise<FoundFile> {
  const known = before?.files.get(path)
  const last = before?.stamps.get(path)
  // Another tab may have updated the index since the survey.
  const isSame = same.has(path) && same.get(path) === last?.[3]
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const file = await folder.file(path)
    if (file === undefined) break
    const stamp: Stamp = [path, file.size, file.lastModified]
    if (known !== undefined && isSame && last?.[1] === file.size && last[2] === file.lastModified) {
      return { found: { type: 'known', chunked: known }, stamp: last, isUnreadable: false }
    }
    const refusal = cutter.findExceededLimit(file.size)
    if (refusal !== undefined) return { found: refusal, stamp, isUnreadable: false }
    try {
      return { found: { type: 'bytes', bytes: await bytesOf(file), isStable: true }, stamp, isUnreadable: false }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error
    }
  }
  // The file is still listed in the folder, so it was not deleted, and its last version is kept.
  if (known !== undefined && last !== undefined) {
    return { found: { type: 'known', chunked: known }, stamp: last, isUnreadable: true }
  }
  const message = 'left out: cannot be read'
  return { found: { type: 'left-out', code: 'unreadable', message, size }, isUnreadable: true }
}
