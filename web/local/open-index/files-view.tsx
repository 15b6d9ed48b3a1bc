import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { ask } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { indexHref } from '../route.ts'
import { useListPage } from './use-list-page.ts'

/** All files of an index. */
export function FilesView({ id, isCompact }: { readonly id: string; readonly isCompact: boolean }): JSX.Element {
  const { match, page, error, onMove } = useListPage(async (part) => {
    const { files, total } = await ask('files', part)
    return { items: files, total }
  })
  return (
    <section aria-labelledby="files-title">
      <h2 id="files-title">Files</h2>
      <MatchField match={match} noun="file" total={page?.total ?? null} />
      <ErrorBox error={error} />
      {page === null || page.total === 0 ? null : (
        <LongList page={page} noun="file" keyOf={(file) => file.path} onMove={onMove}>
          {({ path, kind, bytes, lineCount }) => (
            <>
              <a class="grow path" href={indexHref(id, 'files', { path })}>
                {path}
              </a>
              <span class="quiet small aside">{nameOfKind(kind)}</span>
              <span class="quiet small number aside">{kind === 'image' ? '' : countOf(lineCount, 'line')}</span>
              {isCompact ? null : <span class="number size">{writeBytes(bytes)}</span>}
            </>
          )}
        </LongList>
      )}
    </section>
  )
}
