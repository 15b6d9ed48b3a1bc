import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import type { Kept } from '../keep/shelf.ts'
import { IndexActions } from '../parts/index-actions.tsx'
import { Since } from '../parts/since.tsx'
import { indexHref } from '../route.ts'
import type { ShelfView } from '../work/operations.ts'

/** The indexes stored in this browser, and the storage they take. */
export function KeptList({ shelf }: { readonly shelf: ShelfView }): JSX.Element | null {
  const { kept, trouble } = shelf
  if (trouble !== null) {
    return (
      <div class="panel notice" role="note" id="nothing-kept">
        <p>
          <strong>{trouble.message}</strong>
        </p>
        <p>{trouble.advice}</p>
      </div>
    )
  }
  if (kept.length === 0) return null
  return (
    <section aria-labelledby="kept-title">
      <h2 id="kept-title" tabIndex={-1}>
        Kept in this browser
      </h2>
      <ul class="kept">
        {kept.map((one) => (
          <li key={one.id} class="panel">
            <KeptIndex kept={one} />
          </li>
        ))}
      </ul>
      <Room {...shelf} />
    </section>
  )
}

function KeptIndex({ kept }: { readonly kept: Kept }): JSX.Element {
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

function Room({ used, quota }: ShelfView): JSX.Element | null {
  if (used === null || quota === null) return null
  return (
    <p class="quiet small" id="room">
      {writeBytes(used)} in use, of {writeBytes(quota)} that the browser has for this page.
    </p>
  )
}
