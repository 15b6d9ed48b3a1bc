import { PharosError } from '../core/errors.ts'
import type { Addresses } from '../library/addresses.ts'
import type { JobLog } from '../library/job-log.ts'
import type { Library } from '../library/library.ts'
import type { UnderstandingStore } from '../library/library-store.ts'
import { describeTrouble, isMissing, isStoreTrouble } from './failure.ts'
import type { HttpPorts } from './ports.ts'

/**
 * Does something with the library. A library that cannot be used is a failure that says so. `otherwise` answers for a library whose file
 * is missing, and the log says so: only there it is true that nothing is stored.
 */
export async function withLibrary<T>(
  { library, log }: HttpPorts,
  use: (library: Library) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return guarded(library, use, log, otherwise, isMissing)
}

/** The same for answers that need no library: `otherwise` answers whatever is wrong with it. */
export async function withLibraryOr<T>(
  { library, log }: HttpPorts,
  use: (library: Library) => Promise<T>,
  otherwise: () => T,
): Promise<T> {
  return guarded(library, use, log, otherwise, isStoreTrouble)
}

/** The same as {@link withLibrary} with the history of jobs. */
export async function withJobLog<T>(
  { jobLog, log }: HttpPorts,
  use: (jobLog: JobLog) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return guarded(jobLog, use, log, otherwise, isMissing)
}

/** The same as {@link withLibraryOr} with the history of jobs. */
export async function withJobLogOr<T>(
  { jobLog, log }: HttpPorts,
  use: (jobLog: JobLog) => Promise<T>,
  otherwise: () => T,
): Promise<T> {
  return guarded(jobLog, use, log, otherwise, isStoreTrouble)
}

/** The same with the addresses of all sources. */
export function withAddresses<T>(
  ports: HttpPorts,
  use: (addresses: Addresses, library: Library) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return withLibrary(
    ports,
    (library) => {
      const { addresses } = library
      if (addresses === undefined) throw new PharosError('STORE_UNAVAILABLE')
      return use(addresses, library)
    },
    otherwise,
  )
}

/** What is understood of the pages of a library. */
export type Understanding = Pick<UnderstandingStore, 'gazetteer' | 'analyses' | 'placeHubs'>

/** The same with what is understood of pages. */
export function withUnderstanding<T>(
  ports: HttpPorts,
  use: (understanding: Understanding, library: Library) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return withLibrary(ports, (library) => use(understandingOf(library), library), otherwise)
}

/** What a library keeps of that; refused where it keeps nothing. */
export function understandingOf({ gazetteer, analyses, placeHubs }: Library): Understanding {
  if (gazetteer === undefined || analyses === undefined || placeHubs === undefined) {
    throw new PharosError('STORE_UNAVAILABLE')
  }
  return { gazetteer, analyses, placeHubs }
}

async function guarded<S, T>(
  open: () => Promise<S>,
  use: (opened: S) => Promise<T>,
  log: HttpPorts['log'],
  otherwise: (() => T) | undefined,
  isExpected: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await use(await openOf(open))
  } catch (error) {
    if (otherwise === undefined || !isExpected(error)) throw error
    log.warn('the library cannot be used', { problem: describeTrouble(error) })
    return otherwise()
  }
}

/** Whatever keeps the store from being opened is trouble with the store. */
async function openOf<S>(open: () => Promise<S>): Promise<S> {
  try {
    return await open()
  } catch (cause) {
    throw isStoreTrouble(cause) ? cause : new PharosError('STORE_UNAVAILABLE', {}, { cause })
  }
}
