import type { Grammars } from '../../../src/core/chunk/code-grammars.ts'
import { codeLanguageOf } from '../../../src/core/chunk/languages.ts'
import { FileCutter, type Found, readAhead } from '../../../src/core/folder/cut-files.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { bytesOf } from '../folder/open-folder.ts'
import type { Content, Stamp } from '../keep/shelf.ts'
import type { Before } from './before.ts'
import type { Opened, Survey } from './operations.ts'
import { type SameFiles, type Surveyed, unreachable } from './survey.ts'
import type { Task } from './task.ts'

/** What came of the files of a folder. */
export interface ReadFolder extends Omit<Content, 'index' | 'vectors'> {
  readonly files: readonly ChunkedFile[]
  readonly counts: NonNullable<Opened['counts']>
}

/** Files read ahead at once. */
const AHEAD = 8

/** The coarsest clock of a file system in use ticks every two seconds. */
const SETTLE_MS = 2000

/** A time that no file has. */
export const UNSETTLED: number = -1

/** One file may be forbidden. So many in a row are a folder that is gone. */
const MOST_LOST = 3

/** Reads and cuts the files of a folder that was looked through; `before` is the index that they bring up to date. */
export async function readFolder(
  { folder, paths, sizes, same: unchanged, survey }: Surveyed,
  limits: Limits,
  grammars: Grammars | undefined,
  before: Before | undefined,
  task: Task,
): Promise<ReadFolder> {
  await grammars?.prepare(paths.flatMap((path) => codeLanguageOf(path)?.grammar ?? []))
  const cutter = new FileCutter({ ...limits, ...(grammars === undefined ? {} : { grammars }) })
  const openedAt = Date.now()
  const files: ChunkedFile[] = []
  const stamps: Stamp[] = []
  const images = new Map<string, Blob>()
  let chunks = 0
  let lost = 0
  // Whoever reads again what seems to be the same wants to know.
  const same: SameFiles = hasNews(survey) ? unchanged : new Map()
  const find = (path: string) => findFile(path, { folder, cutter, before, same, size: sizes.get(path) ?? 0 })
  for await (const [path, { found, stamp, isLost }] of readAhead(paths, find, { ahead: AHEAD, signal: task.signal })) {
    // Said before, since a large file takes its time.
    task.progress({ stage: 'reading', done: files.length, total: paths.length, chunks, path })
    lost = isLost ? lost + 1 : 0
    if (isLost && (lost >= MOST_LOST || before !== undefined) && !(await folder.isThere())) throw unreachable()
    // What was cut otherwise cannot stay, and would be gone with no more than a warning.
    if (lost >= MOST_LOST && found.type === 'left-out' && before?.stamps.has(path)) throw unreachable()
    const cut = cutter.cut(path, found, before?.files.get(path)).chunked
    const chunked = isLost && found.type === 'known' ? asBefore(cut) : cut
    files.push(chunked)
    chunks += chunked.chunks.length
    if (chunked.file.kind === 'image' && chunked.chunks.length > 0) {
      images.set(
        path,
        found.type === 'bytes' ? new Blob([found.bytes as Uint8Array<ArrayBuffer>]) : imageOf(before, path),
      )
    }
    // A file written in the last moments could change again within the clock's step and look the same: it is noted without a time.
    const isSettled = stamp !== undefined && (found.type === 'known' || stamp[2] < openedAt - SETTLE_MS)
    if (stamp !== undefined) {
      const [, size, changedAt, sha256 = chunked.file.sha256] = stamp
      const at = isSettled ? changedAt : UNSETTLED
      // What was not read has no digest.
      stamps.push(sha256 === '' ? [path, size, at] : [path, size, at, sha256])
    }
    await task.breathe()
  }
  const { filesCut, filesUnchanged } = cutter.counts
  return { files, stamps, images, counts: { cut: filesCut, unchanged: filesUnchanged } }
}

/** Whether an update found anything to do. */
function hasNews({ changes }: Survey): boolean {
  return changes !== undefined && changes.added.count + changes.changed.count + changes.removed.count > 0
}

/** A file that cannot be read, as it was the last time that it could. */
function asBefore(chunked: ChunkedFile): ChunkedFile {
  const { path } = chunked.file
  const message = 'cannot be read now; this is what it was before'
  return { ...chunked, warnings: [...chunked.warnings, { path, code: 'unreadable', message }] }
}

function imageOf(before: Before | undefined, path: string): Blob {
  return before?.images.get(path) ?? new Blob()
}

interface Finding {
  readonly folder: Surveyed['folder']
  readonly cutter: FileCutter
  readonly before: Before | undefined
  readonly same: SameFiles
  /** What it was when the folder was looked through. */
  readonly size: number
}

interface FoundFile {
  readonly found: Found
  readonly stamp?: Stamp
  /** Whether it could not be read. */
  readonly isLost: boolean
}

/** A file that changes while it is read is opened again as often. */
const TRIES = 3

async function findFile(path: string, { folder, cutter, before, same, size }: Finding): Promise<FoundFile> {
  const known = before?.files.get(path)
  const last = before?.stamps.get(path)
  // Another tab may have brought the index further since the folder was looked through.
  const isSame = same.has(path) && same.get(path) === last?.[3]
  for (let left = TRIES; left > 0; left--) {
    const file = await folder.file(path)
    if (file === undefined) break
    const stamp: Stamp = [path, file.size, file.lastModified]
    if (known !== undefined && isSame && last?.[1] === file.size && last[2] === file.lastModified) {
      return { found: { type: 'known', chunked: known }, stamp: last, isLost: false }
    }
    const refusal = cutter.refuse(file.size)
    if (refusal !== undefined) return { found: refusal, stamp, isLost: false }
    try {
      return { found: { type: 'bytes', bytes: await bytesOf(file), isStable: true }, stamp, isLost: false }
    } catch (error) {
      if (!(error instanceof DOMException)) throw error
    }
  }
  // It stands in the folder still: nobody took it away.
  if (known !== undefined && last !== undefined) {
    return { found: { type: 'known', chunked: known }, stamp: last, isLost: true }
  }
  const message = 'left out: cannot be read'
  return { found: { type: 'left-out', code: 'unreadable', message, size }, isLost: true }
}
