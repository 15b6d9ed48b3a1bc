import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { loadStoredIndexes, type PreparedFolder, repeatSurvey, storedIndexes } from '../page-state.ts'
import { PageTitle } from '../parts/page-title.tsx'
import { Since } from '../parts/since.tsx'
import { go } from '../route.ts'
import type { Survey } from '../work/operations.ts'
import { ChangeList } from './changes.tsx'
import { ExclusionsField } from './exclusions-field.tsx'
import { LimitFields } from './limit-fields.tsx'
import { countChanges, ReadButton } from './read-button.tsx'
import { SkippedFiles } from './skipped-files.tsx'

/** Shows what would be read before anything is read. */
export function Preview({ prepared }: { readonly prepared: PreparedFolder }): JSX.Element {
  const { survey, update, limits } = prepared
  const skipped = survey.skipped.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      <p class="back">
        <a href="#/">← Another folder</a>
      </p>
      <PageTitle key={update?.id}>
        {update === null ? 'Preview of' : 'Update from'} {survey.name}
      </PageTitle>
      {update === null ? <KnownFolder prepared={prepared} /> : <UpdateNote prepared={prepared} />}
      <div class="panel summary">
        <p class="figure">
          {survey.files === 0
            ? 'Nothing here can be read'
            : `${countOf(survey.files, 'file')}, ${writeBytes(survey.bytes)}`}
        </p>
        <p class="quiet">
          {survey.files === 0
            ? 'None of the files will be read, for the reasons below. Choose another folder, or change what is left out.'
            : skipped === 0
              ? 'Nothing has been read yet.'
              : `Nothing has been read yet. ${skipped === 1 ? '1 file or folder' : `${writeNumber(skipped)} files and folders`} will be skipped.`}
        </p>
        {survey.changes === undefined ? null : (
          <ChangeList changes={survey.changes} readsAll={countChanges(prepared) === null} />
        )}
        {survey.files === 0 ? null : <LimitFields prepared={prepared} />}
        {survey.files === 0 && survey.leaveOut === '' ? null : <ExclusionsField key={update?.id} prepared={prepared} />}
        <div class="buttons">
          <ReadButton prepared={prepared} />
          <button type="button" onClick={() => go('#/')}>
            Cancel
          </button>
        </div>
      </div>
      {survey.files === 0 ? null : (
        <div class="columns">
          <Kinds kinds={survey.kinds} />
          <Largest largest={survey.largest} maxBytes={limits.maxFileBytes} />
        </div>
      )}
      <SkippedFiles groups={survey.skipped} />
      {survey.mayHideFiles ? (
        <p class="quiet small" id="may-hide">
          In a chosen folder, browsers hide files whose names are invalid on other systems, such as “What now?.md”. Drop
          the folder onto this page to include them.
        </p>
      ) : null}
    </>
  )
}

function UpdateNote({ prepared: { survey, update } }: { readonly prepared: PreparedFolder }): JSX.Element | null {
  if (update === null) return null
  if (update.root === survey.name) return <p class="quiet">The index “{update.name}” will be updated.</p>
  return (
    <p class="panel notice" role="note">
      “{update.name}” was made from the folder {update.root}, and this one is called {survey.name}. Files that are not
      in this folder are removed from the index.
    </p>
  )
}

/** Offers to update an index that was made from a folder of the same name. */
function KnownFolder({ prepared: { survey } }: { readonly prepared: PreparedFolder }): JSX.Element | null {
  useEffect(() => void loadStoredIndexes(), [])
  const known = storedIndexes.value?.indexes.find(({ root }) => root === survey.name)
  if (known === undefined) return null
  return (
    <div class="panel notice known" role="note" id="known-folder">
      <p>
        “{known.name}” was made from a folder of this name, and was <Since kept={known} />. Reading makes a second
        index.
      </p>
      <button type="button" onClick={() => void repeatSurvey(known.leaveOut ?? '', known)}>
        Update it instead
      </button>
    </div>
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

/** Number of large files shown. */
const MAX_SHOWN = 8

function Largest(props: { readonly largest: Survey['largest']; readonly maxBytes: number }): JSX.Element {
  return (
    <section aria-labelledby="largest-title">
      <h2 id="largest-title">Largest files</h2>
      <ul class="rows panel">
        {props.largest.slice(0, MAX_SHOWN).map(({ path, bytes }) => (
          <li key={path}>
            <span class="grow path">{path}</span>
            {bytes > props.maxBytes ? <span class="pill pill-warn">too large</span> : null}
            <span class="number size">{writeBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
