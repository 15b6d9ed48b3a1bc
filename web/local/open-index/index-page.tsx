import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Guard } from '../../shared/guard.tsx'
import { opened, openKept } from '../desk.ts'
import { IndexActions } from '../parts/index-actions.tsx'
import { indexHref, type Route, VIEWS, type View } from '../route.ts'
import type { Opened } from '../work/operations.ts'
import { ChunkView } from './chunk-view.tsx'
import { ExportPanel } from './export-panel.tsx'
import { FilesView } from './files-view.tsx'
import { NamesView } from './names-view.tsx'
import { SearchView } from './search-view.tsx'
import { WarningsView } from './warnings-view.tsx'

type IndexRoute = Extract<Route, { page: 'index' }>

/** An index that is open, or is being opened. */
export function IndexPage({ where }: { readonly where: IndexRoute }): JSX.Element {
  const { id, view, query } = where
  useEffect(() => void openKept(id), [id])
  const { value: index } = opened
  if (index?.kept.id !== id) {
    return (
      <div class="panel empty">
        <h1>This index is not open</h1>
        <p>
          <a href="#/">See what is kept in this browser</a>
        </p>
      </div>
    )
  }
  return (
    <>
      <IndexHead index={index} />
      <nav class="tabs" aria-label="Parts of the index">
        <ul>
          {VIEWS.map((one) => (
            <li key={one}>
              <a
                href={indexHref(id, one, { q: query.get('q') ?? '' })}
                aria-current={one === view || (view === 'chunk' && one === 'search') ? 'page' : undefined}
              >
                {LABELS[one]}
                {one === 'warnings' ? <span class="quiet number"> {writeNumber(index.kept.warnings)}</span> : null}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Guard key={view}>
        <Part where={where} index={index} />
      </Guard>
    </>
  )
}

const LABELS: Readonly<Record<Exclude<View, 'chunk'>, string>> = {
  search: 'Search',
  files: 'Files',
  outline: 'Outline',
  symbols: 'Symbols',
  warnings: 'Warnings',
  export: 'Export',
}

function Part({ where, index }: { readonly where: IndexRoute; readonly index: Opened }): JSX.Element {
  const { id, view, ref, query } = where
  if (view === 'files') return <FilesView id={id} path={query.get('path')} />
  if (view === 'outline' || view === 'symbols') return <NamesView key={view} id={id} what={view} />
  if (view === 'warnings') return <WarningsView id={id} />
  if (view === 'export') return <ExportPanel kept={index.kept} />
  if (view === 'chunk') return <ChunkView id={id} chunkRef={ref} query={query} />
  return <SearchView id={id} query={query} files={index.kept.files} />
}

function IndexHead({ index }: { readonly index: Opened }): JSX.Element {
  const { kept, unkept, counts, bytes } = index
  const { files, chunks, tokens, updatedAt } = kept
  return (
    <>
      <p class="back">
        <a href="#/">← All indexes</a>
      </p>
      <div class="index-head">
        <div class="kept-words">
          <h1>{kept.name}</h1>
          <p class="quiet small" id="index-facts">
            {countOf(files, 'file')}, {writeBytes(bytes)}, {countOf(chunks, 'chunk')}, about {countOf(tokens, 'token')},{' '}
            <span title={writeMoment(updatedAt)}>updated {writeAgo(updatedAt, Date.now())}</span>
            {counts === null || counts.unchanged === 0
              ? null
              : ` (${writeNumber(counts.cut)} cut anew, ${writeNumber(counts.unchanged)} as before)`}
          </p>
        </div>
        <div class="buttons">
          <a class="button primary" href={indexHref(kept.id, 'export')}>
            Download a pack
          </a>
          {unkept === null ? <IndexActions kept={kept} /> : null}
        </div>
      </div>
      {unkept === null ? null : (
        <div class="panel notice" role="note" id="not-kept">
          <p>
            <strong>This index is not kept: it is here until this tab is closed.</strong> {unkept.message}
          </p>
          <p>{unkept.advice}</p>
        </div>
      )}
    </>
  )
}
