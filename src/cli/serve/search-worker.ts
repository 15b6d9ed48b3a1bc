import { parentPort, workerData } from 'node:worker_threads'
import type { EffectiveConfig } from '../../config.ts'
import { messageOf, PharosError } from '../../core/errors.ts'
import { listDuplicates } from '../../library/search/list-duplicates.ts'
import { searchLibrary } from '../../library/search/search-library.ts'
import type { SearchFailure, SearchReply, SearchRequest } from '../../processes/search-pool.ts'
import { openConfiguredLibrary } from '../library.ts'

// The main program disables deprecation warnings too.
process.noDeprecation = true
// The parent thread passes the configuration of the library.
const library = await openConfiguredLibrary(workerData as Pick<EffectiveConfig, 'values'>, () => {}, { connections: 2 })
const reply = (message: SearchReply): void => parentPort?.postMessage(message)

parentPort?.on('message', ({ number, ...question }: SearchRequest) => {
  const answering =
    question.task === 'search' ? searchLibrary(library, question.input) : listDuplicates(library, question.input)
  answering.then(
    (answer) => reply({ type: 'answer', number, answer }),
    (error: unknown) => reply({ type: 'failure', number, failure: toFailure(error) }),
  )
})
reply({ type: 'ready' })

function toFailure(error: unknown): SearchFailure {
  const message = messageOf(error)
  return error instanceof PharosError
    ? { code: error.code, details: error.details, message }
    : { code: null, details: {}, message }
}
