import { kindOf } from '../../../src/core/chunk/kind.ts'
import { PharosError } from '../../../src/core/errors.ts'
import { createSkipWarnings, readAhead } from '../../../src/core/folder/cut-files.ts'
import {
  isPackFolder,
  isPackManifest,
  PACK_MANIFEST,
  type SkipReason,
  walkTree,
} from '../../../src/core/folder/walk-tree.ts'
import { sha256 } from '../../../src/core/hash.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import { bytesOf, type OpenFolder, orUndefined } from '../folder/open-folder.ts'
import type { Stamp } from '../keep/index-store.ts'
import { UserError } from '../user-error.ts'
import { parseExclusions } from './exclusions.ts'
import type { Changes, FileSample, Survey } from './operations.ts'
import type { Task } from './task.ts'

/** The result of walking a folder. */
export interface WalkedFolder {
  readonly folder: OpenFolder
  /** The readable files, in reading order. */
  readonly stamps: readonly Stamp[]
  readonly skipped: ReadonlyMap<SkipReason, readonly Skipped[]>
  /** Entries that could not be inspected, each with a warning. */
  readonly losses: readonly ChunkedFile[]
}

interface Skipped {
  readonly path: string
  readonly rule: string | null
}

/** A surveyed folder, ready to be read. */
export interface SurveyedFolder extends Pick<WalkedFolder, 'folder' | 'losses'> {
  /** In reading order. */
  readonly paths: readonly string[]
  readonly sizes: ReadonlyMap<string, number>
  readonly same: UnchangedFiles
  readonly survey: Survey
}

/** The files that are unchanged since an index was made, each with the digest that the index has of it, if any. */
export type UnchangedFiles = ReadonlyMap<string, string | undefined>

/** The parameters of a survey. */
export interface SurveyOptions {
  /** Exclusion patterns. */
  readonly leaveOut: string
  /** The index to update: the stamps of its files, the files that are unchanged, and whether another build made it. */
  readonly before?:
    | { readonly stamps: readonly Stamp[]; readonly same: UnchangedFiles; readonly isOtherBuild: boolean }
    | undefined
}

/** Maximum number of examples, enough for one screen. */
const MAX_EXAMPLES = 20

/** Number of sizes requested concurrently. */
const STAT_CONCURRENCY = 32

/** Number of files read ahead. */
const READ_AHEAD = 8

/** Walks a folder without reading its files. */
export async function walkFolder(folder: OpenFolder, task: Task): Promise<WalkedFolder> {
  if ((await folder.list('')) === undefined) throw unreachableError()
  if (await isPack(folder)) throw new PharosError('SOURCE_IS_PACK', { path: folder.name })
  const paths: string[] = []
  const losses: ChunkedFile[] = []
  const skipped = new Map<SkipReason, Skipped[]>()
  for await (const entry of walkTree(folder, { signal: task.signal })) {
    if (entry.type === 'file') paths.push(entry.path)
    else losses.push(...createSkipWarnings(entry))
    if (entry.type === 'skipped') {
      const group = skipped.get(entry.reason) ?? []
      skipped.set(entry.reason, group)
      group.push({ path: entry.path, rule: entry.rule })
    }
    task.progress({ stage: 'looking', done: paths.length, path: entry.path })
    await task.yieldIfDue()
  }
  // The files of an unreachable folder would look as if they had been removed.
  if (skipped.has('unreadable') && !(await folder.isAccessible())) throw unreachableError()
  if (paths.length + skipped.size === 0) {
    throw new UserError(`There is nothing in ${folder.name}.`, 'Choose a folder that has files in it.')
  }
  paths.sort(compareUtf8)
  return { folder, stamps: await readStamps(folder, paths, task), skipped, losses }
}

/** The error for a folder that is no longer accessible. */
export function unreachableError(): UserError {
  const advice =
    'The stored index is unchanged. Connect the drive again, or allow the page to read the folder, then choose it again.'
  return new UserError('The folder can no longer be read.', advice)
}

async function isPack(folder: OpenFolder): Promise<boolean> {
  return isPackFolder(folder.name) || isPackManifest(await folder.readBeginning(PACK_MANIFEST, MAGIC_BYTES))
}

/** Number of bytes to read: more than the prefix that identifies a manifest. */
const MAGIC_BYTES = 64

/**
 * Finds the files that are unchanged since an index was made. Equal size and time are sufficient in the same folder if no other file has
 * that time: unpacking an archive can give all files, and those of its next version, the same time. Otherwise the bytes are compared,
 * unless the file was never read.
 */
