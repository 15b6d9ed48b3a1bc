import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { labelOfCode, STATE_LABELS } from '../../../src/core/address-labels.ts'
import { countOf, writeNumber } from '../../../src/core/text/count.ts'
import { CutMiddle } from '../../shared/cut-middle.tsx'
import { writeAgo, writeMoment } from '../../shared/format.ts'
import { Pill } from '../../shared/pill.tsx'
import type { Tone } from '../../shared/tone.ts'
import type { UrlItem } from '../api.ts'
import { now } from '../clock.ts'
import { connection } from '../live.ts'
import { TableHead } from '../table-head.tsx'
import { createUrlList, type UrlFilter } from './url-list.ts'

/** All rows have the same height, so that rows out of view need no measuring. Must match the style sheet. */
const ROW_HEIGHT = 34

/** Rows that are rendered above and below the visible ones. */
const OVERSCAN = 8

/** Browsers limit the height of an element to about ten million pixels; a filter reaches the rows beyond that. */
const MAX_ROWS = 400_000

/** The columns of the table. */
const COLUMNS = [
  ['State', 'col-state'],
  ['Address'],
  ['Answer', 'col-status number'],
  ['Words', 'col-words number'],
  ['Last', 'col-when'],
] as const

/** The rows of a table of addresses, and the selection. */
interface UrlTableInput extends UrlFilter {
  /** The number of rows; null if unknown. */
  readonly count: number | null
  /** Formats an address for display. */
  readonly shorten: (url: string) => string
  readonly chosen: string
  readonly onChoose: (url: string) => void
}

/** The addresses of a source. Only the visible rows are in the DOM, so the list can have any length. */
export function UrlTable({ count: known, shorten, chosen, onChoose, ...filter }: UrlTableInput): JSX.Element {
  const { source, state, reason, text, hasOutside } = filter
  const list = useMemo(
    () => createUrlList({ source, state, reason, text, hasOutside }, known),
    [source, state, reason, text, hasOutside],
  )
  const box = useRef<HTMLDivElement>(null)
  const scroll = useSignal({ top: 0, height: 600 })
  const active = useSignal(-1)

  useEffect(() => {
    active.value = -1
    box.current?.scrollTo(0, 0)
    list.load(0, 1)
    return list.close
  }, [list])

  useLayoutEffect(() => {
    const { current } = box
    if (current === null) return
    const measure = () => {
      const { scrollTop, clientHeight } = current
      if (scroll.value.top !== scrollTop || scroll.value.height !== clientHeight)
        scroll.value = { top: scrollTop, height: clientHeight }
    }
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    current.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', measure)
    }
  }, [])

  const count = Math.min(MAX_ROWS, list.total.value)
  const first = Math.max(0, Math.min(count, Math.floor(scroll.value.top / ROW_HEIGHT)) - OVERSCAN)
  const last = Math.min(count, Math.ceil((scroll.value.top + scroll.value.height) / ROW_HEIGHT) + OVERSCAN)
  useEffect(() => list.load(first, last), [list, first, last])
  useSignalEffect(() => {
    // Repeats a request that failed while the server was unreachable.
    if (connection.value === 'open' && list.refusal.peek() !== null) list.load(first, last)
  })

  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) {
      const item = list.rowAt(active.value)
      if (event.key === 'Enter' && item !== undefined && event.target === box.current) onChoose(item.url)
      return
    }
    event.preventDefault()
    const next = Math.max(0, Math.min(count - 1, active.value + step))
    active.value = next
    const top = next * ROW_HEIGHT
    const { current } = box
    if (current === null) return
    const visibleHeight = current.clientHeight - HEADER_HEIGHT - ROW_HEIGHT
    if (top < current.scrollTop) current.scrollTop = top
    else if (top > current.scrollTop + visibleHeight) current.scrollTop = top - visibleHeight
  }

  const hasNoMatch = text !== '' && list.total.value === 0 && !list.isLoading.value && list.refusal.value === null
  return (
    <>
      <p class="quiet small" aria-live="polite">
        {list.refusal.value !== null ? (
          <span class="field-problem">{list.refusal.value.message}</span>
        ) : (
          `${countOf(list.total.value, 'address')}${list.isLoading.value ? ', loading' : ''}${list.total.value > MAX_ROWS ? `; the first ${writeNumber(MAX_ROWS)} are shown` : ''}`
        )}
      </p>
      {hasNoMatch ? (
        <p class="small">
          No address of this source contains “{text}”.{' '}
          <button type="button" class="link" onClick={() => onChoose(text)}>
            Explain this address
          </button>
        </p>
      ) : null}
      <section
        class="box url-box"
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable with the keyboard.
        tabIndex={0}
        aria-label="List of addresses"
        // Limits the height for a short list, so that no empty space appears below it.
        style={{ maxHeight: `${HEADER_HEIGHT + (Math.max(count, MIN_ROWS) + 1) * ROW_HEIGHT}px` }}
        onKeyDown={move}
      >
        <table class="url-table" aria-rowcount={count + 1}>
          <TableHead columns={COLUMNS} />
          <tbody>
            <Gap rows={first} />
            {Array.from({ length: Math.max(0, last - first) }, (_, i) => (
              <UrlRow
                key={first + i}
                index={first + i}
                item={list.rowAt(first + i)}
                isActive={active.value === first + i}
                isChosen={list.rowAt(first + i)?.url === chosen}
                shorten={shorten}
                onChoose={onChoose}
              />
            ))}
            <Gap rows={count - last} />
          </tbody>
        </table>
      </section>
    </>
  )
}

