import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { ErrorBoundary } from '../shared/error-boundary.tsx'
import { writeMoment } from '../shared/format.ts'
import { ThemeButton } from '../shared/theme-button.tsx'
import { AskButton } from './ask/ask-button.tsx'
import { Home } from './home/home.tsx'
import { libraryOutage } from './library-outage.ts'
import { connection, liveJobs } from './live.ts'
import { type Route, route } from './route.ts'
import { Search } from './search/search.tsx'
import { Sources } from './sources/sources.tsx'

/** The links of the navigation. They must match the navigation of the server-rendered pages. */
const LINKS: readonly { readonly href: string; readonly label: string; readonly pages?: readonly Route['page'][] }[] = [
  { href: '#/', label: 'Crawler', pages: ['home'] },
  { href: '#/sources', label: 'Sources', pages: ['sources', 'source'] },
  { href: '#/search', label: 'Search', pages: ['search', 'duplicates'] },
  { href: '/local/', label: 'Folder' },
  { href: '/queues/ssr', label: 'Queues' },
  { href: '/problems/ssr', label: 'Problems' },
  { href: '/milestones/ssr', label: 'Milestones' },
  { href: '/errors', label: 'Errors' },
  { href: '/domains', label: 'Domains' },
  { href: '/urls', label: 'URLs' },
  { href: '/analysis/ssr', label: 'Analysis' },
  { href: '/gazetteer', label: 'Gazetteer', pages: ['places'] },
  { href: '/docs', label: 'API' },
]

/** The whole dashboard. */
export function App(): JSX.Element {
  const { page, id } = route.value
  useEffect(() => {
    document.title = `${TITLES[page]} · Pharos`
    scrollTo(0, 0)
    // On a narrow screen the navigation scrolls, so the current entry may be out of view.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [page])
  return (
    <>
      <header class="top">
        <div class="top-row">
          <a class="brand" href="#/">
            Pharos
          </a>
          <nav aria-label="Global">
            <ul>
              {LINKS.map(({ href, label, pages }) => (
                <li key={href}>
                  <a href={href} aria-current={pages?.includes(page) ? 'page' : undefined}>
                    {label}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Activity />
          <AskButton />
          <ThemeButton />
        </div>
      </header>
      <main>
        <OutageNotice />
        <ErrorBoundary key={`${page}/${id}`}>
          <Page />
        </ErrorBoundary>
      </main>
    </>
  )
}

const TITLES: Readonly<Record<Route['page'], string>> = {
  home: 'Crawler',
  sources: 'Sources',
  source: 'Source',
  search: 'Search',
  duplicates: 'Duplicates',
  places: 'Places',
  unknown: 'Not found',
}

function Page(): JSX.Element {
  const { page, id } = route.value
  if (page === 'home') return <Home />
  if (page === 'sources') return <Sources />
  if (page === 'source') return <LazyPage key={id} id={id} load={loadSource} />
  if (page === 'search') return <Search />
  if (page === 'duplicates') return <LazyPage key={page} id={id} load={loadDuplicates} />
  if (page === 'places') return <LazyPage key={page} id={id} load={loadPlaces} />
  return (
    <div class="panel empty">
      <p>There is no such page.</p>
      <p>
        <a href="#/">Back to the crawler</a>
      </p>
    </div>
  )
}

type PageComponent = (props: { readonly id: string }) => JSX.Element
const loadSource = async (): Promise<PageComponent> => (await import('./sources/source-page.tsx')).SourcePage
const loadPlaces = async (): Promise<PageComponent> => (await import('./places/places.tsx')).Places
const loadDuplicates = async (): Promise<PageComponent> => (await import('./search/duplicates.tsx')).Duplicates

/** Loads a page on demand, because most visits do not need the details of a source, the map or the list of duplicates. */
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
