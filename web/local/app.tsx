import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { sanitizeText } from '../../src/core/text/sanitize-text.ts'
import { Bar } from '../shared/bar.tsx'
import { ErrorBoundary } from '../shared/error-boundary.tsx'
import { IndexPage } from './open-index/index-page.tsx'
import { announcement, failedIndex, lastError, openedIndex, preparedFolder, runningOperation } from './page-state.ts'
import { ErrorBox } from './parts/error-box.tsx'
import { RunningPanel } from './parts/running-panel.tsx'
import { Preview } from './preview/preview.tsx'
import { type Route, route } from './route.ts'
import { restorePosition } from './scroll-restoration.ts'
import { DropAnywhere } from './start/drop-anywhere.tsx'
import { Start } from './start/start.tsx'

/** The whole page. */
export function App(): JSX.Element {
  const { value: where } = route
  const id = where.page === 'index' ? where.id : where.page
  const viewKey = where.page === 'index' ? `${id}/${where.view}/${where.ref}/${where.query.get('path')}` : id
  useEffect(() => {
    failedIndex.value = null
  }, [id])
  useEffect(() => {
    lastError.value = null
    announcement.value = ''
    restorePosition()
  }, [viewKey])
  useEffect(() => {
    document.title = sanitizeText(`${titleOf(where)} · Pharos`)
  })
  // Closing the page would lose a long operation, or an open index that could not be saved.
  const wouldLoseWork =
    runningOperation.value?.isLong === true || (openedIndex.value !== null && openedIndex.value.saveError !== null)
  useEffect(() => {
    if (!wouldLoseWork) return
    // Makes the browser ask for confirmation; it ignores custom texts.
    const confirmLeaving = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', confirmLeaving)
    return () => removeEventListener('beforeunload', confirmLeaving)
  }, [wouldLoseWork])
  return (
    <>
      <Bar page="Local folder" hasFindings={readHasFindings()} hasServer={HAS_SERVER}>
        <span class="top-claim quiet small">nothing is uploaded</span>
      </Bar>
      <main id="main" tabIndex={-1}>
        <ErrorBox error={lastError.value} onClose={() => (lastError.value = null)} />
        <ErrorBoundary key={where.page}>
          {runningOperation.value === null ? <Page where={where} /> : <RunningPanel />}
        </ErrorBoundary>
      </main>
      <DropAnywhere />
      <p class="unseen" role="status" id="said">
        {announcement.value}
      </p>
    </>
  )
}

/** The server has this page at one path; a copy on another host has no pages of the server beside it. */
const HAS_SERVER = location.pathname === '/local/'

/** What the dashboard last knew, because this page cannot ask the server. */
function readHasFindings(): boolean {
  try {
    return localStorage.getItem('pharos-findings') === '1'
  } catch {
    return false
  }
}

function Page({ where }: { readonly where: Route }): JSX.Element {
  if (where.page === 'start') return <Start />
  if (where.page === 'index') return <IndexPage key={where.id} where={where} />
  if (where.page === 'preview' && preparedFolder.value !== null) return <Preview prepared={preparedFolder.value} />
  return (
    <div class="panel empty">
      <h1>{where.page === 'preview' ? 'No folder is chosen' : 'There is no such page'}</h1>
      <p>
        <a href="#/">Choose a folder, or open an index</a>
      </p>
    </div>
  )
}

function titleOf(where: Route): string {
  if (runningOperation.value !== null) return runningOperation.value.title
  if (where.page === 'index') return openedIndex.value?.stored.name ?? 'Index'
  return where.page === 'preview' ? 'Preview' : 'On this machine'
}
