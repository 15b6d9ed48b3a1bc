import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeMoment } from '../shared/format.ts'
import { Guard } from '../shared/guard.tsx'
import { ThemeButton } from '../shared/theme-button.tsx'
import { Home } from './home/home.tsx'
import { libraryTrouble } from './library-trouble.ts'
import { connection, liveJobs } from './live.ts'
import { type Route, route } from './route.ts'
import { Search } from './search/search.tsx'
import { SourcePage } from './sources/source-page.tsx'
import { Sources } from './sources/sources.tsx'

/** The same navigation as on the pages that the server writes. */
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

/** Everything there is to see. */
export function App(): JSX.Element {
  const { page, id } = route.value
  useEffect(() => {
    document.title = `${TITLES[page]} · Pharos`
    scrollTo(0, 0)
    // On a narrow screen the navigation is longer than what is seen of it.
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
          <ThemeButton />
        </div>
      </header>
      <main>
        <Trouble />
        <Guard key={`${page}/${id}`}>
          <Page />
        </Guard>
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
  if (page === 'source') return <SourcePage key={id} id={id} />
  if (page === 'search') return <Search />
  if (page === 'duplicates') return <Late load={loadDuplicates} />
  if (page === 'places') return <Late load={loadPlaces} />
  return (
    <div class="panel empty">
      <p>There is no such page.</p>
      <p>
        <a href="#/">To the crawler</a>
      </p>
    </div>
  )
}

type Shown = () => JSX.Element
const loadPlaces = async (): Promise<Shown> => (await import('./places/places.tsx')).Places
const loadDuplicates = async (): Promise<Shown> => (await import('./search/duplicates.tsx')).Duplicates

/** What is loaded when it is first looked at: a map, or a list that few ask for, is nothing that others have to wait for. */
function Late({ load }: { readonly load: () => Promise<Shown> }): JSX.Element | null {
  const late = useSignal<{ readonly Shown: Shown } | null>(null)
  useEffect(() => {
    void load().then((Shown) => {
      late.value = { Shown }
    })
  }, [])
  return late.value === null ? null : <late.value.Shown />
}

/** On every page: that the library cannot be used, and since when. */
function Trouble(): JSX.Element | null {
  const trouble = libraryTrouble.value
  if (trouble === null) return null
  const { message, since } = trouble
  return (
    <p class="trouble" role="alert">
      <b>{message}.</b> Since {writeMoment(since)}. Nothing is lost; this page goes on by itself.
    </p>
  )
}

/** On every page: whether something is being crawled, and whether we would know. */
function Activity(): JSX.Element | null {
  if (connection.value === 'lost') return <span class="activity lost">offline</span>
  const count = liveJobs.value.length
  return count === 0 ? null : (
    <a class="activity" href="#/" title="Crawls that run or wait">
      {count} {count === 1 ? 'crawl' : 'crawls'}
    </a>
  )
}
