import { type Signal, signal } from '@preact/signals'
import type { Limits } from '../../src/core/limits.ts'
import { DEFAULT_LIMITS } from '../../src/core/limits.ts'
import type { GivenFolder } from './folder/given-folder.ts'
import type { StoredIndex } from './keep/index-store.ts'
import { requestPersistence } from './request-persistence.ts'
import { go, indexHref, route } from './route.ts'
import { describeError, type ErrorMessage } from './user-error.ts'
import { connectSession, type RequestOptions, type SessionConnection } from './work/connect.ts'
import type { OpenedIndex, OperationName, Operations, Progress, StoredIndexes, Survey } from './work/operations.ts'
import { sendFolder } from './work/send-folder.ts'

/** A folder that was surveyed and can now be read. */
export interface PreparedFolder {
  readonly survey: Survey
  /** The index to update; null for a new one. */
  readonly update: StoredIndex | null
  readonly limits: Limits
}

/** An operation that blocks the page until it ends. */
export interface RunningOperation {
  readonly title: string
  /** Whether leaving the page would discard a substantial amount of work. */
  readonly isLong: boolean
  readonly progress: Progress | null
  readonly stop: () => void
}

/** The progress of the embeddings for semantic search. */
export interface EmbeddingProgress {
  /** `off` means that semantic search is unavailable; `error` has the reason if there is one. */
  readonly state: 'making' | 'whole' | 'off'
  /** The share of chunks that have an embedding, in percent. */
  readonly percent: number
  readonly error: ErrorMessage | null
}

/** The state of the page: at most one survey, one open index and one running operation. */
export const preparedFolder: Signal<PreparedFolder | null> = signal(null)
export const openedIndex: Signal<OpenedIndex | null> = signal(null)
/** The index that could not be opened, and why. Opening it is not retried automatically. */
export const failedIndex: Signal<{ readonly id: string; readonly error: ErrorMessage | null } | null> = signal(null)
export const runningOperation: Signal<RunningOperation | null> = signal(null)
export const storedIndexes: Signal<StoredIndexes | null> = signal(null)
/** The error of the last operation. */
export const lastError: Signal<ErrorMessage | null> = signal(null)
/** The progress of the embeddings of the open index; null until the first report. */
export const embeddingProgress: Signal<EmbeddingProgress | null> = signal(null)
/** The announcement for screen readers. */
export const announcement: Signal<string> = signal('')

// Leaving a page cancels its running operation.
route.subscribe(() => runningOperation.peek()?.stop())

let embedding: { readonly key: string; readonly stop: AbortController } | undefined

// An opened index can be searched by words immediately, while its embeddings are computed in the background.
openedIndex.subscribe((index) => {
  const key = index === null ? '' : `${index.stored.id} ${index.stored.indexId} ${index.stored.updatedAt}`
  if (key === (embedding?.key ?? '')) return
  embedding?.stop.abort()
  embedding = { key, stop: new AbortController() }
  embeddingProgress.value = null
  if (index !== null) void embed(embedding.stop.signal)
})

async function embed(signal: AbortSignal): Promise<void> {
  const report = (progress: EmbeddingProgress) => {
    if (!signal.aborted) embeddingProgress.value = progress
  }
  report({ state: 'making', percent: 0, error: null })
  try {
    const { isWhole } = await ask(
      'embed',
      {},
      {
        signal,
        onProgress: ({ done, total = 0 }) => {
          report({ state: 'making', percent: total === 0 ? 0 : Math.floor((100 * done) / total), error: null })
        },
      },
    )
    report({ state: isWhole ? 'whole' : 'off', percent: isWhole ? 100 : 0, error: null })
  } catch (error) {
    report({ state: 'off', percent: 0, error: describeError(error) })
  }
}

let session: Promise<SessionConnection> | undefined

/** Sends a request to the session, which starts with the first request. */
export async function ask<Name extends OperationName>(
  name: Name,
  input: Parameters<Operations[Name]>[0],
  options?: RequestOptions,
): Promise<ReturnType<Operations[Name]>> {
  return (await connect()).ask(name, input, options)
}

function connect(): Promise<SessionConnection> {
  session ??= connectSession()
  return session
}

/** Whether the operation was cancelled, which is not an error. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Surveys a folder and shows the result before any file is read. */
export async function surveyFolder(folder: GivenFolder, update: StoredIndex | null = null): Promise<void> {
  const survey = await runBlocking({ title: `Scanning ${folder.name}`, isLong: false }, async (options) => {
    const sentFolder = await sendFolder(folder, await connect(), options)
    return ask('survey', { folder: sentFolder, update: update?.id }, options)
  })
  if (survey === undefined) return
  preparedFolder.value = { survey, update, limits: update?.limits ?? DEFAULT_LIMITS }
  go('#/preview')
}

