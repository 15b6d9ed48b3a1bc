import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeSpan } from '../../../src/core/text/duration.ts'
import { ConfirmDialog } from '../../shared/dialog.tsx'
import { writeMoment, writeRate } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { HostPace, ProgressEvent, SourceItem } from '../api.ts'
import { now } from '../clock.ts'
import { Figures } from '../figures.tsx'
import { libraryOutage } from '../library-outage.ts'
import { type LiveJob, readJobs } from '../live.ts'
import { RefusalNote } from '../refusal-note.tsx'
import { send } from '../request.ts'
import { sources } from '../sources/source-list.ts'
import { writeVersion } from '../sources/source-state.ts'
import { SiteFindings } from '../understanding/site-findings.tsx'
import { useAction } from '../use-action.ts'
import { hrefOf } from './matters.ts'
import { Notes } from './notes.tsx'
import { RateChart } from './rate-chart.tsx'

/** A queued or running job with its live figures. */
export function JobCard({ job }: { readonly job: LiveJob }): JSX.Element {
  const item = job.item.value
  const progress = job.progress.value
  const isWaiting = item.status === 'queued'
  const sourceId = item.sourceId ?? progress?.sourceId
  const source = sources.value?.find(({ id }) => id === sourceId)
  return (
    <article class="panel job" aria-label={`Crawl of ${item.url}`} data-job={job.id}>
      <header class="job-head">
        <div class="job-title">
          <h3>{source === undefined ? item.url : <SourceName source={source} />}</h3>
          <p class="quiet small">
            <JobStage job={job} /> {isWaiting ? 'waiting in the queue' : <Since job={job} />}
            {item.elsewhere ? null : (
              <>
                {' · '}
                <a href={`/queues/${encodeURIComponent(job.id)}/ssr`}>events</a>
              </>
            )}
            {source === undefined ? null : (
              <>
                {' · '}
                <a href={hrefOf(source)}>source</a>
              </>
            )}
          </p>
        </div>
        {item.elsewhere ? <p class="quiet small">run by another program</p> : <JobButtons job={job} />}
      </header>
      {isWaiting ? null : (
        <>
          {/* While the library is unavailable, a missing progress report does not mean zero pages. */}
          {progress === null && libraryOutage.value !== null ? null : (
            <>
              <JobProgress job={job} />
              <div class="job-body">
                <JobFigures job={job} />
                <RateChart rates={job.rates} />
              </div>
            </>
          )}
          <Notes job={job} />
          <JobUnderstanding job={job} />
          {progress === null || item.elsewhere ? null : (
            <details class="job-details">
              <summary>Details</summary>
              <div class="job-body">
                <Fetching progress={progress} />
                <Hosts progress={progress} />
              </div>
            </details>
          )}
          <Lines lines={job.lines.value} />
        </>
      )}
    </article>
  )
}

function SourceName({ source }: { readonly source: SourceItem }): JSX.Element {
  return (
    <>
      {source.name}
      {writeVersion(source)} <span class="job-url">{source.url}</span>
    </>
  )
}

function JobStage({ job }: { readonly job: LiveJob }): JSX.Element {
  const { status, stage, paused } = job.item.value
  if (paused) return <Pill word="paused" tone="warn" />
  return <Pill word={status === 'queued' ? 'queued' : stage} tone={stage === 'running' ? 'info' : 'quiet'} />
}

function Since({ job }: { readonly job: LiveJob }): JSX.Element | null {
  const { startedAt } = job.item.value
  if (startedAt === null) return null
  return <span title={writeMoment(Date.parse(startedAt))}>for {writeSpan(now.value - Date.parse(startedAt))}</span>
}

/**
 * How much of the known addresses was visited, or of the page limit if that is reached first, and how long the rest takes at the average
 * rate of the run.
 */
function JobProgress({ job }: { readonly job: LiveJob }): JSX.Element | null {
  const { visited = 0, saved = 0, unchanged = 0, queueSize = 0, maxPages, paused = false } = job.progress.value ?? {}
  const known = visited + queueSize
  if (known === 0) return null
  const readCount = saved + unchanged
  const isLimited = maxPages !== undefined && maxPages - readCount < queueSize
  const [done, total] = isLimited ? [Math.min(readCount, maxPages), maxPages] : [visited, known]
  const left = total - done
  // New pages lead to further addresses, so a crawl that still has a queue is never complete.
  const percent = Math.min(queueSize > 0 ? 99 : 100, Math.floor((done * 100) / total))
  const rate = job.rates.readAverage(now.value)
  const isEstimated = !paused && left > 0 && rate > 0
  return (
    <div class="job-progress">
      <progress max={total} value={done} aria-label={`Visited addresses of ${job.item.value.url}`} />
      <span class="small">
        <b>{percent} %</b> of{' '}
        {isLimited
          ? `the page limit of ${writeNumber(total)}, ${countOf(known, 'known address')}`
          : countOf(known, 'known address')}
        {isEstimated ? <span class="quiet">, about {writeEstimate((left * 1000) / rate)} left</span> : null}
      </span>
    </div>
  )
}

/** `less than a minute`, `4 minutes`, `2 hours`: an estimate is not more exact. */
function writeEstimate(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  return minutes < 90 ? countOf(minutes, 'minute') : countOf(Math.round(minutes / 60), 'hour')
}

