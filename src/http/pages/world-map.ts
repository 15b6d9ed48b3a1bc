import { html } from 'hono/html'
import { countOf, writeNumber } from '../../core/text/count.ts'
import type { PlaceMention } from '../../library/gazetteer.ts'
import type { HttpPorts } from '../ports.ts'
import { type Html, placeHref, plain } from './parts.ts'

/** The outlines that a map is drawn from; empty where the build left none. */
export interface WorldOutlines {
  readonly land: string
  readonly borders: string
}

/** Reads them from the picture that the build makes: tenths of a degree from the north-west corner. */
export async function readOutlines({ readAsset }: HttpPorts): Promise<WorldOutlines> {
  const asset = await readAsset('/world.svg').catch(() => undefined)
  const svg = asset === undefined ? '' : new TextDecoder().decode(asset.body)
  // Nothing but the letters and digits of a path is taken over.
  const pathOf = (id: string) => new RegExp(`<path id="${id}"[^>]* d="([MlLz\\d .-]+)"`).exec(svg)?.[1] ?? ''
  return { land: pathOf('land'), borders: pathOf('borders') }
}

/** A place to be shown, and how large. */
export interface MapDot {
  readonly id: number
  readonly name: string
  readonly lat: number
  readonly lng: number
  readonly pages: number
  readonly hubs: number
}

/** The mentions that can be shown on a map. */
export function listDots(mentions: readonly PlaceMention[]): readonly MapDot[] {
  return mentions.flatMap(({ place: { id, name, lat, lng }, pages, hubs }) =>
    lat === null || lng === null ? [] : [{ id, name, lat, lng, pages, hubs }],
  )
}

/** What is seen of the map, in tenths of a degree. */
const VIEW = { top: 60, width: 3600, height: 1420 }
/** The radius of the smallest dot, and how much larger the largest is. */
const RADIUS = { least: 12, range: 30 }

/**
 * Draws places on a map of the world, with attributes only and nothing from outside. Dots lead to their places by the mouse; for
 * everybody else a table beside the map has the same links.
 */
export function writeMap(outlines: WorldOutlines, dots: readonly MapDot[], label: string): Html {
  const most = Math.max(1, ...dots.map(({ pages }) => pages))
  // Small ones come last, so that no large one covers them.
  const drawn = dots.toSorted((a, b) => b.pages - a.pages).map((dot) => writeDot(dot, most))
  return html`<figure class="map"><svg viewBox="0 ${VIEW.top} ${VIEW.width} ${VIEW.height}" role="img" aria-label="${plain(label)}">
<path class="land" d="${outlines.land}"/><path class="borders" d="${outlines.borders}"/>
${drawn}</svg><figcaption>${plain(label)}. Outlines: Natural Earth, public domain.</figcaption></figure>`
}

function writeDot({ id, name, lat, lng, pages, hubs }: MapDot, most: number): Html {
  const x = Math.round((lng + 180) * 10)
  // What lies south of the map is shown at its edge.
  const y = Math.min(Math.max(Math.round((90 - lat) * 10), VIEW.top), VIEW.top + VIEW.height)
  const r = Math.round(RADIUS.least + RADIUS.range * Math.sqrt(pages / most))
  const words = [countOf(pages, 'page'), ...(hubs === 0 ? [] : [countOf(hubs, 'hub')])].join(', ')
  return html`<a href="${placeHref(id)}" tabindex="-1"><circle class="dot" cx="${x}" cy="${y}" r="${r}"><title>${plain(name)}: ${words}</title></circle></a>`
}

/** `48.86° N, 2.35° E` */
export function writePosition(lat: number, lng: number): string {
  const part = (value: number, words: readonly [string, string]) =>
    `${writeNumber(Math.abs(Math.round(value * 100) / 100))}° ${value < 0 ? words[1] : words[0]}`
  return `${part(lat, ['N', 'S'])}, ${part(lng, ['E', 'W'])}`
}
