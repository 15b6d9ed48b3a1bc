import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Chunk } from '../../../src/core/model.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { ask } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { go, indexHref } from '../route.ts'
import { goBackOr, goBackTo, isPlainClick } from '../scroll-restoration.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'
import type { ShownChunk } from '../work/operations.ts'
import { ChunkLines } from './chunk-lines.tsx'
import { writeCitation } from './citation.ts'
import { downloadArtefact } from './download.ts'
import { IndexImage } from './index-image.tsx'
import { hasQuery, keyOf, queryResults, search } from './query-results.ts'

/** The chunk to show, and the query that led to it. */
export interface ChunkInput {
  readonly id: string
  readonly chunkRef: string
  readonly query: URLSearchParams
}

/** One chunk with line numbers and actions. */
export function ChunkView({ id, chunkRef, query }: ChunkInput): JSX.Element {
  const shown = useSignal<ShownChunk | null>(null)
  const error = useSignal<ErrorMessage | null>(null)
  const key = keyOf(id, query)
  useEffect(() => {
    let isUnmounted = false
    error.value = null
    ask('chunk', { ref: chunkRef }).then(
      (answer) => {
        if (!isUnmounted) shown.value = answer
      },
      (cause: unknown) => {
        if (!isUnmounted) error.value = describeError(cause)
      },
    )
    return () => {
      isUnmounted = true
    }
  }, [chunkRef])
  useEffect(() => {
    // After a reload the search is repeated, because its terms are highlighted.
    if (query.get('q') && queryResults.peek()?.key !== key) void search(id, query, 50)
  }, [key])
  const parameters = Object.fromEntries(query)
  const path = shown.value?.chunk.path ?? ''
  const backHref = hasQuery(query) ? indexHref(id, 'search', parameters) : indexHref(id, 'files', { path })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // Escape also closes a dialog.
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) goBackOr(backHref)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [backHref])
  return (
    <section aria-labelledby="chunk-title">
      <p class="back">
        <a
          href={backHref}
          onClick={(event) => {
            if (!isPlainClick(event)) return
            event.preventDefault()
            goBackTo(backHref)
          }}
        >
          ← {hasQuery(query) ? `Results${query.has('q') ? ` for “${query.get('q')}”` : ''}` : 'The whole file'}
        </a>{' '}
        <span class="keys quiet">
          <kbd>Esc</kbd>
        </span>
      </p>
      <ErrorBox error={error.value} />
      {shown.value === null || error.value !== null ? null : (
        <ChunkText
          id={id}
          shown={shown.value}
          parameters={parameters}
          terms={termsOf(key)}
          onError={(message) => (error.value = message)}
        />
      )}
    </section>
  )
}

interface ChunkTextInput {
  readonly id: string
  readonly shown: ShownChunk
  readonly parameters: Readonly<Record<string, string>>
  readonly terms: readonly string[]
  readonly onError: (message: ErrorMessage) => void
}

function ChunkText({ id, shown, parameters, terms, onError }: ChunkTextInput): JSX.Element {
  const { chunk, ref, before, after } = shown
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [ref])
  const { path, startLine, endLine, headingPath, symbol, address, tokenEstimate } = chunk
  const names = [headingPath.join(' › '), symbol, address].filter(Boolean)
  return (
    <>
      <h2 ref={title} id="chunk-title" class="path" tabIndex={-1}>
        <a href={indexHref(id, 'files', { path })} title="The whole file">
          {path}
        </a>
        <span class="quiet">
          :{startLine}-{endLine}
        </span>
      </h2>
      <p class="quiet small">{[...names, countOf(tokenEstimate, 'token'), ref].join(' · ')}</p>
      <div class="buttons chunk-buttons">
        <CopyButton chunk={chunk} chunkRef={ref} />
        <button
          type="button"
          onClick={() => {
            downloadArtefact({ type: 'chunk', ref }).catch((error: unknown) => onError(describeError(error)))
          }}
        >
          Download chunk
        </button>
        <span class="spring" />
        <NeighbourLink label="Previous" id={id} to={before} parameters={parameters} />
        <NeighbourLink label="Next" id={id} to={after} parameters={parameters} />
      </div>
      {chunk.kind === 'image' ? <IndexImage path={path} /> : null}
      <ChunkLines id="chunk-text" chunk={chunk} terms={terms} />
    </>
  )
}

interface NeighbourInput {
  readonly label: string
  readonly id: string
  readonly to: string | null
  readonly parameters: Readonly<Record<string, string>>
}

function NeighbourLink({ label, id, to, parameters }: NeighbourInput): JSX.Element {
  const words = `${label} chunk of this file`
  if (to === null) {
    return (
      <button type="button" disabled aria-label={words}>
        {label}
      </button>
    )
  }
  const href = indexHref(id, 'chunk', { ...parameters, ref: to })
  return (
    <a
      class="button"
      aria-label={words}
      href={href}
      onClick={(event) => {
        if (!isPlainClick(event)) return
        event.preventDefault()
        // Replaces the history entry, so that going back leads to the search results.
        go(href, true)
      }}
    >
      {label}
    </a>
  )
}

function CopyButton({ chunk, chunkRef }: { readonly chunk: Chunk; readonly chunkRef: string }): JSX.Element {
  const state = useSignal<'ready' | 'copied' | 'by hand'>('ready')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    state.value = 'ready'
  }, [chunkRef])
  useEffect(() => {
    if (state.value === 'by hand') field.current?.select()
  }, [state.value])
  const text = writeCitation(chunk, chunkRef)
  return (
    <>
      <button
        type="button"
        class="primary"
        onClick={() => {
          void copy(text).then((isCopied) => {
            state.value = isCopied ? 'copied' : 'by hand'
          })
        }}
      >
        Copy with citation
      </button>
      <span class="small good" role="status" id="copy-state">
        {state.value === 'copied' ? 'Copied' : ''}
      </span>
      {state.value === 'by hand' ? (
        <label class="field by-hand">
          <span>The browser does not let this page copy. The text is selected: copy it with Ctrl+C, or ⌘C.</span>
          <textarea ref={field} readOnly rows={6} value={text} />
        </label>
      ) : null}
    </>
  )
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The clipboard is not allowed, or missing on an insecure address.
    return false
  }
}

/** The matched terms, in all forms in which they occur. */
function termsOf(key: string): readonly string[] {
  const { value } = queryResults
  return value?.key === key ? [...new Set(value.hits.flatMap(({ terms }) => terms))] : []
}
