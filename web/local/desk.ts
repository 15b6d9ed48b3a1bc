import { type Signal, signal } from '@preact/signals'
import type { Limits } from '../../src/core/limits.ts'
import { DEFAULT_LIMITS } from '../../src/core/limits.ts'
import type { GivenFolder } from './folder/given-folder.ts'
import type { Kept } from './keep/shelf.ts'
import { askToStay } from './keep-asked.ts'
import { go, indexHref, route } from './route.ts'
import { type Told, tell } from './trouble.ts'
import { type AskOptions, connectWork, type Work } from './work/connect.ts'
import { handOver } from './work/hand-over.ts'
import type { Opened, OperationName, Operations, Progress, ShelfView, Survey } from './work/operations.ts'

/** A folder that was surveyed and can now be read. */
export interface Prepared {
  readonly survey: Survey
  /** The index to update; null for a new one. */
  readonly update: Kept | null
  readonly limits: Limits
}

/** An operation that blocks the page until it ends. */
export interface Running {
  readonly title: string
  /** Whether leaving the page would discard a substantial amount of work. */
  readonly isLong: boolean
  readonly progress: Progress | null
  readonly stop: () => void
}

/** The progress of the embeddings for semantic search. */
export interface Meaning {
  /** `off` means that semantic search is unavailable; `told` has the reason if there is one. */
  readonly state: 'making' | 'whole' | 'off'
  /** The share of chunks that have an embedding, in percent. */
  readonly percent: number
  readonly told: Told | null
}

/** The state of the page: at most one survey, one open index and one running operation. */
export const prepared: Signal<Prepared | null> = signal(null)
export const opened: Signal<Opened | null> = signal(null)
/** The index that could not be opened, and why. It is not retried automatically. */
export const unopened: Signal<{ readonly id: string; readonly told: Told | null } | null> = signal(null)
export const running: Signal<Running | null> = signal(null)
export const shelf: Signal<ShelfView | null> = signal(null)
/** The error of the last operation. */
export const trouble: Signal<Told | null> = signal(null)
/** The progress of the embeddings of the open index; null until the first report. */
export const meaning: Signal<Meaning | null> = signal(null)
/** The announcement for screen readers. */
export const said: Signal<string> = signal('')

// Leaving a page cancels its running operation.
route.subscribe(() => running.peek()?.stop())

let embedding: { readonly key: string; readonly stop: AbortController } | undefined

// An opened index can be searched by words immediately, while its embeddings are computed in the background.
opened.subscribe((index) => {
  const key = index === null ? '' : `${index.kept.id} ${index.kept.indexId} ${index.kept.updatedAt}`
  if (key === (embedding?.key ?? '')) return
  embedding?.stop.abort()
  embedding = { key, stop: new AbortController() }
  meaning.value = null
  if (index !== null) void embed(embedding.stop.signal)
})

async function embed(signal: AbortSignal): Promise<void> {
  const say = (said: Meaning) => {
    if (!signal.aborted) meaning.value = said
  }
  say({ state: 'making', percent: 0, told: null })
  try {
    const { isWhole } = await ask(
      'embed',
      {},
      {
        signal,
        onProgress: ({ done, total = 0 }) => {
          say({ state: 'making', percent: total === 0 ? 0 : Math.floor((100 * done) / total), told: null })
        },
      },
    )
    say({ state: isWhole ? 'whole' : 'off', percent: isWhole ? 100 : 0, told: null })
  } catch (error) {
    say({ state: 'off', percent: 0, told: tell(error) })
  }
}

let work: Promise<Work> | undefined

/** Sends a request to the session, which starts with the first request. */
export async function ask<Name extends OperationName>(
  name: Name,
  what: Parameters<Operations[Name]>[0],
  options?: AskOptions,
): Promise<ReturnType<Operations[Name]>> {
  return (await connect()).ask(name, what, options)
}

function connect(): Promise<Work> {
  work ??= connectWork()
  return work
}

