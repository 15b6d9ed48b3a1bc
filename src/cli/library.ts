import type { Command } from 'commander'
import type { EffectiveConfig, SettingName } from '../config.ts'
import { labelOf } from '../library/operations/find-source.ts'
import type { Source } from '../library/source.ts'
import type { OpenLibrary } from '../open-library.ts'
import { addCommonOptions, addSettings } from './options.ts'
import { printableLine, shellWord } from './terminal.ts'
import { VERSION } from './version.ts'

/** Settings of the verbs that fetch. */
export const FETCH_SETTINGS: readonly SettingName[] = [
  'allowPrivate',
  'concurrency',
  'requestInterval',
  'maxPageBytes',
  'contactUrl',
]

/** Adds the options of a verb that uses a library, and flags for further settings. */
export function addLibraryOptions(command: Command, settings: readonly SettingName[] = []): Command {
  return addSettings(addCommonOptions(command), ['library', ...settings])
}

/** Opens the library that is configured for as long as the work takes. */
export async function withLibrary<T>(
  { values }: EffectiveConfig,
  work: (library: OpenLibrary) => Promise<T>,
): Promise<T> {
  // Loaded when it is needed: a database and an HTTP client would slow down every verb that has no use for them.
  const { openLibrary } = await import('../open-library.ts')
  const library = await openLibrary({
    path: values.library,
    allowPrivate: values.allowPrivate,
    version: VERSION,
    ...(values.contactUrl === '' ? {} : { contactUrl: values.contactUrl }),
    maxPageBytes: values.maxPageBytes,
    limits: { concurrency: values.concurrency, intervalMs: values.requestInterval },
  })
  try {
    return await work(library)
  } finally {
    await library.close()
  }
}

/** Writes a command that a reader can copy: `('retry', 'docs')` → `pharos retry docs`. */
export type Hint = (verb: string, ...words: string[]) => string

/** Verbs that fetch. */
const FETCHING: ReadonlySet<string> = new Set(['recrawl', 'refresh', 'retry', 'fetch'])

/** Makes hints that use the same library, and reach the same hosts, as the command that gives them. */
export function createHint({ values, origins }: Pick<EffectiveConfig, 'values' | 'origins'>): Hint {
  const library = origins.library === 'flag' ? ['--library', values.library] : []
  const hosts = values.allowPrivate.join(',')
  const allowance =
    origins.allowPrivate === 'flag' ? [hosts === '*' ? '--allow-private' : `--allow-private=${hosts}`] : []
  return (verb, ...words) => {
    const further = FETCHING.has(verb) ? [...allowance, ...library] : library
    return ['pharos', verb, ...[...words, ...further].map((word) => wordOf(word))].join(' ')
  }
}

/** What stands for something the reader has to fill in is left as it is. */
function wordOf(word: string): string {
  return /^<\w+>$/.test(word) ? word : shellWord(printableLine(word))
}

/** How a source is called, safe to print. */
export function nameOf(source: Pick<Source, 'name' | 'version'>): string {
  return printableLine(labelOf(source))
}

/** What names a source in JSON. */
export function sourceRecord({ id, name, version, url }: Source): Record<string, unknown> {
  return { id, name, version, url }
}

/** `2026-02-20T10:30:00Z` */
export function writeTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The same for JSON. */
export function timeRecord(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