export async function findUnchanged(
  { folder, stamps }: WalkedFolder,
  before: { readonly stamps: readonly Stamp[]; readonly isSameFolder: boolean },
  task: Task,
): Promise<UnchangedFiles> {
  const known = new Map(before.stamps.map((stamp) => [stamp[0], stamp]))
  const times = new Map<number, number>()
  for (const [, , changedAt] of stamps) times.set(changedAt, (times.get(changedAt) ?? 0) + 1)
  const same = new Map<string, string | undefined>()
  const doubtful: string[] = []
  for (const [path, size, changedAt] of stamps) {
    const last = known.get(path)
    if (last?.[1] !== size || last[2] !== changedAt) continue
    const isCertain = last[3] === undefined || (before.isSameFolder && times.get(changedAt) === 1)
    if (isCertain) same.set(path, last[3])
    else doubtful.push(path)
  }
  const digest = async (path: string) => (await orUndefined(() => digestFile(folder, path))) ?? ''
  let done = 0
  for await (const [path, foundDigest] of readAhead(doubtful, digest, { ahead: READ_AHEAD, signal: task.signal })) {
    if (foundDigest === known.get(path)?.[3]) same.set(path, foundDigest)
    task.progress({ stage: 'looking', done: ++done, total: doubtful.length, path })
    await task.yieldIfDue()
  }
  return same
}

async function digestFile(folder: OpenFolder, path: string): Promise<string | undefined> {
  const file = await folder.file(path)
  return file === undefined ? undefined : sha256(await bytesOf(file))
}

/** Describes what would be read, its size, and what is skipped. */
export function describeWalk(walked: WalkedFolder, { leaveOut, before }: SurveyOptions): SurveyedFolder {
  const rules = parseExclusions(leaveOut)
  const stamps: Stamp[] = []
  const leftOut: Skipped[] = []
  for (const stamp of walked.stamps) {
    const rule = rules.matchFile(stamp[0])
    if (rule === undefined) stamps.push(stamp)
    else leftOut.push({ path: stamp[0], rule })
  }
  const skipped = new Map(walked.skipped)
  if (leftOut.length > 0) skipped.set('ignored', [...leftOut, ...(walked.skipped.get('ignored') ?? [])])
  const survey: Survey = {
    name: walked.folder.name,
    mayHideFiles: walked.folder.mayHideFiles,
    files: stamps.length,
    bytes: stamps.reduce((sum, [, size]) => sum + size, 0),
    sizes: Float64Array.from(stamps, ([, size]) => size),
    largest: stamps
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MAX_EXAMPLES)
      .map(([path, bytes]) => ({ path, bytes })),
    kinds: countKinds(stamps),
    skipped: [...skipped]
      .map(([reason, all]) => ({ reason, count: all.length, examples: all.slice(0, MAX_EXAMPLES) }))
      .sort((a, b) => b.count - a.count),
    leaveOut,
    ...(before === undefined ? {} : { changes: compare(before, stamps) }),
  }
  return {
    folder: walked.folder,
    paths: stamps.map(([path]) => path),
    sizes: new Map(stamps.map(([path, size]) => [path, size])),
    losses: walked.losses.filter(({ file }) => rules.matchParent(file.path) === undefined),
    same: before?.same ?? new Map(),
    survey,
  }
}

async function readStamps(folder: OpenFolder, paths: readonly string[], task: Task): Promise<Stamp[]> {
  const stamps: Stamp[] = []
  for (let at = 0; at < paths.length; at += STAT_CONCURRENCY) {
    const batch = paths.slice(at, at + STAT_CONCURRENCY)
    const files = await Promise.all(batch.map((path) => folder.file(path)))
    // A file that is gone by now has no size; reading it reports the error.
    for (const [i, path] of batch.entries()) stamps.push([path, files[i]?.size ?? 0, files[i]?.lastModified ?? 0])
    task.signal.throwIfAborted()
    task.progress({ stage: 'looking', done: stamps.length, total: paths.length })
    await task.yieldIfDue()
  }
  return stamps
}

function countKinds(stamps: readonly Stamp[]): Survey['kinds'] {
  const kinds = new Map<string, { kind: string; files: number; bytes: number }>()
  for (const [path, size] of stamps) {
    const kind = kindOf(path)
    const sum = kinds.get(kind) ?? { kind, files: 0, bytes: 0 }
    kinds.set(kind, sum)
    sum.files++
    sum.bytes += size
  }
  return [...kinds.values()].sort((a, b) => b.bytes - a.bytes)
}

function compare(before: NonNullable<SurveyOptions['before']>, now: readonly Stamp[]): Changes {
  const gone = new Set(before.stamps.map(([path]) => path))
  const added: string[] = []
  const changed: string[] = []
  let same = 0
  for (const [path] of now) {
    if (!gone.delete(path)) added.push(path)
    else if (before.same.has(path)) same++
    else changed.push(path)
  }
  const { isOtherBuild } = before
  return {
    added: sampleFiles(added),
    changed: sampleFiles(changed),
    removed: sampleFiles([...gone]),
    same,
    isOtherBuild,
  }
}

/** Counts files and takes the first ones as examples. */
export function sampleFiles(paths: readonly string[]): FileSample {
  return { count: paths.length, examples: paths.slice(0, MAX_EXAMPLES) }
}
