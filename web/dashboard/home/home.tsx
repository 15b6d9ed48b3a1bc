import type { JSX } from 'preact'
import { AnalysisPanel } from '../analysis/analysis-panel.tsx'
import { libraryOutage } from '../library-outage.ts'
import { connection, liveJobs } from '../live.ts'
import { EndedJobs } from './ended-jobs.tsx'
import { JobCard } from './job-card.tsx'
import { LazyWorkers } from './lazy-workers.tsx'
import { StartForm } from './start-form.tsx'

/** Starts crawls, and lists the queued, running and ended ones. */
export function Home(): JSX.Element {
  const jobs = liveJobs.value
  return (
    <div class={jobs.length === 0 ? 'home' : 'home has-jobs'}>
      <div class="head">
        <h1>Crawler</h1>
        <Connection />
      </div>
      <StartForm />
      <section class="now" aria-label="Running and queued crawls">
        <h2>Now</h2>
        {jobs.length === 0 ? (
          <div class="panel empty">
            <p>{libraryOutage.value === null ? 'Nothing is being crawled.' : 'Running crawls are unknown for now.'}</p>
          </div>
        ) : (
          jobs.map((job) => <JobCard key={job.id} job={job} />)
        )}
      </section>
      <LazyWorkers />
      <AnalysisPanel />
      <EndedJobs />
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