function JobFigures({ job }: { readonly job: LiveJob }): JSX.Element {
  const progress = job.progress.value
  const isElsewhere = job.item.value.elsewhere === true
  return (
    <Figures
      of={[
        ['pages / s', writeRate(progress?.paused ? 0 : job.rates.readCurrent(now.value)), 'lead'],
        ['visited', writeNumber(progress?.visited ?? 0)],
        ['new or changed', writeNumber(progress?.saved ?? 0)],
        ['unchanged', writeNumber(progress?.unchanged ?? 0)],
        ['errors', writeNumber(progress?.errors ?? 0), progress !== null && progress.errors > 0 ? 'bad' : ''],
        ['in queue', writeNumber(progress?.queueSize ?? 0)],
        ...(isElsewhere ? [] : [['downloaded', writeBytes(progress?.bytes ?? 0)] as const]),
      ]}
    />
  )
}

function Fetching({ progress }: { readonly progress: ProgressEvent }): JSX.Element {
  const { currentDownloads = [], currentDownloadsCount = 0 } = progress
  const others = currentDownloadsCount - currentDownloads.length
  return (
    <div class="fetching">
      <h4>
        Fetching <span class="quiet">{writeNumber(currentDownloadsCount)}</span>
      </h4>
      <ul>
        {currentDownloads.map(({ url, ageMs }) => (
          <li key={url}>
            <span class="cut" title={url}>
              {url}
            </span>
            <span class="quiet number">{writeSpan(ageMs)}</span>
          </li>
        ))}
        {currentDownloads.length === 0 ? <li class="quiet">nothing right now</li> : null}
        {others > 0 ? <li class="quiet">and {writeNumber(others)} more</li> : null}
      </ul>
    </div>
  )
}

const MAX_HOSTS = 8

function Hosts({ progress }: { readonly progress: ProgressEvent }): JSX.Element | null {
  const hosts = Object.entries(progress.perHost ?? {})
  if (hosts.length === 0) return null
  return (
    <div class="hosts">
      <h4>Pace per host</h4>
      <ul>
        {hosts.slice(0, MAX_HOSTS).map(([host, pace]) => (
          <li key={host}>
            <span class="cut" title={host}>
              {host}
            </span>
            <span class="quiet number">{writePace(pace)}</span>
            <BackOff pace={pace} isLimited={progress.perHostLimits?.[host]?.rateLimited === true} />
          </li>
        ))}
        {hosts.length > MAX_HOSTS ? <li class="quiet">and {countOf(hosts.length - MAX_HOSTS, 'more host')}</li> : null}
      </ul>
    </div>
  )
}

function writePace({ rpm, intervalMs }: HostPace): string {
  const pause = intervalMs === 0 ? 'no pause' : `one request every ${writeInterval(intervalMs)}`
  return `${pause}, ${writeNumber(Math.round(rpm))} in the last minute`
}

function writeInterval(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

function BackOff(props: { readonly pace: HostPace; readonly isLimited: boolean }): JSX.Element | null {
  const { pace, isLimited } = props
  const remainingMs = pace.backoffUntil === null ? 0 : Date.parse(pace.backoffUntil) - now.value
  if (remainingMs > 0) return <Pill word={`paused for ${writeSpan(remainingMs + 999)}`} tone="warn" />
  return isLimited ? <Pill word="slowed down" tone="warn" /> : null
}

/** What was learned about the host of a planned crawl; empty until the crawl reports its first patterns. */
function JobUnderstanding({ job }: { readonly job: LiveJob }): JSX.Element | null {
  const host = URL.parse(job.item.value.url)?.host
  const isPlanned = job.milestones.value.some(({ kind }) => kind === 'patterns-learned')
  const missing = job.problems.value.filter(({ kind }) => kind === 'missing-hub').length
  return isPlanned && host !== undefined ? <SiteFindings host={host} variant="part" reportedMissing={missing} /> : null
}

function Lines({ lines }: { readonly lines: readonly string[] }): JSX.Element | null {
  const isOpen = useSignal(false)
  if (lines.length === 0) return null
  return (
    <details
      class="lines"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>Log</summary>
      {isOpen.value ? <pre>{lines.join('\n')}</pre> : null}
    </details>
  )
}

function JobButtons({ job }: { readonly job: LiveJob }): JSX.Element {
  const isConfirming = useSignal(false)
  const { isBusy, refusal, run } = useAction()
  const { status, stage, paused } = job.item.value
  const act = async (action: 'pause' | 'resume' | 'stop') => {
    await run(() => send(`/api/crawls/${encodeURIComponent(job.id)}/${action}`))
    await readJobs()
  }
  return (
    <div class="job-buttons">
      {status === 'queued' ? null : (
        <button
          type="button"
          disabled={isBusy.value || stage !== 'running'}
          onClick={() => void act(paused ? 'resume' : 'pause')}
        >
          {paused ? 'Resume' : 'Pause'}
        </button>
      )}
      <button
        type="button"
        class="danger"
        disabled={isBusy.value}
        onClick={() => {
          isConfirming.value = true
        }}
      >
        {status === 'queued' ? 'Cancel' : 'Stop'}
      </button>
      <RefusalNote refusal={refusal.value} />
      <ConfirmDialog
        isOpen={isConfirming}
        title={`${status === 'queued' ? 'Cancel' : 'Stop'} this crawl?`}
        action={status === 'queued' ? 'Cancel the crawl' : 'Stop the crawl'}
        onConfirm={() => void act('stop')}
      >
        <p>
          Pages already read from <b>{job.item.value.url}</b> stay in the library. Recrawl the source to continue.
        </p>
      </ConfirmDialog>
    </div>
  )
}
