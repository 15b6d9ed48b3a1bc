import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment, writeSpan } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { RunItem } from '../api.ts'
import { now } from '../clock.ts'
import { ErrorId } from '../error-id.tsx'
import { connection } from '../live.ts'
import { type Refusal, send } from '../request.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'
import { readRuns, runs } from './runs.ts'

/** Poll interval while a run is active, because runs of other programs send no events. */
const POLL_INTERVAL_MS = 5000

/** Starts an analysis of the stored pages, shows its progress, and lists the latest runs. */
export function AnalysisPanel(): JSX.Element {
  const isRunning = useComputed(() => runs.value?.some(({ status }) => status === 'running') === true)
  const pollTick = useComputed(() => (isRunning.value ? Math.floor(now.value / POLL_INTERVAL_MS) : 0))
  const isLost = useComputed(() => connection.value === 'lost')
  useSignalEffect(() => {
    pollTick.value
    if (!isLost.value) void readRuns()
  })
  return (
    <section aria-label="Analysis">
      <h2>Analysis</h2>
      <div class="panel analysis">
        <StartRun isRunning={isRunning.value} />
        {runs.value?.length ? (
          <ul class="runs">
            {runs.value.map((run) => (
              <Run key={run.id} run={run} />
            ))}
          </ul>
        ) : null}
        <p class="small analysis-links">
          <a href="/analysis/ssr">All runs, and a start with options</a>
          <a href="#/places">Places on a map</a>
          <a href="/hubs">Hubs</a>
        </p>
      </div>
    </section>
  )
}

function StartRun({ isRunning }: { readonly isRunning: boolean }): JSX.Element {
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  const startedUrl = useSignal<string | null>(null)
  useClearOnReconnect(refusal)
  const start = async () => {
    isBusy.value = true
    refusal.value = null
    const answer = await send<{ readonly detailUrl: string }>('/api/analysis/start')
    if ('refusal' in answer) refusal.value = answer.refusal
    else startedUrl.value = answer.value.detailUrl
    await readRuns()
    isBusy.value = false
  }
  return (
    <>
      <div class="analysis-start">
        <button type="button" disabled={isBusy.value || isRunning} onClick={() => void start()}>
          Perform Analysis
        </button>
        <p class="quiet small">
          Finds out whether each stored page is an article or navigation, which places it is about, and how well hubs
          cover the world. Pages that were analyzed before are skipped.
        </p>
      </div>
      {startedUrl.value === null ? null : (
        <output class="small">
          The analysis has started: <a href={startedUrl.value}>show its progress</a>
        </output>
      )}
      {refusal.value === null ? null : <StartRefusal refusal={refusal.value} />}
    </>
  )
}

function StartRefusal({ refusal }: { readonly refusal: Refusal }): JSX.Element {
  return (
    <p class="field-problem" role="alert">
      {refusal.status === 409 ? 'An analysis is already running; only one can run at a time. ' : ''}
      {refusal.message}
      <ErrorId refusal={refusal} />
    </p>
  )
}

const TONES: Readonly<Record<RunItem['status'], Tone>> = {
  running: 'info',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

const STAGES: Readonly<Record<RunItem['stage'], string>> = {
  'db-setup': 'preparing',
  pages: 'reading pages',
  domains: 'analyzing hosts',
  milestones: 'checking milestones',
  done: 'done',
}

function Run({ run }: { readonly run: RunItem }): JSX.Element {
  const { id, status, stage, startedAt, durationMs, dryRun, lastProgress, error } = run
  const { pages, totalPages, articles, places, hubs } = lastProgress
  const began = Date.parse(startedAt)
  const isRunning = status === 'running'
  return (
    <li data-run={id}>
      <Pill word={status} tone={TONES[status]} />
      <a href={`/analysis/${encodeURIComponent(id)}/ssr`} title={writeMoment(began)}>
        {isRunning ? 'this run' : writeAgo(began, now.value)}
      </a>
      {isRunning ? (
        <span class="run-progress">
          <span class="quiet">{STAGES[stage]}</span>
          <progress max={Math.max(1, totalPages)} value={pages} aria-label="Analyzed pages" />
          <span class="number">
            {writeNumber(pages)} of {writeNumber(totalPages)}
          </span>
        </span>
      ) : null}
      <span class="quiet">
        {isRunning ? '' : `${countOf(pages, 'page')}, `}
        {countOf(articles, 'article')}, {countOf(places, 'mention')} of places, {countOf(hubs, 'place hub')}
        {dryRun ? ', dry run' : ''}
      </span>
      <span class="quiet number">{writeSpan(isRunning ? now.value - began : durationMs)}</span>
      {error === null ? null : <span class="field-problem">{error}</span>}
    </li>
  )
}
