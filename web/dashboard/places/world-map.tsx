import { signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { countOf } from '../../../src/core/text/count.ts'
import {
  MAP_VIEW_BOX,
  parseOutlines,
  pointOnMap,
  radiusOnMap,
  type WorldOutlines,
} from '../../../src/core/world-map.ts'
import type { PlaceMention } from '../api.ts'
import { placeHref } from './place-href.ts'

/** The outlines of land and borders: a file of the build, fetched once. */
const outlines = signal<WorldOutlines | null>(null)

async function readOutlines(): Promise<void> {
  if (outlines.value !== null) return
  const response = await fetch('/world.svg').catch(() => undefined)
  if (response?.ok) outlines.value = parseOutlines(await response.text())
}

/** A dot on the map. */
interface Dot {
  readonly id: number
  /** The accessible label. */
  readonly words: string
  readonly x: number
  readonly y: number
  readonly r: number
}

/** Keys that move the focus between dots, with the number of steps. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/**
 * Places on a world map; a larger dot means more pages. The map is one tab stop: arrow keys move through the places, most pages first, and
 * Enter opens one. The table beside the map has the same data.
 */
export function WorldMap({ mentions }: { readonly mentions: readonly PlaceMention[] }): JSX.Element {
  const active = useSignal(0)
  /** The label of the dot that was last hovered or focused. */
  const shownLabel = useSignal<string | null>(null)
  const picture = useRef<SVGSVGElement>(null)
  useEffect(() => void readOutlines(), [])
  const dots = listDots(mentions)
  const activeDot = Math.min(active.value, dots.length - 1)
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    active.value = Math.min(Math.max(activeDot + step, 0), dots.length - 1)
    picture.current?.querySelector<SVGAElement>(`[data-dot="${active.value}"]`)?.focus()
  }
  const label = `${countOf(dots.length, 'place')} on a map of the world`
  return (
    <figure class="map">
      <svg ref={picture} viewBox={MAP_VIEW_BOX} aria-label={label} onKeyDown={move}>
        <path class="land" d={outlines.value?.land ?? ''} />
        <path class="borders" d={outlines.value?.borders ?? ''} />
        {dots.map(({ id, words, x, y, r }, i) => (
          <a
            key={id}
            href={placeHref(id)}
            tabIndex={i === activeDot ? 0 : -1}
            data-dot={i}
            aria-label={words}
            onFocus={() => {
              active.value = i
              shownLabel.value = words
            }}
            onPointerEnter={() => {
              shownLabel.value = words
            }}
          >
            <circle class="dot-place" cx={x} cy={y} r={r} />
          </a>
        ))}
      </svg>
      <figcaption>
        <span class="map-named">
          {shownLabel.value ?? 'Larger dots mean more pages. Arrow keys move from dot to dot.'}
        </span>
        <span class="quiet">Outlines: Natural Earth</span>
      </figcaption>
    </figure>
  )
}

/** Sorts by page count, descending, so that small dots are drawn on top of large ones. */
function listDots(mentions: readonly PlaceMention[]): readonly Dot[] {
  const maxPages = Math.max(1, ...mentions.map(({ pages }) => pages))
  return mentions
    .toSorted((a, b) => b.pages - a.pages)
    .flatMap(({ place: { id, name, lat, lng }, pages, hubs }): Dot[] => {
      if (lat === null || lng === null) return []
      const words = `${name}: ${[countOf(pages, 'page'), ...(hubs === 0 ? [] : [countOf(hubs, 'hub')])].join(', ')}`
      const r = radiusOnMap(pages, maxPages)
      return [{ id, words, ...pointOnMap(lat, lng, r), r }]
    })
}
