import type { JSX } from 'preact'
import { hasFindings } from '../has-findings.ts'
import { libraryOutage } from '../library-outage.ts'
import { connection, liveJobs } from '../live.ts'
import { readSources, sources } from '../sources/source-list.ts'
import { useLiveRefresh } from '../use-live-refresh.ts'
import { Attention } from './attention.tsx'
import { EndedJobs } from './ended-jobs.tsx'
import { JobCard } from './job-card.tsx'
import { LazyWorkers } from './lazy-workers.tsx'
import { StartForm } from './start-form.tsx'
import { Totals } from './totals.tsx'

/** The home page: the size of the library, what needs attention, and what is crawled. */
export function Home(): JSX.Element {
  const jobs = liveJobs.value
  useLiveRefresh(readSources)
  return (
    <>
      <div class="head">
        <h1>Home</h1>
        <Connection />
      </div>
      <Totals />
      <StartForm />
      <section aria-label="Running and queued crawls">
        {jobs.length === 0 ? null : (
          <h2>
            Running now <span class="quiet">{jobs.length}</span>
          </h2>
        )}
        {jobs.map((job) => (
          <JobCard key={job.id} job={job} />
        ))}
        {jobs.length === 0 ? (
          <p class="quiet small">
            {libraryOutage.value === null ? 'Nothing is being crawled.' : 'Running crawls are unknown for now.'}
          </p>
        ) : null}
      </section>
      {sources.value?.length === 0 && jobs.length === 0 ? <Welcome /> : null}
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

/** Shown for an empty library. */
function Welcome(): JSX.Element {
  return (
    <div class="panel empty">
      <p>The library is empty. Enter the address of a web site above, or:</p>
      <p>
        <a href="#/sources?add=1">Add a repository, package or archive</a> · <a href="/local/">Read a local folder</a>
      </p>
    </div>
  )
}

function Connection(): JSX.Element {
  const state = connection.value
  const isLibraryOut = state === 'open' && libraryOutage.value !== null
  const words = {
    connecting: 'connecting',
    open: isLibraryOut ? 'library unavailable' : 'live',
    lost: 'connection lost, reconnecting; this page may be out of date',
  }
  return (
    <output class="live" data-state={isLibraryOut ? 'lost' : state}>
      {words[state]}
    </output>
  )
}
