import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { hasFindings } from '../has-findings.ts'
import { libraryOutage } from '../library-outage.ts'
import { areJobsListed, connection, liveJobs } from '../live.ts'
import { readSources, sources } from '../sources/source-list.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { Attention } from './attention.tsx'
import { EndedJobs } from './ended-jobs.tsx'
import { JobCard } from './job-card.tsx'
import { LazyWorkers } from './lazy-workers.tsx'
import { StartForm } from './start-form.tsx'
import { Totals } from './totals.tsx'

/** More queued crawls than this are folded. */
const MAX_OPEN_QUEUED = 2

/** The home page: the size of the library, what needs attention, and what is crawled. */
export function Home(): JSX.Element {
  const jobs = liveJobs.value
  const running = jobs.filter(({ item }) => item.value.status === 'running')
  const queued = jobs.filter(({ item }) => item.value.status !== 'running')
  const isEmpty = sources.value?.length === 0 && jobs.length === 0
  useLiveRefresh(readSources)
  return (
    <>
      <div class="head">
        <h1>Home</h1>
        <Connection />
      </div>
      {isEmpty ? <FirstStep /> : <Totals />}
      <StartForm />
      <section aria-label="Running and queued crawls">
        {running.length === 0 ? null : (
          <h2>
            Running now <span class="quiet">{running.length}</span>
          </h2>
        )}
        {running.map((job) => (
          <JobCard key={job.id} job={job} />
        ))}
        {queued.length === 0 ? null : (
          <details class="queued-jobs" open={queued.length <= MAX_OPEN_QUEUED}>
            <summary>
              {countOf(queued.length, 'crawl')} {queued.length === 1 ? 'waits' : 'wait'} in the queue
            </summary>
            {queued.map((job) => (
              <JobCard key={job.id} job={job} />
            ))}
          </details>
        )}
        {jobs.length === 0 && !isEmpty ? <p class="quiet small">{writeIdleness()}</p> : null}
      </section>
      <Attention />
      <LazyWorkers />
      <EndedJobs />
      {hasFindings.value || (sources.value ?? []).length === 0 ? null : (
        <p class="small quiet">
          For news sites: <a href="/analysis/ssr">find out which places the pages name</a>
        </p>
      )}
    </>
  )
}

function writeIdleness(): string {
  if (libraryOutage.value !== null) return 'Running crawls are unknown for now.'
  return areJobsListed.value ? 'Nothing is being crawled.' : 'Asking for running crawls…'
}

/** Shown for an empty library, in place of its size: what to do first. */
function FirstStep(): JSX.Element {
  return (
    <p class="first-step">
      The library is empty. Enter the address of a web site,{' '}
      <a href="#/sources?add=1">add a repository, package or archive</a>, or{' '}
      <a href="/local/">search a folder of this computer</a>.
    </p>
  )
}

function Connection(): JSX.Element {
  const state = connection.value
  const isLibraryOut = state === 'open' && libraryOutage.value !== null
  const words = {
    connecting: 'Connecting',
    open: isLibraryOut ? 'Library unavailable' : 'Live',
    lost: 'Connection lost, reconnecting; this page may be out of date',
  }
  return (
    <output class="live" data-state={isLibraryOut ? 'lost' : state}>
      {words[state]}
    </output>
  )
}
