import type { JSX } from 'preact'
import { countOf } from '../../../src/core/text/count.ts'
import { Pill } from '../../shared/pill.tsx'
import { now } from '../clock.ts'
import { liveItems } from '../live.ts'
import { ActionButton } from '../sources/action-button.tsx'
import { sources } from '../sources/source-list.ts'
import { writeVersion } from '../sources/source-state.ts'
import { hrefOf, listMatters, type Matter } from './matters.ts'

/** Matters of a kind that are listed on their own; more of them are folded into one line. */
const MAX_SINGLE = 2

/** Names in the line of folded matters. */
const MAX_NAMES = 4

/** What needs attention, each with the button that fixes it. */
export function Attention(): JSX.Element | null {
  if (sources.value === null) return null
  const matters = sources.value.flatMap((item) => listMatters(item, liveItems.value, now.value))
  if (matters.length === 0) return null
  return (
    <section aria-label="Needs attention">
      <h2>
        Needs attention <span class="quiet">{matters.length}</span>
      </h2>
      <ul class="matters panel">
        {[...Map.groupBy(matters, ({ word }) => word).values()].map((group) =>
          group.length > MAX_SINGLE ? (
            <MatterGroup key={group[0]?.word} group={group} />
          ) : (
            group.map((matter) => <MatterLine key={matter.key} matter={matter} />)
          ),
        )}
      </ul>
    </section>
  )
}

/** Several sources with the same matter as one line that unfolds. */
function MatterGroup({ group }: { readonly group: readonly Matter[] }): JSX.Element | null {
  const [first] = group
  if (first === undefined) return null
  const { word, tone, mark } = first
  const names = [...new Set(group.map(({ item }) => item.name))]
  const rest = names.length - MAX_NAMES
  return (
    <li class="matter-group">
      <details>
        <summary>
          <Pill word={word} tone={tone} mark={mark} /> <b>{countOf(group.length, 'source')}</b>{' '}
          <span class="quiet">
            {names.slice(0, MAX_NAMES).join(', ')}
            {rest > 0 ? ` and ${rest} more` : ''}
          </span>
        </summary>
        <ul class="matters">
          {group.map((matter) => (
            <MatterLine key={matter.key} matter={matter} />
          ))}
        </ul>
      </details>
    </li>
  )
}

function MatterLine({ matter }: { readonly matter: Matter }): JSX.Element {
  const { item, word, tone, mark, text, moment, action, link } = matter
  return (
    <li data-matter={word}>
      <Pill word={word} tone={tone} mark={mark} />
      <span class="matter-text">
        <a href={hrefOf(item)}>
          <b>{item.name}</b>
          {writeVersion(item)}
        </a>{' '}
        <span title={moment ?? ''}>{text}</span>
      </span>
      <span class="matter-buttons">
        {link === undefined ? null : <a href={link.href}>{link.label}</a>}
        {action === undefined ? null : <ActionButton id={item.id} action={action} />}
      </span>
    </li>
  )
}
