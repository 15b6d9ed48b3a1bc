import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { ask } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { indexHref, replaceQuery } from '../route.ts'
import { isReturning } from '../scroll-restoration.ts'
import { describeError, type ErrorMessage } from '../user-error.ts'
import type { FileChunk, ShownFile } from '../work/operations.ts'
import { ChunkLines, writeLines } from './chunk-lines.tsx'
import { IndexImage } from './index-image.tsx'
import { latestOnly } from './latest-only.ts'
import { writeWarning } from './write-warning.ts'

/** Number of chunks per request, enough for a few screens. */
const CHUNKS_PER_REQUEST = 20

/** Maximum number of chunks in the first request when the user returns to a file. */
const MAX_FIRST_CHUNKS = 200

/** The file to show. */
export interface FileInput {
  readonly id: string
  readonly path: string
  /** The number of chunks that were loaded before. */
  readonly seen: number
}

/** Shows the chunks of a file in order, and loads more as the user scrolls. */
export function FileView({ id, path, seen }: FileInput): JSX.Element {
  const shown = useSignal<ShownFile | null>(null)
  const error = useSignal<ErrorMessage | null>(null)
  const read = useMemo(
    () =>
      latestOnly(async (from: number) => {
        try {
          const before = shown.peek()?.chunks ?? []
          if (before.length !== from) return
          const limit = from === 0 ? Math.min(MAX_FIRST_CHUNKS, Math.max(CHUNKS_PER_REQUEST, seen)) : CHUNKS_PER_REQUEST
          const more = await ask('file', { path, from, limit })
          const chunks = [...before, ...more.chunks]
          shown.value = { ...more, chunks }
          // The address keeps the number, so that going back restores the chunks.
          if (from > 0) replaceQuery({ seen: String(chunks.length) })
        } catch (cause) {
          error.value = describeError(cause)
        }
      }),
    [],
  )
  useEffect(() => void read(0), [])
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isReturning()) title.current?.focus({ preventScroll: true })
  }, [])
  const { value } = shown
  return (
    <section aria-labelledby="file-title">
      <p class="back">
        <a href={indexHref(id, 'files')}>← All files</a>
      </p>
      <h2 ref={title} id="file-title" class="path" tabIndex={-1}>
        {path}
      </h2>
      <ErrorBox error={error.value} />
      {value === null ? <p class="quiet small">Loading…</p> : <FileText id={id} path={path} shown={value} />}
      {value === null || value.chunks.length === value.total ? null : (
        <LoadMore left={value.total - value.chunks.length} onNear={() => void read(value.chunks.length)} />
      )}
    </section>
  )
}

interface FileTextInput {
  readonly id: string
  readonly path: string
  readonly shown: ShownFile
}

function FileText({ id, path, shown }: FileTextInput): JSX.Element {
  const { file, warnings, chunks, total } = shown
  const isImage = file?.kind === 'image'
  return (
    <>
      <p class="quiet small" id="file-facts">
        {file === null ? 'This file is not in the index.' : describe(shown).join(' · ')}
        {total === 0 || isImage ? null : (
          <>
            {' · '}
            <a href={indexHref(id, 'search', { path })}>Search in this file</a>
          </>
        )}
      </p>
      {warnings.length === 0 ? null : (
        <ul class="panel notice file-warnings small">
          {warnings.map(({ code, message }) => (
            <li key={code + message}>{writeWarning({ code, message })}</li>
          ))}
        </ul>
      )}
      {isImage ? <IndexImage path={path} /> : chunks.map((part) => <FilePart key={part.ref} id={id} part={part} />)}
    </>
  )
}

function describe({ file, total }: ShownFile): string[] {
  if (file === null) return []
  const { kind, bytes, lineCount, sha256 } = file
  return [
    nameOfKind(kind),
    // A compact pack has no file sizes.
    ...(sha256 === '' ? [] : [writeBytes(bytes)]),
    ...(kind === 'image' ? [] : [countOf(lineCount, 'line')]),
    total === 0 ? 'no text' : countOf(total, 'chunk'),
  ]
}

function FilePart({ id, part }: { readonly id: string; readonly part: FileChunk }): JSX.Element {
  const { ref, label, chunk } = part
  return (
    <section class="file-part" aria-labelledby={`part-${ref}`}>
      <h3 id={`part-${ref}`}>
        <a href={indexHref(id, 'chunk', { ref })}>{label}</a>{' '}
        <span class="quiet small number">{writeLines(chunk)}</span>
      </h3>
      <ChunkLines chunk={chunk} terms={[]} />
    </section>
  )
}

/** Loads the next chunks shortly before they scroll into view. */
function LoadMore({ left, onNear }: { readonly left: number; readonly onNear: () => void }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) onNear()
      },
      { rootMargin: '1000px' },
    )
    if (button.current !== null) observer.observe(button.current)
    return () => observer.disconnect()
  }, [left])
  return (
    <p class="more">
      <button type="button" ref={button} onClick={onNear}>
        {countOf(left, 'more chunk')}
      </button>
    </p>
  )
}
