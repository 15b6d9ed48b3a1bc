import { html } from 'hono/html'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { MAP_VIEW_BOX, parseOutlines, pointOnMap, radiusOnMap, type WorldOutlines } from '../../core/world-map.ts'
import { clipShowable, type Html, placeHref } from '../../http/pages/parts.ts'
import type { HttpPorts } from '../../http/ports.ts'
import type { PlaceMention } from '../ports/gazetteer.ts'

/** Reads the country outlines from the SVG file that the build creates. */
export async function readOutlines({ readAsset }: HttpPorts): Promise<WorldOutlines> {
  const asset = await readAsset('/world.svg').catch(() => undefined)
  return parseOutlines(asset === undefined ? '' : new TextDecoder().decode(asset.body))
}

/** A place on the map, with the figures that determine its size. */
export interface MapDot {
  readonly id: number
  readonly name: string
  readonly lat: number
  readonly lng: number
  readonly pages: number
  readonly hubs: number
}

/** The mentions whose places have coordinates. */
export function listDots(mentions: readonly PlaceMention[]): readonly MapDot[] {
  return mentions.flatMap(({ place: { id, name, lat, lng }, pages, hubs }) =>
    lat === null || lng === null ? [] : [{ id, name, lat, lng, pages, hubs }],
  )
}

/**
 * Draws places on a world map as inline SVG, without inline styles and external resources, which the content security policy forbids. Dots
 * are links for the mouse; a table beside the map has the same links for keyboards and screen readers.
 */
export function writeMap(
  outlines: WorldOutlines,
  dots: readonly MapDot[],
  label: string,
  look: 'large' | 'small' = 'large',
): Html {
  const maxPages = Math.max(1, ...dots.map(({ pages }) => pages))
  // Small dots are drawn last, so that no large dot covers them.
  const drawn = dots.toSorted((a, b) => b.pages - a.pages).map((dot) => writeDot(dot, maxPages))
  return html`<figure class="map ${look}"><svg viewBox="${MAP_VIEW_BOX}" role="img" aria-label="${clipShowable(label)}">
<path class="land" d="${outlines.land}"/><path class="borders" d="${outlines.borders}"/>
${drawn}</svg><figcaption>${clipShowable(label)}. Outlines: Natural Earth, public domain.</figcaption></figure>`
}

function writeDot({ id, name, lat, lng, pages, hubs }: MapDot, maxPages: number): Html {
  const radius = radiusOnMap(pages, maxPages)
  const { x, y } = pointOnMap(lat, lng, radius)
  const words = [countOf(pages, 'page'), ...(hubs === 0 ? [] : [countOf(hubs, 'hub')])].join(', ')
  return html`<a href="${placeHref(id)}" tabindex="-1"><circle class="dot" cx="${x}" cy="${y}" r="${radius}"><title>${clipShowable(name)}: ${words}</title></circle></a>`
}

/** `48.86° N, 2.35° E` */
export function writePosition(lat: number, lng: number): string {
  const part = (value: number, hemispheres: readonly [string, string]) =>
    `${writeNumber(Math.abs(Math.round(value * 100) / 100))}° ${value < 0 ? hemispheres[1] : hemispheres[0]}`
  return `${part(lat, ['N', 'S'])}, ${part(lng, ['E', 'W'])}`
}
