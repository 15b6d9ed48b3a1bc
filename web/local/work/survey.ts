import { kindOf } from '../../../src/core/chunk/kind.ts'
import { describeLoss } from '../../../src/core/folder/cut-files.ts'
import { type SkipReason, walkTree } from '../../../src/core/folder/walk-tree.ts'
import type { ChunkedFile } from '../../../src/core/model.ts'
import { compareUtf8 } from '../../../src/core/text/order.ts'
import type { OpenFolder } from '../folder/open-folder.ts'
import type { Stamp } from '../keep/shelf.ts'
import type { Survey } from './operations.ts'
import type { Task } from './task.ts'

/** A folder that was looked through. */
export interface Surveyed {
  readonly folder: OpenFolder
  /** In the order in which files are read. */
  readonly paths: readonly string[]
  readonly sizes: ReadonlyMap<string, number>
  /** What could not even be looked at, with a warning each. */
  readonly losses: readonly ChunkedFile[]
  readonly survey: Survey
}

/** As many as fit on a screen. */
const MOST_SHOWN = 20

/** Sizes asked for at once. */
const AT_ONCE = 32

/** Looks through a folder: what would be read, how large it is, and what is passed over. `before` are the files of an index. */
export async function surveyFolder(
  folder: OpenFolder,
  before: readonly Stamp[] | undefined,
  task: Task,
): Promise<Surveyed> {
  const paths: string[] = []
  const losses: ChunkedFile[] = []
  const skipped = new Map<SkipReason, { path: string; rule: string | null }[]>()
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
  const stamps = await stampAll(folder, paths, task)
  const sizes = new Map(stamps.map(([path, size]) => [path, size]))
  const survey: Survey = {
    name: folder.name,
    files: paths.length,
    bytes: stamps.reduce((sum, [, size]) => sum + size, 0),
    largest: stamps
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, MOST_SHOWN)
      .map(([path, bytes]) => ({ path, bytes })),
    kinds: countKinds(stamps),
    skipped: [...skipped]
      .map(([reason, all]) => ({ reason, count: all.length, examples: all.slice(0, MOST_SHOWN) }))
      .sort((a, b) => b.count - a.count),
    ...(before === undefined ? {} : { changes: compare(before, stamps) }),
  }
  return { folder, paths, sizes, losses, survey }
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

function compare(before: readonly Stamp[], now: readonly Stamp[]): NonNullable<Survey['changes']> {
  const known = new Map(before.map((stamp) => [stamp[0], stamp]))
  const changes = { added: 0, changed: 0, removed: 0, same: 0 }
  for (const [path, size, changedAt] of now) {
    const stamp = known.get(path)
    if (stamp === undefined) changes.added++
    else if (stamp[1] === size && stamp[2] === changedAt) changes.same++
    else changes.changed++
  }
  changes.removed = before.length - changes.same - changes.changed
  return changes
}
