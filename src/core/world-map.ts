/** The outlines that a map is drawn from; empty where the build left none. */
export interface WorldOutlines {
  readonly land: string
  readonly borders: string
}

/** The visible part of the map, in tenths of a degree from its north-west corner. */
export const MAP_VIEW = { top: 60, width: 3600, height: 1420 } as const

/** Where pictures look for what is seen. */
export const MAP_VIEW_BOX: string = `0 ${MAP_VIEW.top} ${MAP_VIEW.width} ${MAP_VIEW.height}`

/** The radius of the smallest dot, and how much larger the largest is. */
const RADIUS = { least: 12, range: 30 }

/** Takes the outlines out of the picture that the build makes. Nothing but the letters and digits of a path is taken over. */
export function parseOutlines(svg: string): WorldOutlines {
  const pathOf = (id: string) => new RegExp(`<path id="${id}"[^>]* d="([MlLz\\d .-]+)"`).exec(svg)?.[1] ?? ''
  return { land: pathOf('land'), borders: pathOf('borders') }
}

/** Where the middle of a dot of a place is on the map. What lies beyond its edges is shown at them, as a whole. */
export function pointOnMap(lat: number, lng: number, radius = 0): { readonly x: number; readonly y: number } {
  const { top, width, height } = MAP_VIEW
  const within = (at: number, from: number, to: number) =>
    Math.min(Math.max(Math.round(at), from + radius), to - radius)
  return { x: within((lng + 180) * 10, 0, width), y: within((90 - lat) * 10, top, top + height) }
}

/** How large the dot of so many pages is, where the largest stands for `most`: areas can be compared. */
export function radiusOnMap(pages: number, most: number): number {
  return Math.round(RADIUS.least + RADIUS.range * Math.sqrt(pages / Math.max(1, most)))
}
