import type { JSX } from 'preact'
import type { WarningCode } from '../../../src/core/model.ts'
import { Pill } from '../../shared/pill.tsx'
import { ask } from '../page-state.ts'
import { ErrorBox } from '../parts/error-box.tsx'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { indexHref } from '../route.ts'
import { useListPage } from './use-list-page.ts'
import { writeWarning } from './write-warning.ts'

/** Short labels for warning codes. */
const LABELS: Readonly<Record<WarningCode, string>> = {
  max_file_bytes: 'too large',
  max_total_bytes: 'above the total size',
  max_total_chunks: 'above the total of chunks',
  utf8: 'not UTF-8 text',
  binary: 'not text',
  max_chunks_per_file: 'incomplete',
  secret: 'may contain a secret',
  changed: 'changed while it was read',
  unreadable: 'not readable',
  parser: 'not parsed',
  ignore_rules: 'ignore rules',
}

/** The warnings of an index. */
export function WarningsView({ id, isCompact }: { readonly id: string; readonly isCompact: boolean }): JSX.Element {
  const { match, page, error, onMove } = useListPage(async (part) => {
    const { warnings, total } = await ask('warnings', part)
    return { items: warnings, total }
  })
  return (
    <section aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      {page?.total === 0 && match.value === '' ? (
        <p class="quiet">
          {isCompact
            ? 'A compact pack does not say what was left out of it.'
            : 'There are none: every file that was read is in the index completely.'}
        </p>
      ) : (
        <MatchField match={match} noun="warning" total={page?.total ?? null} />
      )}
      <ErrorBox error={error} />
      {page === null || page.total === 0 ? null : (
        <LongList
          page={page}
          noun="warning"
          keyOf={({ path, code, message }) => `${path} ${code} ${message}`}
          onMove={onMove}
        >
          {({ path, code, message }) => (
            <>
              <span class="grow">
                <a class="path" href={indexHref(id, 'files', { path })}>
                  {path}
                </a>
                <span class="quiet small block">{writeWarning({ code, message })}</span>
              </span>
              <Pill word={LABELS[code]} tone="warn" />
            </>
          )}
        </LongList>
      )}
    </section>
  )
}
