import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import type { SourceItem } from '../api.ts'

/** Says that pages of a source need a browser. The action of the source renders them if that was not tried. */
export function NeedsBrowser({ item }: { readonly item: SourceItem }): JSX.Element | null {
  const count = item.reasons['failed/needs-rendering'] ?? 0
  if (count === 0) return null
  const isUntried = item.settings.render === 'http'
  return (
    <p class="note note-warn small">
      {countOf(count, 'page')} {count === 1 ? 'is' : 'are'} empty until a browser runs {count === 1 ? 'its' : 'their'}{' '}
      scripts.{isUntried ? '' : ' The explanation of each page has details.'}
    </p>
  )
}
