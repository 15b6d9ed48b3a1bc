import { PharosError } from '../../core/errors.ts'
import type { Library } from '../../library/library.ts'
import type { Addresses } from '../../library/ports/addresses.ts'
import type { JobLog } from '../../library/ports/job-log.ts'
import { describeStoreFailure, isLibraryMissing, isStoreFailure } from '../failure.ts'
import type { HttpPorts } from '../ports.ts'

/**
 * Runs an operation on the library, and fails with a clear error when the library is unusable. `otherwise` answers only when the library
 * file is missing, because only a missing library is known to be empty. A warning in the log reports that case.
 */
export async function withLibrary<T>(
  { library, log }: HttpPorts,
  use: (library: Library) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return runOnStore(library, use, log, otherwise, isLibraryMissing)
}

/** Like {@link withLibrary}, but `otherwise` answers whatever is wrong with the library. */
export async function withLibraryOr<T>(
  { library, log }: HttpPorts,
  use: (library: Library) => Promise<T>,
  otherwise: () => T,
): Promise<T> {
  return runOnStore(library, use, log, otherwise, isStoreFailure)
}

/** Like {@link withLibrary}, for the job history. */
export async function withJobLog<T>(
  { jobLog, log }: HttpPorts,
  use: (jobLog: JobLog) => Promise<T>,
  otherwise?: () => T,
): Promise<T> {
  return runOnStore(jobLog, use, log, otherwise, isLibraryMissing)
}

/** Like {@link withLibraryOr}, for the job history. */
export async function withJobLogOr<T>(
  { jobLog, log }: HttpPorts,
  use: (jobLog: JobLog) => Promise<T>,
  otherwise: () => T,
): Promise<T> {
  return runOnStore(jobLog, use, log, otherwise, isStoreFailure)
}

/** Like {@link withLibrary}, for the addresses of all sources. */
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

async function runOnStore<S, T>(
  open: () => Promise<S>,
  use: (opened: S) => Promise<T>,
  log: HttpPorts['log'],
  otherwise: (() => T) | undefined,
  isExpected: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await use(await openStore(open))
  } catch (error) {
    if (otherwise === undefined || !isExpected(error)) throw error
    log.warn('the library cannot be used', { problem: describeStoreFailure(error) })
    return otherwise()
  }
}

/** Turns every error while opening the store into a store failure. */
async function openStore<S>(open: () => Promise<S>): Promise<S> {
  try {
    return await open()
  } catch (cause) {
    throw isStoreFailure(cause) ? cause : new PharosError('STORE_UNAVAILABLE', {}, { cause })
  }
}
