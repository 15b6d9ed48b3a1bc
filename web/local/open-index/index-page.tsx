import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { Guard } from '../../shared/guard.tsx'
import { keepOpened, meaning, opened, openKept, unopened } from '../desk.ts'
import { IndexActions } from '../parts/index-actions.tsx'
import { Since } from '../parts/since.tsx'
import { indexHref, type Route, VIEWS, type View } from '../route.ts'
import type { Opened } from '../work/operations.ts'
import { ChunkView } from './chunk-view.tsx'
import { ExportPanel } from './export-panel.tsx'
import { FileView } from './file-view.tsx'
import { FilesView } from './files-view.tsx'
import { NamesView } from './names-view.tsx'
import { SearchView } from './search-view.tsx'
import { SecretsNote } from './secrets-note.tsx'
import { WarningsView } from './warnings-view.tsx'

type IndexRoute = Extract<Route, { page: 'index' }>

/** An index that is open or being opened. */
export function IndexPage({ where }: { readonly where: IndexRoute }): JSX.Element {
  const { id, view, query } = where
  useEffect(() => void openKept(id), [id])
  const { value: index } = opened
  if (index?.kept.id !== id) {
    const told = unopened.value?.id === id ? unopened.value.told : null
    return (
      <div class="panel empty" role="status">
        <h1>This index is not open</h1>
        {told === null ? null : <p>{`${told.message} ${told.advice}`}</p>}
        <p>
          <a href="#/">See what is kept in this browser</a>
        </p>
      </div>
    )
  }
  return (
    <>
      <IndexHead index={index} view={view} />
      <nav class="tabs" aria-label="Parts of the index">
        <ul>
          {VIEWS.map((one) => (
            <li key={one}>
              <a
                href={indexHref(id, one, { q: query.get('q') ?? '' })}
                aria-current={one === view || (view === 'chunk' && one === 'search') ? 'page' : undefined}
              >
                {LABELS[one]}
                {one === 'warnings' && !index.about.isCompact ? (
                  <span class="quiet number"> {writeNumber(index.kept.warnings)}</span>
                ) : null}
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
  const { isCompact, kinds } = index.about
  const path = query.get('path')
  if (view === 'files' && path !== null)
    return <FileView key={path} id={id} path={path} seen={Number(query.get('seen')) || 0} />
  if (view === 'files') return <FilesView id={id} isCompact={isCompact} />
  if (view === 'outline' || view === 'symbols')
    return <NamesView key={view} id={id} what={view} isCompact={isCompact} />
  if (view === 'warnings') return <WarningsView id={id} isCompact={isCompact} />
  if (view === 'export') return <ExportPanel index={index} />
  if (view === 'chunk') return <ChunkView id={id} chunkRef={ref} query={query} />
  return <SearchView id={id} query={query} files={index.kept.files} kinds={kinds} />
}

function IndexHead({ index, view }: { readonly index: Opened; readonly view: View }): JSX.Element {
  const { kept, unkept, counts, about } = index
  const { files, chunks, tokens } = kept
  return (
    <>
      <p class="back">
        <a href="#/">← All indexes</a>
      </p>
      <div class="index-head">
        <div class="kept-words">
          <h1>{kept.name}</h1>
          <p class="quiet small" id="index-facts">
            {countOf(files, 'file')}, {about.isCompact ? '' : `${writeBytes(about.bytes)}, `}
            {countOf(chunks, 'chunk')}, about {countOf(tokens, 'token')}, <Since kept={kept} />
            {counts === null || counts.unchanged === 0
              ? null
              : ` (${writeNumber(counts.cut)} read anew, ${writeNumber(counts.unchanged)} as before)`}
          </p>
          <MeaningLine />
          <Missing index={index} />
          {about.secrets.count === 0 || view === 'export' ? null : (
            <p class="small may-hold" id="secrets-line">
              May hold secrets: <SecretsNote index={index} />
            </p>
          )}
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
          <p>
            <button type="button" onClick={() => void keepOpened()}>
              Try again to keep it
            </button>
          </p>
        </div>
      )}
    </>
  )
}

/** Says whether the index can be searched by meaning, or only by words. */
function MeaningLine(): JSX.Element | null {
  const { value } = meaning
  if (value === null) return null
  const { state, percent, told } = value
  return (
    <p class="quiet small" id="meaning">
      {state === 'making' ? `Searchable now; meaning ${percent} %` : null}
      {state === 'whole' ? 'Searched by words and meaning' : null}
      {state === 'off' ? `Searched by words alone${told === null ? '' : `: ${told.message} ${told.advice}`}` : null}
    </p>
  )
}

/** Says how many files are missing from the index or only partly in it. */
function Missing({ index }: { readonly index: Opened }): JSX.Element | null {
  const { isCompact, leftOut, cutOff } = index.about
  if (isCompact) return <p class="quiet small">A compact pack: sizes, definitions and warnings are not known.</p>
  if (leftOut + cutOff === 0) return null
  const parts = [
    ...(leftOut === 0 ? [] : [leftOut === 1 ? '1 file is not in it' : `${writeNumber(leftOut)} files are not in it`]),
    ...(cutOff === 0 ? [] : [cutOff === 1 ? '1 file is not whole' : `${writeNumber(cutOff)} files are not whole`]),
  ]
  return (
    <p class="small may-hold" id="missing">
      {parts.join(', ')}: <a href={indexHref(index.kept.id, 'warnings')}>the warnings say why</a>
    </p>
  )
}
