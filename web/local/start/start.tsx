import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { loadStoredIndexes, openedIndex, storedIndexes } from '../page-state.ts'
import { indexHref } from '../route.ts'
import { Choose } from './choose.tsx'
import { StoredIndexList } from './stored-index-list.tsx'

/** The start page: choose a folder, or open a kept index. */
export function Start(): JSX.Element {
  useEffect(() => void loadStoredIndexes(), [])
  return (
    <>
      <h1 tabIndex={-1}>Search a folder, make a pack</h1>
      <p class="lead">
        Choose a folder: it is cut into short passages, called chunks, that people and language models can search and
        cite. Everything happens in this browser; nothing is uploaded.
      </p>
      <Choose />
      {openedIndex.value?.saveError ? (
        <p class="panel notice" role="note" id="open-unkept">
          <a href={indexHref(openedIndex.value.stored.id)}>{openedIndex.value.stored.name}</a> is still open. It is not
          kept: export it before you read something else or close this tab.
        </p>
      ) : null}
      {storedIndexes.value === null ? null : <StoredIndexList list={storedIndexes.value} />}
    </>
  )
}
