import type { JSX } from 'preact'
import { writeNumber } from '../../../src/core/text/count.ts'
import { Pill } from '../../shared/pill.tsx'
import { now } from '../clock.ts'
import { liveJobs } from '../live.ts'
import { ActionButton } from '../sources/action-button.tsx'
import { sources } from '../sources/source-list.ts'
import { writeVersion } from '../sources/source-state.ts'
import { hrefOf, listMatters, type Matter } from './matters.ts'

/** The number of entries before the list is cut. */
const MAX_SHOWN = 8

/** What needs attention, each with the button that fixes it. */
export function Attention(): JSX.Element | null {
  if (sources.value === null) return null
  const jobs = liveJobs.value.map((job) => job.item.value)
  const matters = sources.value.flatMap((item) => listMatters(item, jobs, now.value))
  if (matters.length === 0) return null
  return (
    <section aria-label="Needs attention">
      <h2>
        Needs attention <span class="quiet">{matters.length}</span>
      </h2>
      <ul class="matters panel">
        {matters.slice(0, MAX_SHOWN).map((matter) => (
          <MatterLine key={matter.key} matter={matter} />
        ))}
      </ul>
      {matters.length > MAX_SHOWN ? (
        <p class="small">
          <a href="#/sources">{writeNumber(matters.length - MAX_SHOWN)} more among the sources</a>
        </p>
      ) : null}
    </section>
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
