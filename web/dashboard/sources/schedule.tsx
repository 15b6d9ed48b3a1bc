import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { parseDuration } from '../../../src/core/text/duration.ts'
import { Options } from '../../shared/options.tsx'
import type { SourceItem } from '../api.ts'
import { send } from '../request.ts'
import { useAction } from '../use-action.ts'
import { isImported } from './source-state.ts'

/** Labels for how often a source is crawled again by itself. */
export const EVERY_WORDS: Readonly<Record<string, string>> = {
  never: 'never',
  '1h': 'every hour',
  '6h': 'every 6 hours',
  '12h': 'every 12 hours',
  '1d': 'every day',
  '1w': 'every week',
  '4w': 'every 4 weeks',
}

/** Shows how often a source is crawled again by itself, and changes it. Imported sources cannot be crawled. */
export function Schedule({
  item,
  onChange,
}: {
  readonly item: SourceItem
  readonly onChange: () => void
}): JSX.Element | null {
  const id = useId()
  const { refusal, run } = useAction()
  if (isImported(item)) return null
  const { refresh } = item
  const known = Object.keys(EVERY_WORDS).find((text) => parseDuration(text) === refresh?.everyMs)
  const value = refresh === null ? 'never' : (known ?? refresh.every)
  const words = value in EVERY_WORDS ? EVERY_WORDS : { ...EVERY_WORDS, [value]: `every ${value}` }
  const change = async (every: string) => {
    await run(() => send(`/api/sources/${encodeURIComponent(item.id)}/schedule`, { every }))
    onChange()
  }
  return (
    <span class="schedule">
      <label for={id}>crawl again</label>{' '}
      <select id={id} value={value} onInput={(event) => void change(event.currentTarget.value)}>
        <Options of={Object.entries(words)} />
      </select>
      {refusal.value === null ? null : (
        <span class="field-problem" role="alert">
          {refusal.value.message}
        </span>
      )}
    </span>
  )
}
