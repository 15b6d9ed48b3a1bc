import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { ask } from '../desk.ts'
import { nameOfKind } from '../parts/kind-name.ts'
import { LongList, STEP } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { TroubleBox } from '../parts/trouble-box.tsx'
import { indexHref } from '../route.ts'
import { type Told, tell } from '../trouble.ts'
import type { ChunkLine } from '../work/operations.ts'
import { usePart } from './use-part.ts'

/** All files, or the chunks of one. */
export function FilesView({ id, path }: { readonly id: string; readonly path: string | null }): JSX.Element {
  return path === null ? <AllFiles id={id} /> : <FileChunks key={path} id={id} path={path} />
}

function AllFiles({ id }: { readonly id: string }): JSX.Element {
  const { match, answer, trouble, onMore } = usePart((part) => ask('files', part))
  return (
    <section aria-labelledby="files-title">
      <h2 id="files-title">Files</h2>
      <MatchField match={match} noun="file" total={answer?.total ?? null} />
      <TroubleBox told={trouble} />
      {answer === null || answer.total === 0 ? null : (
        <LongList items={answer.files} total={answer.total} noun="file" keyOf={(file) => file.path} onMore={onMore}>
          {({ path, kind, bytes, lineCount }) => (
            <>
              <a class="grow path" href={indexHref(id, 'files', { path })}>
                {path}
              </a>
              <span class="quiet small aside">{nameOfKind(kind)}</span>
              <span class="quiet small number aside">{countOf(lineCount, 'line')}</span>
              <span class="number size">{writeBytes(bytes)}</span>
            </>
          )}
        </LongList>
      )}
    </section>
  )
}

function FileChunks({ id, path }: { readonly id: string; readonly path: string }): JSX.Element {
  const chunks = useSignal<readonly ChunkLine[] | null>(null)
  const trouble = useSignal<Told | null>(null)
  const most = useSignal(STEP)
  useEffect(() => {
    ask('chunksOf', { path }).then(
      (answer) => {
        chunks.value = answer.chunks
      },
      (error: unknown) => {
        trouble.value = tell(error)
      },
    )
  }, [path])
  const all = chunks.value
  return (
    <section aria-labelledby="file-title">
      <p class="back">
        <a href={indexHref(id, 'files')}>← All files</a>
      </p>
      <h2 id="file-title" class="path">
        {path}
      </h2>
      <p class="quiet small">
        {all === null
          ? 'Looking…'
          : all.length === 0
            ? 'It has no chunks; the warnings may say why.'
            : countOf(all.length, 'chunk')}
        {' · '}
        <a href={indexHref(id, 'search', { path })}>Search in this file</a>
      </p>
      <TroubleBox told={trouble.value} />
      {all === null || all.length === 0 ? null : (
        <LongList
          items={all.slice(0, most.value)}
          total={all.length}
          noun="chunk"
          keyOf={(chunk) => chunk.ref}
          onMore={() => {
            most.value += STEP
          }}
        >
          {({ ref, label, startLine, endLine }) => (
            <>
              <a class="grow" href={indexHref(id, 'chunk', { ref })}>
                {label}
              </a>
              <span class="quiet small number">
                {startLine === endLine ? `line ${startLine}` : `lines ${startLine}–${endLine}`}
              </span>
            </>
          )}
        </LongList>
      )}
    </section>
  )
}
