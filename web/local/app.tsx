import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeShowable } from '../../src/core/text/showable.ts'
import { Guard } from '../shared/guard.tsx'
import { ThemeButton } from '../shared/theme-button.tsx'
import { opened, prepared, running, said, trouble, unopened } from './desk.ts'
import { IndexPage } from './open-index/index-page.tsx'
import { RunningPanel } from './parts/running-panel.tsx'
import { TroubleBox } from './parts/trouble-box.tsx'
import { Preview } from './preview/preview.tsx'
import { type Route, route } from './route.ts'
import { DropAnywhere } from './start/drop-anywhere.tsx'
import { Start } from './start/start.tsx'
import { showPlace } from './visited.ts'

/** The whole page. */
export function App(): JSX.Element {
  const { value: where } = route
  const id = where.page === 'index' ? where.id : where.page
  const part = where.page === 'index' ? `${id}/${where.view}/${where.ref}/${where.query.get('path')}` : id
  useEffect(() => {
    unopened.value = null
  }, [id])
  useEffect(() => {
    trouble.value = null
    said.value = ''
    showPlace()
  }, [part])
  useEffect(() => {
    document.title = writeShowable(`${titleOf(where)} · Pharos`)
  })
  // A running operation, and an open index that could not be saved, are lost when the page is closed.
  const isLosing = running.value?.isLong === true || (opened.value !== null && opened.value.unkept !== null)
  useEffect(() => {
    if (!isLosing) return
    // Makes the browser ask for confirmation; it ignores custom texts.
    const ask = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isLosing])
  return (
    <>
      <header class="top">
        <div class="top-row">
          <a class="brand" href="#/">
            Pharos
          </a>
          <span class="top-claim quiet small">
            <span class="top-where">on this machine: </span>nothing is uploaded
          </span>
          <ThemeButton />
        </div>
      </header>
      <main>
        <TroubleBox told={trouble.value} onClose={() => (trouble.value = null)} />
        <Guard key={where.page}>{running.value === null ? <Page where={where} /> : <RunningPanel />}</Guard>
      </main>
      <DropAnywhere />
      <p class="unseen" role="status" id="said">
        {said.value}
      </p>
    </>
  )
}

function Page({ where }: { readonly where: Route }): JSX.Element {
  if (where.page === 'start') return <Start />
  if (where.page === 'index') return <IndexPage key={where.id} where={where} />
  if (where.page === 'preview' && prepared.value !== null) return <Preview prepared={prepared.value} />
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
  if (running.value !== null) return running.value.title
  if (where.page === 'index') return opened.value?.kept.name ?? 'Index'
  return where.page === 'preview' ? 'Preview' : 'On this machine'
}