/** Repeats the survey with other exclusion patterns, or as an update of another index. */
export async function repeatSurvey(leaveOut: string, update: StoredIndex | null): Promise<void> {
  await attempt(async () => {
    const survey = await ask('revise', { leaveOut, update: update?.id })
    const { value } = preparedFolder
    if (value === null) return
    const isSame = update?.id === value.update?.id
    preparedFolder.value = { survey, update, limits: isSame ? value.limits : (update?.limits ?? DEFAULT_LIMITS) }
  })
}

/** Reads the surveyed folder. Cancelling returns to the preview. */
export async function readPreparedFolder(): Promise<void> {
  const { value } = preparedFolder
  if (value === null) return
  const { survey, limits } = value
  const operation = { title: `Reading ${survey.name}`, isLong: true }
  const index = await runBlocking(operation, (options) => ask('ingest', { limits }, options))
  if (index !== undefined) showIndex(index, true)
}

/** Opens a pack, or an `index.json`. */
export async function importFile(file: File): Promise<void> {
  const operation = { title: `Opening ${file.name}`, isLong: true }
  const index = await runBlocking(operation, (options) => ask('importPack', { file }, options))
  if (index !== undefined) showIndex(index, false)
}

/** Opens a kept index, unless it is already open or has just failed to open. */
export async function openStoredIndex(id: string): Promise<void> {
  if (openedIndex.value?.stored.id === id || failedIndex.value?.id === id) return
  let openError: ErrorMessage | null = null
  const index = await runBlocking({ title: 'Opening the index', isLong: false }, async (options) => {
    try {
      return await ask('open', { id }, options)
    } catch (error) {
      if (!isCancelled(error)) openError = describeError(error)
      return undefined
    }
  })
  if (index === undefined) failedIndex.value = { id, error: openError }
  else openedIndex.value = index
}

/** Tries again to save the open index. */
export async function saveOpenedIndex(): Promise<void> {
  const name = openedIndex.value?.stored.name ?? ''
  const index = await runBlocking({ title: `Keeping ${name}`, isLong: true }, (options) => ask('keep', {}, options))
  if (index === undefined) return
  openedIndex.value = index
  if (index.saveError === null) announcement.value = `${name} is kept.`
}

/** Reloads the list of kept indexes and the storage usage. */
export async function loadStoredIndexes(): Promise<void> {
  try {
    storedIndexes.value = await ask('shelf', {})
  } catch (error) {
    lastError.value = describeError(error)
  }
}

/** Renames a kept index. */
export async function rename(id: string, name: string): Promise<void> {
  await attempt(async () => {
    await ask('rename', { id, name })
    const { value } = openedIndex
    if (value?.stored.id === id) openedIndex.value = { ...value, stored: { ...value.stored, name } }
    await loadStoredIndexes()
    announcement.value = `Renamed to ${name}.`
  })
}

/** Deletes a kept index. The folder it was made from is not touched. */
export async function remove({ id, name }: StoredIndex): Promise<void> {
  await attempt(async () => {
    await ask('remove', { id })
    // An open update that could not be saved stays open, although the version it should replace is deleted.
    if (openedIndex.value?.stored.id === id && openedIndex.value.saveError === null) openedIndex.value = null
    if (route.value.page === 'index') go('#/', true)
    await loadStoredIndexes()
    announcement.value = `${name} is deleted.`
    // The focused button no longer exists, so the focus moves to a heading.
    const heading = document.querySelector<HTMLElement>('#kept-title') ?? document.querySelector<HTMLElement>('main h1')
    heading?.focus()
  })
}

function showIndex(index: OpenedIndex, replace: boolean): void {
  preparedFolder.value = null
  openedIndex.value = index
  if (index.saveError === null) void requestPersistence()
  go(indexHref(index.stored.id), replace)
}

/** Runs an operation that may fail. A failure is shown; a cancellation is not. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  lastError.value = null
  try {
    await work()
  } catch (error) {
    if (!isCancelled(error)) lastError.value = describeError(error)
  }
}

/** Runs an operation that blocks the page. Returns undefined if it failed or was cancelled. */
async function runBlocking<T>(
  operation: Pick<RunningOperation, 'title' | 'isLong'>,
  work: (options: RequestOptions) => Promise<T>,
): Promise<T | undefined> {
  if (runningOperation.value !== null) return undefined
  const stop = new AbortController()
  runningOperation.value = { ...operation, progress: null, stop: () => stop.abort() }
  let result: T | undefined
  await attempt(async () => {
    result = await work({
      signal: stop.signal,
      onProgress: (progress) => {
        if (runningOperation.value !== null) runningOperation.value = { ...runningOperation.value, progress }
      },
    })
  })
  runningOperation.value = null
  // The operation may have finished just as it was cancelled.
  return stop.signal.aborted ? undefined : result
}
