import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Bar } from '../shared/bar.tsx'
import { ErrorBoundary } from '../shared/error-boundary.tsx'
import { writeMoment } from '../shared/format.ts'
import { AskButton } from './ask/ask-button.tsx'
import { hasFindings } from './has-findings.ts'
import { Home } from './home/home.tsx'
import { libraryOutage } from './library-outage.ts'
import { connection, liveJobs } from './live.ts'
import { type Route, route } from './route.ts'
import { Search } from './search/search.tsx'
import { Sources } from './sources/sources.tsx'

/** The whole dashboard. */
export function App(): JSX.Element {
  const { page, id } = route.value
  const [title, entry] = PAGES[page]
  useEffect(() => {
    document.title = `${title} · Pharos`
    scrollTo(0, 0)
  }, [page, id])
  return (
    <>
      <Bar page={entry} hasFindings={hasFindings.value}>
        <Activity />
        <AskButton />
      </Bar>
      <main id="main" tabIndex={-1}>
        <OutageNotice />
        <ErrorBoundary key={`${page}/${id}`}>
          <Page />
        </ErrorBoundary>
      </main>
    </>
  )
}

/** The title of each page, and its entry in the navigation. */
const PAGES: Readonly<Record<Route['page'], readonly [title: string, entry?: string]>> = {
  home: ['Home', 'Home'],
  sources: ['Sources', 'All sources'],
  source: ['Source', 'Sources'],
  search: ['Search', 'Search'],
  duplicates: ['Duplicates', 'Duplicates'],
  changes: ['Changes', 'Sources'],
  unknown: ['Not found'],
}

function Page(): JSX.Element {
  const { page, id } = route.value
  if (page === 'home') return <Home />
  if (page === 'sources') return <Sources />
  if (page === 'source') return <LazyPage key={id} id={id} load={loadSource} />
  if (page === 'search') return <Search />
  if (page === 'duplicates') return <LazyPage key={page} id={id} load={loadDuplicates} />
  if (page === 'changes') return <LazyPage key={page} id={id} load={loadChanges} />
  return (
    <>
      <div class="head">
        <h1>Not found</h1>
      </div>
      <div class="panel empty">
        <p>There is no such page.</p>
        <p>
          <a href="#/">Back to the home page</a>
        </p>
      </div>
    </>
  )
}

type PageComponent = (props: { readonly id: string }) => JSX.Element
const loadSource = async (): Promise<PageComponent> => (await import('./sources/source-page.tsx')).SourcePage
const loadChanges = async (): Promise<PageComponent> => (await import('./changes/changes.tsx')).Changes
const loadDuplicates = async (): Promise<PageComponent> => (await import('./search/duplicates.tsx')).Duplicates

/** Loads a page on demand, because most visits do not need the details of a source or the list of duplicates. */
function LazyPage({
  load,
  id,
}: {
  readonly load: () => Promise<PageComponent>
  readonly id: string
}): JSX.Element | null {
  const loaded = useSignal<{ readonly Component: PageComponent } | null>(null)
  useEffect(() => {
    void load().then((Component) => {
      loaded.value = { Component }
    })
  }, [])
  return loaded.value === null ? null : <loaded.value.Component id={id} />
}

/** Shown on every page while the library is unavailable: the reason, and since when. */
function OutageNotice(): JSX.Element | null {
  const outage = libraryOutage.value
  if (outage === null) return null
  const { message, since } = outage
  return (
    <p class="trouble" role="alert">
      <b>{message}.</b> Since {writeMoment(since)}. Nothing is lost; this page reconnects by itself.
    </p>
  )
}

/** Shown on every page: whether a crawl runs, and whether the connection to the server is lost. */
function Activity(): JSX.Element | null {
  if (connection.value === 'lost') return <span class="activity lost">offline</span>
  const count = liveJobs.value.length
  return count === 0 ? null : (
    <a class="activity" href="#/" title="Running and queued crawls">
      {count} {count === 1 ? 'crawl' : 'crawls'}
    </a>
  )
}
