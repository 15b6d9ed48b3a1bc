import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import type { StoredIndex } from '../keep/index-store.ts'
import { IndexActions } from '../parts/index-actions.tsx'
import { Since } from '../parts/since.tsx'
import { indexHref } from '../route.ts'
import type { StoredIndexes } from '../work/operations.ts'

/** The indexes stored in this browser, and the storage they take. */
export function StoredIndexList({ list }: { readonly list: StoredIndexes }): JSX.Element | null {
  const { indexes, error } = list
  if (error !== null) {
    return (
      <div class="panel notice" role="note" id="nothing-kept">
        <p>
          <strong>{error.message}</strong>
        </p>
        <p>{error.advice}</p>
      </div>
    )
  }
  if (indexes.length === 0) return null
  return (
    <section aria-labelledby="kept-title">
      <h2 id="kept-title" tabIndex={-1}>
        Kept in this browser
      </h2>
      <ul class="kept">
        {indexes.map((index) => (
          <li key={index.id} class="panel">
            <StoredIndexRow kept={index} />
          </li>
        ))}
      </ul>
      <StorageUsage {...list} />
    </section>
  )
}

function StoredIndexRow({ kept }: { readonly kept: StoredIndex }): JSX.Element {
  const { id, name, files, chunks, size } = kept
  return (
    <>
      <div class="kept-words">
        <h3>
          <a href={indexHref(id)}>{name}</a>
        </h3>
        <p class="quiet small">
          {countOf(files, 'file')}, {countOf(chunks, 'chunk')}, {writeBytes(size)} here, <Since kept={kept} />
        </p>
      </div>
      <div class="buttons">
        <a class="button" href={indexHref(id)} aria-label={`Open ${name}`}>
          Open
        </a>
        <IndexActions kept={kept} />
      </div>
    </>
  )
}

function StorageUsage({ used, quota }: StoredIndexes): JSX.Element | null {
  if (used === null || quota === null) return null
  return (
    <p class="quiet small" id="room">
      {writeBytes(used)} in use of {writeBytes(quota)} that the browser offers to this page.
    </p>
  )
}
