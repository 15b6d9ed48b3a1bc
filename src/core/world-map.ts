/** The outlines of the map; empty if the build has none. */
export interface WorldOutlines {
  readonly land: string
  readonly borders: string
  /** The areas of countries by their codes, such as `FR`. */
  readonly areas: ReadonlyMap<string, string>
}

/** The visible part of the map, in tenths of a degree from its north-west corner. */
export const MAP_VIEW = { top: 60, width: 3600, height: 1420 } as const

/** The `viewBox` of the visible part. */
export const MAP_VIEW_BOX: string = `0 ${MAP_VIEW.top} ${MAP_VIEW.width} ${MAP_VIEW.height}`

/** Extracts the outlines from the picture that the build makes. Only the letters and digits of a path are copied. */
export function parseOutlines(svg: string): WorldOutlines {
  const pathOf = (id: string) => new RegExp(`<path id="${id}"[^>]* d="([MlLz\\d .-]+)"`).exec(svg)?.[1] ?? ''
  const areas = svg.matchAll(/<path id="([A-Z]{2})" d="([MlLz\d .-]+)"/g)
  return {
    land: pathOf('land'),
    borders: pathOf('borders'),
    areas: new Map([...areas].map(([, code = '', path = '']) => [code, path])),
  }
}

/** The center of a place's dot on the map. A dot beyond the edges moves inside, so that it is fully visible. */
export function pointOnMap(lat: number, lng: number, radius = 0): { readonly x: number; readonly y: number } {
  const { top, width, height } = MAP_VIEW
  const clamp = (at: number, from: number, to: number) => Math.min(Math.max(Math.round(at), from + radius), to - radius)
  return { x: clamp((lng + 180) * 10, 0, width), y: clamp((90 - lat) * 10, top, top + height) }
}
