import type { JSX } from 'preact'
import type { Warning, WarningCode } from '../../../src/core/model.ts'
import { Pill } from '../../shared/pill.tsx'
import { ask } from '../page-state.ts'
import { indexHref } from '../route.ts'
import type { ListQuery } from '../work/operations.ts'
import { ListView } from './list-view.tsx'
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
  const read = async (part: ListQuery) => {
    const { warnings, total } = await ask('warnings', part)
    return { items: warnings, total }
  }
  const none = isCompact
    ? 'A compact pack does not say what was left out of it.'
    : 'There are none: every file that was read is in the index completely.'
  const keyOf = ({ path, code, message }: Warning) => `${path} ${code} ${message}`
  return (
    <ListView title="Warnings" noun="warning" {...{ none, read, keyOf }}>
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
    </ListView>
  )
}
