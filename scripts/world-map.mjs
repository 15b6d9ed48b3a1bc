// Draws the world map for places: land and borders of Natural Earth in one small picture.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { feature, merge, mesh } from 'topojson-client'
import world from 'world-atlas/countries-110m.json' with { type: 'json' }

/** Equirectangular projection: tenths of a degree from the north-west corner. */
const project = ([lng, lat]) => [Math.round((lng + 180) * 10), Math.round((90 - lat) * 10)]

/** The visible part: everything except Antarctica, which would take a sixth of the height. */
const VIEW_BOX = '0 60 3600 1420'

/** Antarctica in ISO 3166-1 numeric codes. */
const ANTARCTICA = '010'

/** Writes the map to a file. */
export function writeWorldMap(file) {
  const { countries } = world.objects
  const shown = countries.geometries.filter(({ id }) => id !== ANTARCTICA)
  const land = merge(world, shown).coordinates.flat().flatMap(splitAtEdge)
  const borders = mesh(world, countries, (a, b) => a !== b && a.id !== ANTARCTICA && b.id !== ANTARCTICA).coordinates
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${VIEW_BOX}">
<desc>Made with Natural Earth, naturalearthdata.com, public domain.</desc>
<path id="land" fill="#c3ccd8" d="${land.map((ring) => `${writeLine(ring)}z`).join('')}"/>
<g fill="#c3ccd8">${shown.flatMap(writeArea).join('')}</g>
<path id="borders" fill="none" stroke="#fff" stroke-width="3" d="${borders.map(writeLine).join('')}"/>
</svg>
`
  fs.mkdirSync(dirname(file), { recursive: true })
  fs.writeFileSync(file, svg)
}

/** Writes the area of a country, named by its two letters. Disputed areas have no code, and belong to the land only. */
function writeArea(geometry) {
  if (geometry.id === undefined) return []
  // The canonical form of a locale has the letters of a numeric region.
  const code = new Intl.Locale(`und-${geometry.id}`).region
  const { type, coordinates } = feature(world, geometry).geometry
  const rings = (type === 'Polygon' ? [coordinates] : coordinates).flat().flatMap(splitAtEdge)
  return [`<path id="${code}" d="${rings.map((ring) => `${writeLine(ring)}z`).join('')}"/>`]
}

/** Cuts an outline at the edge of the map, and moves the part beyond it to the other side. */
function splitAtEdge(ring) {
  let offset = 0
  const continuous = ring.map(([lng, lat], i) => {
    const step = lng - (ring[i - 1]?.[0] ?? lng)
    if (Math.abs(step) > 180) offset -= Math.sign(step) * 360
    return [lng + offset, lat]
  })
  const inside = continuous.map(([lng, lat]) => [Math.min(Math.max(lng, -180), 180), lat])
  const beyond = continuous.filter(([lng]) => Math.abs(lng) > 180)
  return beyond.length < 3 ? [inside] : [inside, beyond.map(([lng, lat]) => [lng - Math.sign(lng) * 360, lat])]
}

/** Writes a line as relative steps; steps too short to be visible are left out. */
function writeLine(points) {
  let last = project(points[0])
  let path = `M${last.join(' ')}l`
  for (const point of points.slice(1)) {
    const next = project(point)
    const step = [next[0] - last[0], next[1] - last[1]]
    if (Math.abs(step[0]) + Math.abs(step[1]) < 4) continue
    path += `${path.endsWith('l') || step[0] < 0 ? '' : ' '}${step[0]}${step[1] < 0 ? '' : ' '}${step[1]}`
    last = next
  }
  return path.endsWith('l') ? path.slice(0, -1) : path
}