/** Whether the operation was cancelled, which is not an error. */
export function isStopped(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Surveys a folder and shows the result before any file is read. */
export async function lookThrough(folder: GivenFolder, update: Kept | null = null): Promise<void> {
  const survey = await runWhole({ title: `Looking through ${folder.name}`, isLong: false }, async (options) => {
    const handed = await handOver(folder, await connect(), options)
    return ask('survey', { folder: handed, update: update?.id }, options)
  })
  if (survey === undefined) return
  prepared.value = { survey, update, limits: update?.limits ?? DEFAULT_LIMITS }
  go('#/preview')
}

/** Repeats the survey with other exclusion patterns, or as an update of another index. */
export async function revise(leaveOut: string, update: Kept | null): Promise<void> {
  await attempt(async () => {
    const survey = await ask('revise', { leaveOut, update: update?.id })
    const { value } = prepared
    if (value === null) return
    const isSame = update?.id === value.update?.id
    prepared.value = { survey, update, limits: isSame ? value.limits : (update?.limits ?? DEFAULT_LIMITS) }
  })
}

/** Reads the surveyed folder. Cancelling returns to the preview. */
export async function readPrepared(): Promise<void> {
  const { value } = prepared
  if (value === null) return
  const { survey, limits } = value
  const what = { title: `Reading ${survey.name}`, isLong: true }
  const index = await runWhole(what, (options) => ask('ingest', { limits }, options))
  if (index !== undefined) showIndex(index, true)
}

/** Opens a pack, or an `index.json`. */
export async function importFile(file: File): Promise<void> {
  const what = { title: `Opening ${file.name}`, isLong: true }
  const index = await runWhole(what, (options) => ask('importPack', { file }, options))
  if (index !== undefined) showIndex(index, false)
}

/** Opens a kept index, unless it is already open or has just failed to open. */
export async function openKept(id: string): Promise<void> {
  if (opened.value?.kept.id === id || unopened.value?.id === id) return
  let told: Told | null = null
  const index = await runWhole({ title: 'Opening the index', isLong: false }, async (options) => {
    try {
      return await ask('open', { id }, options)
    } catch (error) {
      if (!isStopped(error)) told = tell(error)
      return undefined
    }
  })
  if (index === undefined) unopened.value = { id, told }
  else opened.value = index
}

/** Tries again to save the open index. */
export async function keepOpened(): Promise<void> {
  const name = opened.value?.kept.name ?? ''
  const index = await runWhole({ title: `Keeping ${name}`, isLong: true }, (options) => ask('keep', {}, options))
  if (index === undefined) return
  opened.value = index
  if (index.unkept === null) said.value = `${name} is kept.`
}

/** Reloads the list of kept indexes and the storage usage. */
export async function readShelf(): Promise<void> {
  try {
    shelf.value = await ask('shelf', {})
  } catch (error) {
    trouble.value = tell(error)
  }
}

/** Renames a kept index. */
export async function rename(id: string, name: string): Promise<void> {
  await attempt(async () => {
    await ask('rename', { id, name })
    const { value } = opened
    if (value?.kept.id === id) opened.value = { ...value, kept: { ...value.kept, name } }
    await readShelf()
    said.value = `It is called ${name} now.`
  })
}

/** Deletes a kept index. The folder it was made from is not touched. */
export async function remove({ id, name }: Kept): Promise<void> {
  await attempt(async () => {
    await ask('remove', { id })
    // An open update that could not be saved stays open, although the version it should replace is deleted.
    if (opened.value?.kept.id === id && opened.value.unkept === null) opened.value = null
    if (route.value.page === 'index') go('#/', true)
    await readShelf()
    said.value = `${name} is deleted.`
    // The focused button no longer exists, so the focus moves to a heading.
    const heading = document.querySelector<HTMLElement>('#kept-title') ?? document.querySelector<HTMLElement>('main h1')
    heading?.focus()
  })
}

function showIndex(index: Opened, replace: boolean): void {
  prepared.value = null
  opened.value = index
  if (index.unkept === null) void askToStay()
  go(indexHref(index.kept.id), replace)
}

/** Runs an operation that may fail. A failure is shown; a cancellation is not. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  trouble.value = null
  try {
    await work()
  } catch (error) {
    if (!isStopped(error)) trouble.value = tell(error)
  }
}

/** Runs an operation that blocks the page. Returns undefined if it failed or was cancelled. */
async function runWhole<T>(
  what: Pick<Running, 'title' | 'isLong'>,
  work: (options: AskOptions) => Promise<T>,
): Promise<T | undefined> {
  if (running.value !== null) return undefined
  const stop = new AbortController()
  running.value = { ...what, progress: null, stop: () => stop.abort() }
  let result: T | undefined
  await attempt(async () => {
    result = await work({
      signal: stop.signal,
      onProgress: (progress) => {
        if (running.value !== null) running.value = { ...running.value, progress }
      },
    })
  })
  running.value = null
  // The operation may have finished just as it was cancelled.
  return stop.signal.aborted ? undefined : result
}
