import { expect, test } from 'vitest'
import { NOT_STARTED, problemOf } from './process-end.ts'
import { createTrackedJob } from './tracked-job.ts'

const LIBRARY = 'postgres://u@h/d'

function problemFor(lastErrorLine: string): string {
  const job = createTrackedJob('id', { url: 'https://a.example/', args: [] }, 0)
  return problemOf(Object.assign(job, { lastErrorLine }), { ...NOT_STARTED, code: 1 }, LIBRARY)
}

test('problemOf replaces the path of the library, and writes "the library" only once', () => {
  expect(problemFor(`pharos: the library ${LIBRARY} does not answer: gone – start it`)).toBe(
    'the library does not answer: gone',
  )
  expect(problemFor(`pharos: no source x in ${LIBRARY}`)).toBe('no source x in the library')
})

test('problemOf names the setting that allows hosts that are not public', () => {
  expect(
    problemFor('pharos: nothing could be indexed: failed (address-refused, 10.0.0.1 is not a public address)'),
  ).toContain('allowPrivate of the server or worker that runs the crawl')
  expect(
    problemFor('pharos: pkg:npm/a cannot be used: a.example leads to an address that is not public – x'),
  ).toContain('not public; the setting allowPrivate of the server')
})
