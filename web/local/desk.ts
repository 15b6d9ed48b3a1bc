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
  /** Whether something is lost that took its time when the page is left meanwhile. */
  readonly isLong: boolean
  readonly progress: Progress | null
  readonly stop: () => void
}

/** How far the search by meaning is. */
export interface Meaning {
  /** `off` where it cannot be had, with the reason where there is one. */
  readonly state: 'making' | 'whole' | 'off'
  /** How much of the index can be found by meaning. */
  readonly percent: number
  readonly told: Told | null
}

/** What lies on the desk: one of each at most. */
export const prepared: Signal<Prepared | null> = signal(null)
export const opened: Signal<Opened | null> = signal(null)
/** The index that could not be opened, and why; it is not tried again by itself. */
export const unopened: Signal<{ readonly id: string; readonly told: Told | null } | null> = signal(null)
export const running: Signal<Running | null> = signal(null)
export const shelf: Signal<ShelfView | null> = signal(null)
/** What the last thing that was tried failed with. */
export const trouble: Signal<Told | null> = signal(null)
/** How far the search by meaning of what is open is; null while nothing is known of it. */
export const meaning: Signal<Meaning | null> = signal(null)
/** What was done, for those who do not see it. */
export const said: Signal<string> = signal('')

// Whoever goes elsewhere no longer waits for what goes on.
route.subscribe(() => running.peek()?.stop())

let embedding: { readonly key: string; readonly stop: AbortController } | undefined

// What is open can be searched by words at once, and by meaning little by little.
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
  const survey = await runWhole({ title: `Looking through ${folder.name}`, isLong: false }, async (options) => {
    const handed = await handOver(folder, await connect(), options)
    return ask('survey', { folder: handed, update: update?.id }, options)
  })
  if (survey === undefined) return
  prepared.value = { survey, update, limits: update?.limits ?? DEFAULT_LIMITS }
  go('#/preview')
}

/** Looks again at what was looked through: without the files that are to be left out, or as what an index is brought up to date with. */
export async function revise(leaveOut: string, update: Kept | null): Promise<void> {
  await attempt(async () => {
    const survey = await ask('revise', { leaveOut, update: update?.id })
    const { value } = prepared
    if (value === null) return
    const isSame = update?.id === value.update?.id
    prepared.value = { survey, update, limits: isSame ? value.limits : (update?.limits ?? DEFAULT_LIMITS) }
  })
}

/** Reads what was looked through. Whoever stops it is back at the preview. */
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

/** Opens a kept index, unless it is open or could not be opened just now. */
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

/** Tries once more to keep what is open. */
export async function keepOpened(): Promise<void> {
  const name = opened.value?.kept.name ?? ''
  const index = await runWhole({ title: `Keeping ${name}`, isLong: true }, (options) => ask('keep', {}, options))
  if (index === undefined) return
  opened.value = index
  if (index.unkept === null) said.value = `${name} is kept.`
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
    said.value = `It is called ${name} now.`
  })
}

/** Deletes a kept index; the folder that it came from stays. */
export async function remove({ id, name }: Kept): Promise<void> {
  await attempt(async () => {
    await ask('remove', { id })
    // What could not be kept in its place is still open.
    if (opened.value?.kept.id === id && opened.value.unkept === null) opened.value = null
    if (route.value.page === 'index') go('#/', true)
    await readShelf()
    said.value = `${name} is deleted.`
    // The button that had the focus is gone.
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
  // It may have been done in the moment in which it was stopped.
  return stop.signal.aborted ? undefined : result
}
