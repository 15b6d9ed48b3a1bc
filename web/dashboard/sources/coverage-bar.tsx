import type { JSX } from 'preact'
import { labelOfCode } from '../../../src/core/address-labels.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { Balance } from '../api.ts'
import { GROUP_WORDS, GROUPS, readCoverage, type Segment, sumOf } from './coverage.ts'

/** The counts that a bar shows. */
interface BarInput {
  readonly balance: Balance
  readonly reasons: Readonly<Record<string, number>>
}

/** Number of shades of a state's colour that distinguish its reasons. */
const SHADES = 4

/** A small bar for a table row, with the counts as links to the addresses. */
export function CoverageLine({ id, balance, reasons }: BarInput & { readonly id: string }): JSX.Element {
  const inScope = readCoverage(balance, reasons).segments
  const segments = GROUPS.flatMap((group) => {
    const own = inScope.filter((segment) => segment.group === group)
    const [first] = own
    if (first === undefined) return []
    return [{ key: group, words: GROUP_WORDS[group], query: queryOf(own, inScope), count: sumOf(own) }]
  })
  const label = segments.map(({ words, count }) => `${writeNumber(count)} ${words}`).join(', ')
  return (
    <>
      <div class="coverage-line" role="img" aria-label={label} title={label}>
        {segments.map(({ key, count }) => (
          <span key={key} class={`seg seg-${key}`} style={{ flexGrow: count }} />
        ))}
      </div>
      <small class="coverage-counts">
        {segments.map(({ key, words, query, count }) =>
          query === null ? (
            <span key={key}>
              {writeNumber(count)} {words}
            </span>
          ) : (
            <a key={key} href={`#/sources/${encodeURIComponent(id)}?${query}`}>
              {writeNumber(count)} {words}
            </a>
          ),
        )}
      </small>
    </>
  )
}

/** The filter that lists exactly the addresses of a group; null if no state and reason does. */
function queryOf(own: readonly Segment[], all: readonly Segment[]): string | null {
  const [first] = own
  if (first === undefined) return null
  if (own.length === 1 && first.reason !== '') return `state=${first.state}&reason=${first.reason}`
  const isWhole = all.every(({ state, group }) => state !== first.state || group === first.group)
  return isWhole ? `state=${first.state}` : null
}

/** The selected segment, and the callback for a selection. */
interface CoverageInput extends BarInput {
  readonly chosen: { readonly state: string; readonly reason: string }
  readonly onChoose: (state: string, reason: string) => void
}

/**
 * Shows the addresses in the scope of a source as one bar with a legend; a click filters by state and reason. Links that lead out of the
 * scope are left out of the bar, because they can outnumber everything else.
 */
export function Coverage({ balance, reasons, chosen, onChoose }: CoverageInput): JSX.Element {
  const { segments, outOfScope, total } = readCoverage(balance, reasons)
  const isChosen = ({ state, reason }: Pick<Segment, 'state' | 'reason'>) =>
    chosen.state === state && chosen.reason === reason
  const toggle = (state: string, reason: string, isOn: boolean) => (isOn ? onChoose('', '') : onChoose(state, reason))
  const groups = GROUPS.flatMap((group) => {
    const own = segments.filter((segment) => segment.group === group)
    return own[0] === undefined ? [] : [{ group, own, state: own[0].state }]
  })
  const hasUnread = segments.some(({ group }) => group === 'unread')
  return (
    <div class="coverage">
      <div class="coverage-bar">
        {segments.map((segment, i) => {
          const { state, group, reason, count } = segment
          const label = `${reason === '' ? GROUP_WORDS[group] : `${GROUP_WORDS[group]}: ${labelOfCode(reason)}`}, ${share(count, total)}`
          return (
            <button
              key={`${state}/${reason}`}
              type="button"
              tabIndex={-1}
              class={`seg seg-${group} shade-${shadeOf(segments, i)} ${isDimmed(chosen, segment) ? 'dim' : ''}`}
              style={{ flexGrow: count }}
              title={label}
              aria-label={label}
              onClick={() => toggle(state, reason, isChosen(segment))}
            />
          )
        })}
      </div>
      <ul class="coverage-key">
        {groups.map(({ group, own, state }) => (
          <li key={group}>
            <LegendButton
              label={GROUP_WORDS[group]}
              group={group}
              shade={0}
              count={sumOf(own)}
              isOn={isChosen({ state, reason: '' })}
              total={total}
              // A filter by state would also include what other groups of it count.
              onClick={
                state === 'skipped' && hasUnread ? undefined : () => toggle(state, '', isChosen({ state, reason: '' }))
              }
            />
            {segments.map((segment, i) =>
              segment.group !== group || segment.reason === '' ? null : (
                <LegendButton
                  key={segment.reason}
                  label={labelOfCode(segment.reason)}
                  group={group}
                  shade={shadeOf(segments, i)}
                  count={segment.count}
                  isOn={isChosen(segment)}
                  total={total}
                  onClick={() => toggle(state, segment.reason, isChosen(segment))}
                  isPart
                />
              ),
            )}
          </li>
        ))}
        {outOfScope.length === 0 ? null : (
          <li class="elsewhere">
            <span class="quiet small">
              {countOf(sumOf(outOfScope), 'link')} {sumOf(outOfScope) === 1 ? 'leads' : 'lead'} out of the scope:
            </span>
            {outOfScope.map((segment) => (
              <LegendButton
                key={segment.reason}
                label={labelOfCode(segment.reason)}
                count={segment.count}
                isOn={isChosen(segment)}
                onClick={() => toggle(segment.state, segment.reason, isChosen(segment))}
                isPart
              />
            ))}
          </li>
        )}
      </ul>
    </div>
  )
}

/** An entry of the legend. */
interface LegendInput {
  readonly label: string
  /** The group that sets the colour; undefined for entries that the bar does not show. */
  readonly group?: string
  readonly shade?: number
  readonly count: number
  /** The total for the percentage. */
  readonly total?: number
  readonly isOn: boolean
  readonly isPart?: boolean
  /** Undefined if the entry cannot be selected. */
  readonly onClick: (() => void) | undefined
}

function LegendButton({ label, group, shade = 0, count, total, isOn, isPart, onClick }: LegendInput): JSX.Element {
  const className = `key ${isPart ? 'part' : 'whole'}`
  const title = total === undefined ? '' : share(count, total)
  const content = (
    <>
      {group === undefined ? null : <span class={`swatch seg-${group} shade-${shade}`} />}
      {label} <b>{writeNumber(count)}</b>
    </>
  )
  return onClick === undefined ? (
    <span class={className} title={title}>
      {content}
    </span>
  ) : (
    <button type="button" class={className} aria-pressed={isOn} onClick={onClick} title={title}>
      {content}
    </button>
  )
}

function isDimmed(chosen: CoverageInput['chosen'], { state, reason }: Segment): boolean {
  if (chosen.state === '') return false
  return chosen.state !== state || (chosen.reason !== '' && chosen.reason !== reason)
}

/** The shade of a segment, by its position among the segments of its group. */
function shadeOf(segments: readonly Segment[], index: number): number {
  const first = segments.findIndex(({ group }) => group === segments[index]?.group)
  return (index - first) % SHADES
}

function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (count * 100) / total
  return `${writeNumber(count)} of ${writeNumber(total)} (${percent < 0.1 ? '<0.1' : percent.toFixed(1)} %)`
}
