import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { ErrorBoundary } from '../../shared/error-boundary.tsx'
import {
  announcement,
  embeddingProgress,
  failedIndex,
  lastError,
  openedIndex,
  openStoredIndex,
  saveOpenedIndex,
} from '../page-state.ts'
import { IndexActions } from '../parts/index-actions.tsx'
import { Since } from '../parts/since.tsx'
import { indexHref, type Route, VIEWS, type View } from '../route.ts'
import { describeError } from '../user-error.ts'
import type { OpenedIndex } from '../work/operations.ts'
import { ChunkView } from './chunk-view.tsx'
import { downloadArtefact } from './download.ts'
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
  useEffect(() => void openStoredIndex(id), [id])
  const { value: index } = openedIndex
  if (index?.stored.id !== id) {
    const error = failedIndex.value?.id === id ? failedIndex.value.error : null
    return (
      <div class="panel empty" role="status">
        <h1>This index is not open</h1>
        {error === null ? null : <p>{`${error.message} ${error.advice}`}</p>}
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
          {VIEWS.map((name) => (
            <li key={name}>
              <a
                href={indexHref(id, name, { q: query.get('q') ?? '' })}
                aria-current={name === view || (view === 'chunk' && name === 'search') ? 'page' : undefined}
              >
                {LABELS[name]}
                {name === 'warnings' && !index.summary.isCompact ? (
                  <span class="quiet number"> {writeNumber(index.stored.warnings)}</span>
                ) : null}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <ErrorBoundary key={view}>
        <IndexView where={where} index={index} />
      </ErrorBoundary>
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

function IndexView({ where, index }: { readonly where: IndexRoute; readonly index: OpenedIndex }): JSX.Element {
  const { id, view, ref, query } = where
  const { isCompact, kinds } = index.summary
  const path = query.get('path')
  if (view === 'files' && path !== null)
    return <FileView key={path} id={id} path={path} seen={Number(query.get('seen')) || 0} />
  if (view === 'files') return <FilesView id={id} isCompact={isCompact} />
  if (view === 'outline' || view === 'symbols')
    return <NamesView key={view} id={id} what={view} isCompact={isCompact} />
  if (view === 'warnings') return <WarningsView id={id} isCompact={isCompact} />
  if (view === 'export') return <ExportPanel index={index} />
  if (view === 'chunk') return <ChunkView id={id} chunkRef={ref} query={query} />
  return <SearchView id={id} query={query} files={index.stored.files} kinds={kinds} />
}

function IndexHead({ index, view }: { readonly index: OpenedIndex; readonly view: View }): JSX.Element {
  const { stored, saveError, counts, summary } = index
  const { files, chunks, tokens } = stored
  return (
    <>
      <p class="back">
        <a href="#/">← All indexes</a>
      </p>
      <div class="index-head">
        <div class="kept-words">
          <h1>{stored.name}</h1>
          <p class="quiet small" id="index-facts">
            {countOf(files, 'file')}, {summary.isCompact ? '' : `${writeBytes(summary.bytes)}, `}
            {countOf(chunks, 'chunk')}, about {countOf(tokens, 'token')}, <Since kept={stored} />
            {counts === null || counts.unchanged === 0
              ? null
              : ` (${writeNumber(counts.cut)} read, ${writeNumber(counts.unchanged)} unchanged)`}
          </p>
          <EmbeddingLine />
          <MissingFiles index={index} />
          {summary.secrets.count === 0 || view === 'export' ? null : (
            <p class="small may-hold" id="secrets-line">
              May hold secrets: <SecretsNote index={index} />
            </p>
          )}
        </div>
        <div class="buttons">
          <DownloadButton index={index} />
          {saveError === null ? <IndexActions kept={stored} /> : null}
        </div>
      </div>
      {saveError === null ? null : (
        <div class="panel notice" role="note" id="not-kept">
          <p>
            <strong>This index is not kept: it is here until this tab is closed.</strong> {saveError.message}
          </p>
          <p>{saveError.advice}</p>
          <p>
            <button type="button" onClick={() => void saveOpenedIndex()}>
              Try again to keep it
            </button>
          </p>
        </div>
      )}
    </>
  )
}

/**
 * Downloads the compact pack, which is what most readers of a pack need. The export view has the other files, and a warning for an index
 * that may hold secrets.
 */
function DownloadButton({ index }: { readonly index: OpenedIndex }): JSX.Element {
  const isWriting = useSignal(false)
  const download = async () => {
    isWriting.value = true
    try {
      const { name, blob } = await downloadArtefact({ type: 'zip', compact: true })
      announcement.value = `${name}, ${writeBytes(blob.size)}, is in your downloads.`
    } catch (error) {
      lastError.value = describeError(error)
    }
    isWriting.value = false
  }
  if (index.summary.secrets.count > 0) {
    return (
      <a class="button primary" href={indexHref(index.stored.id, 'export')}>
        Download a pack
      </a>
    )
  }
  return (
    <button type="button" class="primary" disabled={isWriting.value} onClick={() => void download()}>
      {isWriting.value ? 'Writing the pack' : 'Download a pack'}
    </button>
  )
}

/** Says whether the index can be searched by meaning, or only by words. */
function EmbeddingLine(): JSX.Element | null {
  const { value } = embeddingProgress
  if (value === null) return null
  const { state, percent, error } = value
  return (
    <p class="quiet small" id="meaning">
      {state === 'making' ? `Searchable by words; embedding is ${percent} % done` : null}
      {state === 'whole' ? 'Searched by words and meaning' : null}
      {state === 'off' ? `Searched by words alone${error === null ? '' : `: ${error.message} ${error.advice}`}` : null}
    </p>
  )
}

/** Says how many files are missing from the index or only partly in it. */
function MissingFiles({ index }: { readonly index: OpenedIndex }): JSX.Element | null {
  const { isCompact, missingCount, partialCount } = index.summary
  if (isCompact) return <p class="quiet small">A compact pack: sizes, definitions and warnings are not known.</p>
  if (missingCount + partialCount === 0) return null
  const parts = [
    ...(missingCount === 0
      ? []
      : [missingCount === 1 ? '1 file is missing' : `${writeNumber(missingCount)} files are missing`]),
    ...(partialCount === 0
      ? []
      : [partialCount === 1 ? '1 file is incomplete' : `${writeNumber(partialCount)} files are incomplete`]),
  ]
  return (
    <p class="small may-hold" id="missing">
      {parts.join(', ')}: <a href={indexHref(index.stored.id, 'warnings')}>the warnings say why</a>
    </p>
  )
}
