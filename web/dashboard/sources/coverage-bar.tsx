import type { JSX } from 'preact'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import type { Balance } from '../api.ts'
import { readCoverage, type Segment, STATE_WORDS, STATES, sumOf, writeReason } from './coverage.ts'

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
  // Addresses beyond a page limit are not left out for good, so they count as a state of their own.
  const isUnread = ({ reason }: Segment) => reason === 'page-cap'
  const segments = [
    ...STATES.map((state) => ({
      ...{ key: state, words: STATE_WORDS[state], query: `state=${state}` },
      count: sumOf(inScope.filter((segment) => segment.state === state && !isUnread(segment))),
    })),
    ...[
      {
        key: 'unread',
        words: 'not read',
        query: 'state=skipped&reason=page-cap',
        count: sumOf(inScope.filter(isUnread)),
      },
    ],
  ].filter(({ count }) => count > 0)
  const label = segments.map(({ words, count }) => `${writeNumber(count)} ${words}`).join(', ')
  return (
    <>
      <div class="coverage-line" role="img" aria-label={label} title={label}>
        {segments.map(({ key, count }) => (
          <span key={key} class={`seg seg-${key}`} style={{ flexGrow: count }} />
        ))}
      </div>
      <small class="coverage-counts">
        {segments.map(({ key, words, query, count }) => (
          <a key={key} href={`#/sources/${encodeURIComponent(id)}?${query}`}>
            {writeNumber(count)} {words}
          </a>
        ))}
      </small>
    </>
  )
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
  const groups = STATES.filter((state) => segments.some((segment) => segment.state === state))
  return (
    <div class="coverage">
      <div class="coverage-bar">
        {segments.map((segment, i) => {
          const { state, reason, count } = segment
          const label = `${reason === '' ? STATE_WORDS[state] : `${STATE_WORDS[state]}: ${writeReason(reason)}`}, ${share(count, total)}`
          return (
            <button
              key={`${state}/${reason}`}
              type="button"
              tabIndex={-1}
              class={`seg seg-${state} shade-${shadeOf(segments, i)} ${isDimmed(chosen, segment) ? 'dim' : ''}`}
              style={{ flexGrow: count }}
              title={label}
              aria-label={label}
              onClick={() => toggle(state, reason, isChosen(segment))}
            />
          )
        })}
      </div>
      <ul class="coverage-key">
        {groups.map((state) => (
          <li key={state}>
            <LegendButton
              label={STATE_WORDS[state]}
              state={state}
              shade={0}
              count={sumOf(segments.filter((segment) => segment.state === state))}
              isOn={isChosen({ state, reason: '' })}
              total={total}
              // A filter by state would also include the links that lead out of the scope, which are not counted here.
              onClick={
                state === 'skipped' && outOfScope.length > 0
                  ? undefined
                  : () => toggle(state, '', isChosen({ state, reason: '' }))
              }
            />
            {segments.map((segment, i) =>
              segment.state !== state || segment.reason === '' ? null : (
                <LegendButton
                  key={segment.reason}
                  label={writeReason(segment.reason)}
                  state={state}
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
                label={writeReason(segment.reason)}
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
  /** The state that sets the colour; undefined for entries that the bar does not show. */
  readonly state?: string
  readonly shade?: number
  readonly count: number
  /** The total for the percentage. */
  readonly total?: number
  readonly isOn: boolean
  readonly isPart?: boolean
  /** Undefined if the entry cannot be selected. */
  readonly onClick: (() => void) | undefined
}

function LegendButton({ label, state, shade = 0, count, total, isOn, isPart, onClick }: LegendInput): JSX.Element {
  const className = `key ${isPart ? 'part' : 'whole'}`
  const title = total === undefined ? '' : share(count, total)
  const content = (
    <>
      {state === undefined ? null : <span class={`swatch seg-${state} shade-${shade}`} />}
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

/** The shade of a segment, by its position among the segments of its state. */
function shadeOf(segments: readonly Segment[], index: number): number {
  const first = segments.findIndex(({ state }) => state === segments[index]?.state)
  return (index - first) % SHADES
}

function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (count * 100) / total
  return `${writeNumber(count)} of ${writeNumber(total)} (${percent < 0.1 ? '<0.1' : percent.toFixed(1)} %)`
}
