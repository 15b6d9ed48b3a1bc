import type { JSX } from 'preact'
import type { WarningCode } from '../../../src/core/model.ts'
import { Pill } from '../../shared/pill.tsx'
import { ask } from '../desk.ts'
import { LongList } from '../parts/long-list.tsx'
import { MatchField } from '../parts/match-field.tsx'
import { TroubleBox } from '../parts/trouble-box.tsx'
import { indexHref } from '../route.ts'
import { usePart } from './use-part.ts'

/** What a code means in two words. */
const WORDS: Readonly<Record<WarningCode, string>> = {
  max_file_bytes: 'too large',
  max_total_bytes: 'too much in all',
  max_total_chunks: 'too many chunks in all',
  utf8: 'not quite text',
  binary: 'without text',
  max_chunks_per_file: 'too many chunks',
  secret: 'may hold a secret',
  changed: 'changed meanwhile',
  unreadable: 'not readable',
  parser: 'not parsed',
  ignore_rules: 'ignore rules',
}

/** What a reader of the index should know. */
export function WarningsView({ id }: { readonly id: string }): JSX.Element {
  const { match, answer, trouble, onMore } = usePart((part) => ask('warnings', part))
  return (
    <section aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      {answer?.total === 0 && match.value === '' ? (
        <p class="quiet">There are none: all that was to be read is in the index, whole.</p>
      ) : (
        <MatchField match={match} noun="warning" total={answer?.total ?? null} />
      )}
      <TroubleBox told={trouble} />
      {answer === null || answer.total === 0 ? null : (
        <LongList
          items={answer.warnings}
          total={answer.total}
          noun="warning"
          keyOf={({ path, code, message }) => `${path} ${code} ${message}`}
          onMore={onMore}
        >
          {({ path, code, message }) => (
            <>
              <span class="grow">
                <a class="path" href={indexHref(id, 'files', { path })}>
                  {path}
                </a>
                <span class="quiet small block">{message}</span>
              </span>
              <Pill word={WORDS[code]} tone="warn" />
            </>
          )}
        </LongList>
      )}
    </section>
  )
}
