import type { JSX } from 'preact'
import type { SourceItem } from '../api.ts'
import { REACH_WORDS } from '../home/crawl-order.ts'

/** Says that the scope left only a few pages, and with which scope the source takes in what was refused. */
export function NarrowScope({ item: { widerScope } }: { readonly item: SourceItem }): JSX.Element | null {
  if (widerScope === null) return null
  const { message, scope } = widerScope
  return (
    <p class="narrow-scope note note-warn small">
      {message.charAt(0).toUpperCase() + message.slice(1)}. To take them in, remove this source and add it again with
      the scope “{REACH_WORDS[scope.reach]}”
      {scope.allow.length === 0 ? null : (
        <>
          {' '}
          and only paths like <code>{scope.allow.join(', ')}</code>
        </>
      )}
      .
    </p>
  )
}
