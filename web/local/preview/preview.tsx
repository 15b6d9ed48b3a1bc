import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { type Prepared, readPrepared } from '../desk.ts'
import { nameOfKind } from '../parts/kind-name.ts'
import { PageTitle } from '../parts/page-title.tsx'
import { go } from '../route.ts'
import type { Survey } from '../work/operations.ts'
import { countOversized, LimitFields } from './limit-fields.tsx'
import { PassedOver } from './passed-over.tsx'

/** What would be read, before anything is. */
export function Preview({ prepared }: { readonly prepared: Prepared }): JSX.Element {
  const { survey, update, limits } = prepared
  const { count: oversized, isAtLeast } = countOversized(survey, limits)
  const wanted = survey.files - oversized
  const skipped = survey.skipped.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <p class="back">
        <a href="#/">← Another folder</a>
      </p>
      <PageTitle>
        {update === null ? 'Preview of' : 'Update from'} {survey.name}
      </PageTitle>
      {update !== null && update.root !== survey.name ? (
        <p class="panel notice" role="note">
          “{update.name}” was made from the folder {update.root}, and this one is called {survey.name}. What is not in
          here is removed from the index.
        </p>
      ) : null}
      <div class="panel summary">
        <p class="figure">
          {survey.files === 0
            ? 'Nothing here can be read'
            : `${countOf(survey.files, 'file')}, ${writeBytes(survey.bytes)}`}
        </p>
        <p class="quiet">
          {survey.files === 0
            ? 'What was found is passed over, for the reasons below. Choose another folder, or change its ignore files.'
            : skipped === 0
              ? 'Nothing has been read yet.'
              : `Nothing has been read yet. ${skipped === 1 ? '1 file or folder is' : `${writeNumber(skipped)} files and folders are`} passed over.`}
        </p>
        {survey.changes === undefined ? null : <Changes changes={survey.changes} />}
        {survey.files === 0 ? null : <LimitFields prepared={prepared} />}
        <div class="buttons">
          {survey.files === 0 ? null : (
            <button type="button" class="primary" disabled={wanted === 0} onClick={() => void readPrepared()}>
              Read {isAtLeast ? 'the others' : countOf(wanted, 'file')}
            </button>
          )}
          <button type="button" onClick={() => go('#/')}>
            Back
          </button>
        </div>
      </div>
      {survey.files === 0 ? null : (
        <div class="columns">
          <Kinds kinds={survey.kinds} />
          <Largest largest={survey.largest} most={limits.maxFileBytes} />
        </div>
      )}
      <PassedOver groups={survey.skipped} />
    </>
  )
}

function Changes({ changes }: { readonly changes: NonNullable<Survey['changes']> }): JSX.Element {
  const { added, changed, removed, same } = changes
  const figures: readonly (readonly [string, number])[] = [
    ['new', added],
    ['changed', changed],
    ['removed', removed],
    ['unchanged', same],
  ]
  return (
    <p id="changes">
      {figures.map(([word, count], i) => (
        <span key={word}>
          {i === 0 ? '' : ', '}
          <strong class="number">{writeNumber(count)}</strong> {word}
        </span>
      ))}
      {added + changed + removed === 0 ? ': the index is up to date.' : '. Only what is new or changed is cut again.'}
    </p>
  )
}

function Kinds({ kinds }: { readonly kinds: Survey['kinds'] }): JSX.Element {
  return (
    <section aria-labelledby="kinds-title">
      <h2 id="kinds-title">By kind</h2>
      <ul class="rows panel">
        {kinds.map(({ kind, files, bytes }) => (
          <li key={kind}>
            <span class="grow">{nameOfKind(kind)}</span>
            <span class="quiet number">{countOf(files, 'file')}</span>
            <span class="number size">{writeBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** As many as are looked at. */
const SHOWN = 8

function Largest(props: { readonly largest: Survey['largest']; readonly most: number }): JSX.Element {
  return (
    <section aria-labelledby="largest-title">
      <h2 id="largest-title">The largest</h2>
      <ul class="rows panel">
        {props.largest.slice(0, SHOWN).map(({ path, bytes }) => (
          <li key={path}>
            <span class="grow path">{path}</span>
            {bytes > props.most ? <span class="pill pill-warn">too large</span> : null}
            <span class="number size">{writeBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
