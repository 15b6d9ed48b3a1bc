import { parentPort, workerData } from 'node:worker_threads'
import type { EffectiveConfig } from '../../config.ts'
import { messageOf, PharosError } from '../../core/errors.ts'
import { compareVersions } from '../../library/changes/compare-versions.ts'
import { listDuplicates } from '../../library/search/list-duplicates.ts'
import { searchLibrary } from '../../library/search/search-library.ts'
import type { SearchFailure, SearchReply, SearchRequest } from '../../processes/search-pool.ts'
import { openConfiguredLibrary } from '../library.ts'

// The main program disables deprecation warnings too.
process.noDeprecation = true
// The parent thread passes the configuration of the library.
const library = await openConfiguredLibrary(workerData as Pick<EffectiveConfig, 'values'>, () => {}, { connections: 2 })
const reply = (message: SearchReply): void => parentPort?.postMessage(message)

parentPort?.on('message', (question: SearchRequest) => {
  const { number } = question
  answer(question).then(
    (found) => reply({ type: 'answer', number, answer: found }),
    (error: unknown) => reply({ type: 'failure', number, failure: toFailure(error) }),
  )
})
reply({ type: 'ready' })

function answer(question: SearchRequest) {
  if (question.task === 'search') return searchLibrary(library, question.input)
  if (question.task === 'duplicates') return listDuplicates(library, question.input)
  return compareVersions(library, question.input)
}

function toFailure(error: unknown): SearchFailure {
  const message = messageOf(error)
  return error instanceof PharosError
    ? { code: error.code, details: error.details, message }
    : { code: null, details: {}, message }
}
