import { type FSWatcher, watch } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PharosError } from '../core/errors.ts'
import type { PathSelection } from '../core/folder/path-selection.ts'
import type { TreeEntry, TreeWatch, WatchListener } from '../library/ports/tree.ts'
import type { FilePages } from './read-file-page.ts'
import { describeEntry, type FolderReaderOptions, openFolder, writeStamp } from './read-folder.ts'
import { isSystemError, walkFolder } from './walk-folder.ts'

/** Poll interval where the system cannot report changes. */
const POLL_INTERVAL_MS = 10_000

/** The pause after a poll is at least this multiple of its duration. */
const POLL_PAUSE_FACTOR = 10

/** Watches a local folder. Nothing is watched before the first walk. */
export async function watchFolder(
  address: string,
  pages: FilePages,
  options: FolderReaderOptions,
  listener: WatchListener,
): Promise<TreeWatch> {
  // A folder that may not be opened may not be watched either.
  const { url, folderId, close } = await openFolder(address, pages, options)
  await close()
  if (!url.endsWith('/')) {
    throw new PharosError('SOURCE_UNREADABLE', {
      path: fileURLToPath(url),
      problem: 'it is a file',
      advice: 'name a folder',
    })
  }
  return new FolderWatch({ root: fileURLToPath(url), folderId, exclude: options.exclude ?? [], listener })
}

interface WatchedFolder {
  readonly root: string
  readonly folderId: string
  readonly exclude: readonly string[]
  readonly listener: WatchListener
}

/**
 * Watches each folder that a walk visits, so that skipped folders cost nothing and the rules are those of the walk. A folder is watched
 * before it is listed, so that no change is missed. Node's recursive watch is not used: it would take one of the system's few watches for
 * each file, even for excluded files, while a watch on a folder reports all its files.
 */
class FolderWatch implements TreeWatch {
  readonly folderId: string
  readonly #root: string
  readonly #exclude: readonly string[]
  readonly #excluded: ReadonlySet<string>
  readonly #listener: WatchListener
  /** Watchers by folder path, which ends in a slash. The path of the root is empty. */
  readonly #watchers = new Map<string, FSWatcher>()
  polling: TreeWatch['polling'] = null
  #stamps: ReadonlyMap<string, string> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ root, folderId, exclude, listener }: WatchedFolder) {
    this.#root = root
    this.folderId = folderId
    this.#exclude = exclude
    this.#excluded = new Set(exclude)
    this.#listener = listener
    if (listener.pollMs !== undefined) this.polling = { problem: 'a poll interval is set', everyMs: listener.pollMs }
  }

  get folders(): number {
    return this.#watchers.size
  }

  async *walk(focus: PathSelection | undefined, signal: AbortSignal): AsyncIterable<TreeEntry> {
    await this.#requireSame()
    const wasWatching = this.polling === null
    // Closes old watchers, because a moved folder would be reported under its old name.
    for (const [folder, watcher] of this.#watchers) {
      if (focus !== undefined && !focus.contains(folder.slice(0, -1))) continue
      if (focus !== undefined && folder === '') continue
      this.#watchers.delete(folder)
      watcher.close()
    }
    const onFolder = (folder: string) => this.#watch(folder)
    for await (const entry of walkFolder(this.#root, { focus, onFolder, exclude: this.#exclude, signal })) {
      const found = describeEntry(entry)
      if (found?.type === 'unreadable' && found.path === '') throw this.#missing()
      if (found !== undefined) yield found
    }
    if (this.polling !== null && this.#timer === undefined) {
      // Polling finds later changes by comparing with these stamps. The walk has seen earlier changes.
      this.#stamps = await this.#listStamps(signal)
      if (wasWatching && focus !== undefined) this.#listener.onChange('')
      this.#pollLater(this.polling.everyMs)
    }
  }

  async readStamp(path: string): Promise<string | null> {
    const stats = await lstat(join(this.#root, path)).catch(() => undefined)
    return stats === undefined ? null : `${stats.ino} ${writeStamp(stats)}`
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#closeAll()
  }

  #closeAll(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watch(folder: string): void {
    if (this.#isClosed || this.polling !== null || this.#watchers.has(folder)) return
    try {
      const watcher = watch(join(this.#root, folder), { encoding: 'buffer' }, (_, name) => this.#onEvent(folder, name))
      watcher.on('error', () => this.#listener.onChange(folder.slice(0, -1)))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      if (!isSystemError(error)) throw error
      // The walk reports a folder that is gone or unreadable.
      if (error.code === 'ENOSPC' || error.code === 'EMFILE') this.#fallBackToPolling(describeLimit(error.code))
    }
  }

  #onEvent(folder: string, name: Buffer | null): void {
    const path = folder + (name?.toString('utf8') ?? '')
    // Names that are not valid text are never part of a library.
    if (name !== null && !Buffer.from(path.slice(folder.length)).equals(name)) return
    if (!this.#excluded.has(join(this.#root, path))) this.#listener.onChange(path.replace(/\/$/, ''))
  }

  #fallBackToPolling(problem: string): void {
    this.#closeAll()
    this.polling = { problem, everyMs: POLL_INTERVAL_MS }
  }

  #pollLater(ms: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#compareStamps(ms), ms)
  }

  async #compareStamps(ms: number): Promise<void> {
    const startedAt = performance.now()
    try {
      const stamps = await this.#listStamps()
      const before = this.#stamps ?? new Map<string, string>()
      for (const [path, stamp] of stamps) if (before.get(path) !== stamp) this.#listener.onChange(path)
      for (const path of before.keys()) if (!stamps.has(path)) this.#listener.onChange(path)
      this.#stamps = stamps
    } catch {
      // A full walk then reports what is wrong.
      this.#listener.onChange('')
    }
    // The pause keeps a large folder, or one on a slow disk, from being polled all the time.
    this.#pollLater(Math.max(this.polling?.everyMs ?? ms, POLL_PAUSE_FACTOR * (performance.now() - startedAt)))
  }

  /** The stamps of all files that are read. */
  async #listStamps(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const stamps = new Map<string, string>()
    for await (const entry of walkFolder(this.#root, { exclude: this.#exclude, signal })) {
      const found = describeEntry(entry)
      if (found?.type !== 'file') continue
      const stamp = await this.readStamp(entry.path)
      if (stamp !== null) stamps.set(entry.path, stamp)
    }
    return stamps
  }

  async #requireSame(): Promise<void> {
    const stats = await stat(this.#root).catch(() => undefined)
    if (stats === undefined || `${stats.dev}:${stats.ino}` !== this.folderId) throw this.#missing()
  }

  #missing(): PharosError {
    return new PharosError('SOURCE_NOT_FOUND', { path: this.#root })
  }
}

function describeLimit(code: 'ENOSPC' | 'EMFILE'): string {
  const isWatchLimit = code === 'ENOSPC'
  const limit = isWatchLimit ? 'watched folders' : 'watching programs'
  const setting = isWatchLimit ? 'max_user_watches' : 'max_user_instances'
  return `the system allows no more ${limit} (${code}); raise fs.inotify.${setting} with sysctl`
}
