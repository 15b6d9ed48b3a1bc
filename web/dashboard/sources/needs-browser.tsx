import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import type { SourceItem } from '../api.ts'
import { readJobs } from '../live.ts'
import { type Refusal, send } from '../request.ts'
import { useClearOnReconnect } from '../use-clear-on-reconnect.ts'

/** A source whose pages need a browser. */
interface NeedsBrowserInput {
  readonly item: SourceItem
  /** Whether a crawl of the source runs or is queued; the server would reject a second one. */
  readonly isBusy: boolean
  /** Called after a crawl was requested. */
  readonly onChange: () => void
}

/** Says that the pages of a source need a browser, and offers to render them if that was not tried. */
export function NeedsBrowser({ item, isBusy: isBeingCrawled, onChange }: NeedsBrowserInput): JSX.Element | null {
  const isBusy = useSignal(false)
  const refusal = useSignal<Refusal | null>(null)
  useClearOnReconnect(refusal)
  const count = item.reasons['failed/needs-rendering'] ?? 0
  if (count === 0) return null
  const recrawl = async () => {
    isBusy.value = true
    const answer = await send(`/api/sources/${encodeURIComponent(item.id)}/recrawl`, { render: 'auto' })
    refusal.value = 'refusal' in answer ? answer.refusal : null
    isBusy.value = false
    await readJobs()
    onChange()
  }
  const isUntried = item.settings.render === 'http'
  return (
    <div class="needs-browser note note-warn small">
      <span>
        {countOf(count, 'page')} {count === 1 ? 'is' : 'are'} empty until a browser runs {count === 1 ? 'its' : 'their'}{' '}
        scripts.{isUntried ? '' : ' The explanation of each page has details.'}
      </span>
      {isUntried && !isBeingCrawled ? (
        <button type="button" disabled={isBusy.value} onClick={() => void recrawl()}>
          Recrawl with a browser
        </button>
      ) : null}
      {refusal.value === null ? null : (
        <p class="field-problem" role="alert">
          {refusal.value.message}
        </p>
      )}
    </div>
  )
}
