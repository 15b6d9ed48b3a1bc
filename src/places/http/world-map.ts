import { html } from 'hono/html'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { MAP_VIEW_BOX, parseOutlines, pointOnMap, type WorldOutlines } from '../../core/world-map.ts'
import { clipShowable, type Html } from '../../http/pages/parts.ts'
import type { HttpPorts } from '../../http/ports.ts'
import type { Place } from '../analysis/place.ts'
import type { PlaceMention } from '../ports/gazetteer.ts'

/** Reads the country outlines from the SVG file that the build creates. */
export async function readOutlines({ readAsset }: HttpPorts): Promise<WorldOutlines> {
  const asset = await readAsset('/world.svg').catch(() => undefined)
  return parseOutlines(asset === undefined ? '' : new TextDecoder().decode(asset.body))
}

/** A country, with the number of times that pages name it or a place in it. */
export interface CountryCoverage {
  readonly code: string
  readonly name: string
  readonly mentions: number
}

/** How often pages name places of each country, most often first. A country without a mention of its own is named by its code. */
export function countByCountry(mentions: readonly PlaceMention[]): readonly CountryCoverage[] {
  const byCode = new Map<string, CountryCoverage>()
  for (const { place, pages } of mentions) {
    const code = place.countryCode
    if (code === null) continue
    const { name, mentions: before } = byCode.get(code) ?? { name: code, mentions: 0 }
    byCode.set(code, { code, name: place.kind === 'country' ? place.name : name, mentions: before + pages })
  }
  return [...byCode.values()].toSorted((a, b) => b.mentions - a.mentions)
}

/** Number of shades of the map. */
const SHADES = 4

/**
 * Draws countries on a world map, in a stronger color the more pages name them. It is inline SVG without inline styles and external resources, which the
 * content security policy forbids. Areas are links for the mouse; a table beside the map has the same links for keyboards and screen readers.
 */
export function writeCoverageMap(
  { land, borders, areas }: WorldOutlines,
  countries: readonly CountryCoverage[],
  label: string,
): Html {
  // By rank, because a few countries are named a hundred times as often as the others, or all nearly as often.
  const ranks = [...new Set(countries.map(({ mentions }) => mentions))].sort((a, b) => a - b)
  const drawn = countries.map(({ code, name, mentions }) => {
    const path = areas.get(code)
    if (path === undefined) return ''
    const shade = Math.ceil((SHADES * (ranks.indexOf(mentions) + 1)) / ranks.length)
    return html`<a href="/gazetteer/country/${code}" tabindex="-1"><path class="area shade-${shade}" d="${path}"><title>${clipShowable(name)}: ${countOf(mentions, 'mention')}</title></path></a>`
  })
  return html`<figure class="map"><svg viewBox="${MAP_VIEW_BOX}" role="group" aria-label="${clipShowable(label)}">
<path class="land" d="${land}"/>${drawn}<path class="borders" d="${borders}"/>
</svg><figcaption>${clipShowable(label)}. Outlines: Natural Earth, public domain.</figcaption></figure>`
}

/** A place with its position. */
interface LocatedPlace extends Pick<Place, 'name' | 'kind' | 'countryCode'> {
  readonly lat: number
  readonly lng: number
}

/** Shows where a place is, and its country. */
export function writePlaceMap(
  { land, borders, areas }: WorldOutlines,
  { name, kind, countryCode, lat, lng }: LocatedPlace,
): Html {
  const { x, y } = pointOnMap(lat, lng, DOT_RADIUS)
  const label = clipShowable(`Where ${name} is`)
  const area = areas.get(countryCode ?? '')
  const isCountry = kind === 'country' && area !== undefined
  return html`<figure class="map small"><svg viewBox="${MAP_VIEW_BOX}" role="img" aria-label="${label}">
<path class="land" d="${land}"/>${area === undefined ? '' : html`<path class="area shade-${isCountry ? SHADES : 1}" d="${area}"/>`}<path class="borders" d="${borders}"/>
<circle class="dot${isCountry ? ' ring' : ''}" cx="${x}" cy="${y}" r="${isCountry ? 3 * DOT_RADIUS : DOT_RADIUS}"/></svg><figcaption>${label}. Outlines: Natural Earth, public domain.</figcaption></figure>`
}

/** In units of the map. */
const DOT_RADIUS = 24

/** `48.86° N, 2.35° E` */
export function writePosition(lat: number, lng: number): string {
  const part = (value: number, hemispheres: readonly [string, string]) =>
    `${writeNumber(Math.abs(Math.round(value * 100) / 100))}° ${value < 0 ? hemispheres[1] : hemispheres[0]}`
  return `${part(lat, ['N', 'S'])}, ${part(lng, ['E', 'W'])}`
}
