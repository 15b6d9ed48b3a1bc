import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { PatternItem } from '../api.ts'

/** Number of patterns shown before expanding. */
const MAX_SHOWN = 6

/** The address patterns of a site, with their confidence. */
export function PatternTable({ patterns }: { readonly patterns: readonly PatternItem[] }): JSX.Element | null {
  const isExpanded = useSignal(false)
  if (patterns.length === 0) return null
  const shown = isExpanded.value ? patterns : patterns.slice(0, MAX_SHOWN)
  return (
    <div class="patterns">
      <h4>Address patterns</h4>
      <div class="box">
        <table>
          <thead>
            <tr>
              <th scope="col">Pattern</th>
              <th scope="col">Leads to</th>
              <th scope="col" class="number">
                Seen
              </th>
              <th scope="col" class="number">
                Confirmed
              </th>
              <th scope="col">Confidence</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <Pattern key={item.pattern} item={item} />
            ))}
          </tbody>
        </table>
      </div>
      {patterns.length > MAX_SHOWN ? (
        <p class="small">
          <button
            type="button"
            class="link"
            onClick={() => {
              isExpanded.value = !isExpanded.value
            }}
          >
            {isExpanded.value ? 'Show fewer' : `Show all ${countOf(patterns.length, 'pattern')}`}
          </button>
        </p>
      ) : null}
    </div>
  )
}

function Pattern({ item }: { readonly item: PatternItem }): JSX.Element {
  const { pattern, role, seen, hits, misses, confidence, examples } = item
  const percent = Math.round(confidence * 100)
  return (
    <tr>
      <td class="address">
        <code title={examples.join('\n')}>{pattern}</code>
      </td>
      <td data-label="Leads to">{role}</td>
      <td class="number" data-label="Seen">
        {writeNumber(seen)}
      </td>
      <td class="number" data-label="Confirmed">
        {hits + misses === 0 ? '–' : `${writeNumber(hits)} of ${writeNumber(hits + misses)}`}
      </td>
      <td data-label="Confidence">
        <span class="share">
          <span class="number">{percent} %</span>
          <span class="share-track" aria-hidden="true">
            <span class="share-bar" style={{ width: `${percent}%` }} />
          </span>
        </span>
      </td>
    </tr>
  )
}