const HEADER_HEIGHT = 32

/** The minimum height of the box, in rows. */
const MIN_ROWS = 3

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 15,
  PageUp: -15,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** Takes the space of rows that are not rendered. */
function Gap({ rows }: { readonly rows: number }): JSX.Element | null {
  return rows <= 0 ? null : <tr class="gap" style={{ height: `${rows * ROW_HEIGHT}px` }} />
}

/** A row of the table. */
interface UrlRowInput {
  readonly index: number
  /** Undefined while the row is loading. */
  readonly item: UrlItem | undefined
  readonly shorten: (url: string) => string
  readonly isActive: boolean
  readonly isChosen: boolean
  readonly onChoose: (url: string) => void
}

const TONES: Readonly<Record<string, Tone>> = {
  indexed: 'good',
  unchanged: 'good',
  failed: 'bad',
  gone: 'warn',
  pending: 'info',
  leased: 'info',
}

function UrlRow({ index, item, shorten, isActive, isChosen, onChoose }: UrlRowInput): JSX.Element {
  if (item === undefined) {
    return (
      <tr class="url-row waiting" aria-rowindex={index + 2}>
        <td colSpan={5}>…</td>
      </tr>
    )
  }
  const { url, state, reason, status, wordCount, title } = item
  const at = Date.parse(item.ts)
  return (
    <tr class={`url-row ${isActive ? 'active' : ''} ${isChosen ? 'chosen' : ''}`} aria-rowindex={index + 2}>
      <td class="col-state">
        <Pill word={reason === null ? STATE_LABELS[state] : labelOfCode(reason)} tone={TONES[state] ?? 'quiet'} />
      </td>
      <td>
        <button
          type="button"
          class="row-button"
          title={title === null ? url : `${title}\n${url}`}
          onClick={() => onChoose(url)}
        >
          <CutMiddle text={shorten(url)} />
        </button>
      </td>
      <td class="col-status number">{status ?? ''}</td>
      <td class="col-words number">{wordCount === null ? '' : writeNumber(wordCount)}</td>
      <td class="col-when" title={writeMoment(at)}>
        {writeAgo(at, now.value)}
      </td>
    </tr>
  )
}
