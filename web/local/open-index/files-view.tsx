import type { JSX } from 'preact'
import { writeBytes } from '../../../src/core/text/bytes.ts'
import { countOf } from '../../../src/core/text/count.ts'
import { nameOfKind } from '../../shared/kind-name.ts'
import { ask } from '../page-state.ts'
import { indexHref } from '../route.ts'
import type { ListQuery } from '../work/operations.ts'
import { ListView } from './list-view.tsx'

/** All files of an index. */
export function FilesView({ id, isCompact }: { readonly id: string; readonly isCompact: boolean }): JSX.Element {
  const read = async (part: ListQuery) => {
    const { files, total } = await ask('files', part)
    return { items: files, total }
  }
  return (
    <ListView title="Files" noun="file" read={read} keyOf={(file) => file.path}>
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
    </ListView>
  )
}
