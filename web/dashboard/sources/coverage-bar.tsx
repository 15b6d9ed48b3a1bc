import type { JSX } from 'preact'
import type { Balance } from '../api.ts'
import { writeCount } from '../format.ts'
import { listSegments, type Segment, writeReason } from './coverage.ts'

/** What a bar shows. */
interface BarInput {
  readonly balance: Balance
  readonly reasons: Readonly<Record<string, number>>
}

/** Shades of one colour tell reasons apart; there are so many. */
const SHADES = 4

/** A small bar for a row of a table. */
export function CoverageLine({ balance }: { readonly balance: Balance }): JSX.Element {
  const segments = listSegments(balance, {})
  const label = segments.map(({ state, count }) => `${writeCount(count)} ${state}`).join(', ')
  return (
    <div class="coverage-line" role="img" aria-label={label} title={label}>
      {segments.map(({ state, count }) => (
        <span key={state} class={`seg seg-${state}`} style={{ flexGrow: count }} />
      ))}
    </div>
  )
}

/** What is chosen of it, and what happens when something is. */
interface CoverageInput extends BarInput {
  readonly chosen: { readonly state: string; readonly reason: string }
  readonly onChoose: (state: string, reason: string) => void
}

/** All addresses of a source as one bar, and below it what its colours mean. A click shows only those. */
export function Coverage({ balance, reasons, chosen, onChoose }: CoverageInput): JSX.Element {
  const segments = listSegments(balance, reasons)
  const isChosen = ({ state, reason }: Pick<Segment, 'state' | 'reason'>) =>
    chosen.state === state && chosen.reason === reason
  const toggle = (state: string, reason: string, isOn: boolean) => (isOn ? onChoose('', '') : onChoose(state, reason))
  const groups = STATES.filter((state) => balance[state] > 0)
  return (
    <div class="coverage">
      <div class="coverage-bar">
        {segments.map((segment, i) => {
          const { state, reason, count } = segment
          const label = `${reason === '' ? state : `${state}: ${writeReason(reason)}`}, ${share(count, balance.discovered)}`
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
            <KeyButton
              label={state}
              state={state}
              shade={0}
              count={balance[state]}
              isOn={isChosen({ state, reason: '' })}
              total={balance.discovered}
              onClick={() => toggle(state, '', isChosen({ state, reason: '' }))}
            />
            {segments.map((segment, i) =>
              segment.state !== state || segment.reason === '' ? null : (
                <KeyButton
                  key={segment.reason}
                  label={writeReason(segment.reason)}
                  state={state}
                  shade={shadeOf(segments, i)}
                  count={segment.count}
                  isOn={isChosen(segment)}
                  total={balance.discovered}
                  onClick={() => toggle(state, segment.reason, isChosen(segment))}
                  isPart
                />
              ),
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

const STATES = ['indexed', 'unchanged', 'pending', 'skipped', 'failed', 'gone'] as const

/** A line of the key. */
interface KeyInput {
  readonly label: string
  readonly state: string
  readonly shade: number
  readonly count: number
  readonly total: number
  readonly isOn: boolean
  readonly isPart?: boolean
  readonly onClick: () => void
}

function KeyButton({ label, state, shade, count, total, isOn, isPart, onClick }: KeyInput): JSX.Element {
  return (
    <button
      type="button"
      class={`key ${isPart ? 'part' : 'whole'}`}
      aria-pressed={isOn}
      onClick={onClick}
      title={share(count, total)}
    >
      <span class={`swatch seg-${state} shade-${shade}`} />
      {label} <b>{writeCount(count)}</b>
    </button>
  )
}

function isDimmed(chosen: CoverageInput['chosen'], { state, reason }: Segment): boolean {
  if (chosen.state === '') return false
  return chosen.state !== state || (chosen.reason !== '' && chosen.reason !== reason)
}

/** Place among those of its state. */
function shadeOf(segments: readonly Segment[], place: number): number {
  const first = segments.findIndex(({ state }) => state === segments[place]?.state)
  return (place - first) % SHADES
}

function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (count * 100) / total
  return `${writeCount(count)} of ${writeCount(total)} (${percent < 0.1 ? '<0.1' : percent.toFixed(1)} %)`
}
