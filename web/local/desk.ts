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

/** A folder that was looked through and waits to be read. */
export interface Prepared {
  readonly survey: Survey
  /** The index that it is to bring up to date. */
  readonly update: Kept | null
  readonly limits: Limits
}

/** Something that takes the whole page until it is done. */
export interface Running {
  readonly title: string
  readonly progress: Progress | null
  readonly stop: () => void
}

/** What lies on the desk: one of each at most. */
export const prepared: Signal<Prepared | null> = signal(null)
export const opened: Signal<Opened | null> = signal(null)
export const running: Signal<Running | null> = signal(null)
export const shelf: Signal<ShelfView | null> = signal(null)
/** What the last thing that was tried failed with. */
export const trouble: Signal<Told | null> = signal(null)

let work: Promise<Work> | undefined

/** Asks the part that works. It is started when it is first needed. */
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

/** Whether somebody stopped it: no failure, then. */
export function isStopped(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Looks through a folder, and shows what it found before anything is read. */
export async function lookThrough(folder: GivenFolder, update: Kept | null = null): Promise<void> {
  const survey = await runWhole(`Looking through ${folder.name}`, async (options) => {
    const handed = await handOver(folder, await connect(), options)
    return ask('survey', { folder: handed, update: update?.id }, options)
  })
  if (survey === undefined) return
  prepared.value = { survey, update, limits: update?.limits ?? DEFAULT_LIMITS }
  go('#/preview')
}

/** Reads what was looked through. Whoever stops it is back at the preview. */
export async function readPrepared(): Promise<void> {
  const { value } = prepared
  if (value === null) return
  const { survey, limits } = value
  const index = await runWhole(`Reading ${survey.name}`, (options) => ask('ingest', { limits }, options))
  if (index !== undefined) showIndex(index, true)
}

/** Opens a pack, or an `index.json`. */
export async function importFile(file: File): Promise<void> {
  const index = await runWhole(`Opening ${file.name}`, (options) => ask('importPack', { file }, options))
  if (index !== undefined) showIndex(index, false)
}

/** Opens a kept index, unless it is open. */
export async function openKept(id: string): Promise<void> {
  if (opened.value?.kept.id === id) return
  const index = await runWhole('Opening the index', (options) => ask('open', { id }, options))
  if (index !== undefined) opened.value = index
}

/** Reads again what is kept, and how much room there is. */
export async function readShelf(): Promise<void> {
  try {
    shelf.value = await ask('shelf', {})
  } catch (error) {
    trouble.value = tell(error)
  }
}

/** Gives a kept index another name. */
export async function rename(id: string, name: string): Promise<void> {
  await attempt(async () => {
    await ask('rename', { id, name })
    const { value } = opened
    if (value?.kept.id === id) opened.value = { ...value, kept: { ...value.kept, name } }
    await readShelf()
  })
}

/** Deletes a kept index; the folder that it came from stays. */
export async function remove(id: string): Promise<void> {
  await attempt(async () => {
    await ask('remove', { id })
    if (opened.value?.kept.id === id) opened.value = null
    if (route.value.page === 'index') go('#/', true)
    await readShelf()
  })
}

function showIndex(index: Opened, replace: boolean): void {
  prepared.value = null
  opened.value = index
  if (index.unkept === null) void askToStay()
  go(indexHref(index.kept.id), replace)
}

/** Does something that can fail; the failure is told, and nothing else changes. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  trouble.value = null
  try {
    await work()
  } catch (error) {
    if (!isStopped(error)) trouble.value = tell(error)
  }
}

/** Does something that takes the page meanwhile. Undefined where it failed or was stopped. */
async function runWhole<T>(title: string, work: (options: AskOptions) => Promise<T>): Promise<T | undefined> {
  if (running.value !== null) return undefined
  const stop = new AbortController()
  running.value = { title, progress: null, stop: () => stop.abort() }
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
  return result
}
