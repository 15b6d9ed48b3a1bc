import { kindOf } from '../../../src/core/chunk/kind.ts'
import { describeLoss } from '../../../src/core/folder/cut-files.ts'
import { type SkipReason, walkTree } from '../../../src/core/folder/walk-tree.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import type { OpenFolder } from '../folder/open-folder.ts'
import type { Stamp } from '../keep/shelf.ts'
import { readLeaveOut } from './leave-out.ts'
import type { Changes, SomeFiles, Survey } from './operations.ts'
import type { Task } from './task.ts'

/** Everything that was found in a folder. */
export interface Walked {
  readonly folder: OpenFolder
  /** Files that could be read, in the order in which they are. */
  readonly stamps: readonly Stamp[]
  readonly skipped: ReadonlyMap<SkipReason, readonly Skipped[]>
  /** What could not even be looked at, with a warning each. */
  readonly losses: readonly ChunkedFile[]
}

interface Skipped {
  readonly path: string
  readonly rule: string | null
}

/** A folder that was looked through, as it is to be read. */
export interface Surveyed extends Pick<Walked, 'folder' | 'losses'> {
  /** In the order in which files are read. */
  readonly paths: readonly string[]
  readonly sizes: ReadonlyMap<string, number>
  readonly survey: Survey
}

/** What a folder is looked at for. */
export interface Purpose {
  /** Patterns of files that are not to be read. */
  readonly leaveOut: string
  /** The index that is to be brought up to date: its files, and whether another version of this page cut them. */
  readonly before?: { readonly stamps: readonly Stamp[]; readonly isOtherBuild: boolean } | undefined
}

/** As many as fit on a screen. */
const MOST_SHOWN = 20

/** Sizes asked for at once. */
const AT_ONCE = 32

/** Looks through a folder without reading its files. */
export async function walkFolder(folder: OpenFolder, task: Task): Promise<Walked> {
  const paths: string[] = []
  const losses: ChunkedFile[] = []
  const skipped = new Map<SkipReason, Skipped[]>()
  for await (const entry of walkTree(folder, { signal: task.signal })) {
    if (entry.type === 'file') paths.push(entry.path)
    else losses.push(...describeLoss(entry))
    if (entry.type === 'skipped') {
      const group = skipped.get(entry.reason) ?? []
      skipped.set(entry.reason, group)
      group.push({ path: entry.path, rule: entry.rule })
    }
    task.progress({ stage: 'looking', done: paths.length, path: entry.path })
    await task.breathe()
  }
  paths.sort(compareUtf8)
  return { folder, stamps: await stampAll(folder, paths, task), skipped, losses }
}

/** Says what would be read, how large it is, and what is passed over. */
export function describeWalk(walked: Walked, { leaveOut, before }: Purpose): Surveyed {
  const rules = readLeaveOut(leaveOut)
  const stamps: Stamp[] = []
  const leftOut: Skipped[] = []
  for (const stamp of walked.stamps) {
    const rule = rules.file(stamp[0])
    if (rule === undefined) stamps.push(stamp)
    else leftOut.push({ path: stamp[0], rule })
  }
  const skipped = new Map(walked.skipped)
  if (leftOut.length > 0) skipped.set('ignored', [...leftOut, ...(walked.skipped.get('ignored') ?? [])])
  const survey: Survey = {
    name: walked.folder.name,
    mayHide: walked.folder.mayHide,
    files: stamps.length,
    bytes: stamps.reduce((sum, [, size]) => sum + size, 0),
    sizes: Float64Array.from(stamps, ([, size]) => size),
    largest: stamps
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MOST_SHOWN)
      .map(([path, bytes]) => ({ path, bytes })),
    kinds: countKinds(stamps),
    skipped: [...skipped]
      .map(([reason, all]) => ({ reason, count: all.length, examples: all.slice(0, MOST_SHOWN) }))
      .sort((a, b) => b.count - a.count),
    leaveOut,
    ...(before === undefined ? {} : { changes: compare(before.stamps, stamps, before.isOtherBuild) }),
  }
  return {
    folder: walked.folder,
    paths: stamps.map(([path]) => path),
    sizes: new Map(stamps.map(([path, size]) => [path, size])),
    losses: walked.losses.filter(({ file }) => rules.folderOf(file.path) === undefined),
    survey,
  }
}

async function stampAll(folder: OpenFolder, paths: readonly string[], task: Task): Promise<Stamp[]> {
  const stamps: Stamp[] = []
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE)
    const files = await Promise.all(some.map((path) => folder.file(path)))
    // One that is gone by now has no size; reading will say so.
    for (const [i, path] of some.entries()) stamps.push([path, files[i]?.size ?? 0, files[i]?.lastModified ?? 0])
    task.signal.throwIfAborted()
    task.progress({ stage: 'looking', done: stamps.length, total: paths.length })
    await task.breathe()
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

function compare(before: readonly Stamp[], now: readonly Stamp[], isOtherBuild: boolean): Changes {
  const gone = new Map(before.map((stamp) => [stamp[0], stamp]))
  const added: string[] = []
  const changed: string[] = []
  let same = 0
  for (const [path, size, changedAt] of now) {
    const stamp = gone.get(path)
    gone.delete(path)
    if (stamp === undefined) added.push(path)
    else if (stamp[1] === size && stamp[2] === changedAt) same++
    else changed.push(path)
  }
  return { added: some(added), changed: some(changed), removed: some([...gone.keys()]), same, isOtherBuild }
}

/** The first of many. */
export function some(paths: readonly string[]): SomeFiles {
  return { count: paths.length, examples: paths.slice(0, MOST_SHOWN) }
}
