/** Approximate pixels of a unit, precise enough to distinguish near from far. */
const PIXELS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 1.3,
  ch: 8,
  em: 16,
  rem: 16,
  '%': 10,
  vw: 12,
  vh: 8,
  vmin: 8,
  vmax: 12,
  cm: 38,
  in: 96,
}

/** A length in pixels; NaN for other text. */
export function lengthOf(text: string): number {
  const [, number, unit = ''] = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([a-z]*|%)$/.exec(text) ?? []
  return number === undefined ? Number.NaN : Number(number) * (PIXELS[unit] ?? Number.NaN)
}

/** Red, green and blue up to 255, and opacity up to 1. */
export type Color = readonly [number, number, number, number]

const NAMED_COLORS: Readonly<Record<string, Color>> = {
  white: [255, 255, 255, 1],
  black: [0, 0, 0, 1],
  red: [255, 0, 0, 1],
  gray: [128, 128, 128, 1],
  grey: [128, 128, 128, 1],
  silver: [192, 192, 192, 1],
  transparent: [0, 0, 0, 0],
}

/** Parses a color in one of the common notations. */
export function colorOf(text: string): Color | undefined {
  if (Object.hasOwn(NAMED_COLORS, text)) return NAMED_COLORS[text]
  const [, hex] = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(text) ?? []
  if (hex !== undefined) {
    const digits = hex.length < 6 ? hex.replace(/./g, '$&$&') : hex
    const [red = 0, green = 0, blue = 0, alpha = 255] = (digits.match(/../g) ?? []).map((two) =>
      Number.parseInt(two, 16),
    )
    return [red, green, blue, alpha / 255]
  }
  const [, kind, list = ''] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(text) ?? []
  if (kind === undefined) return undefined
  const [first = 0, second = 0, third = 0, alpha = 1] = list
    .trim()
    .split(/[\s,/]+/)
    .map((part, i) => Number.parseFloat(part) * (part.endsWith('%') ? (i === 3 ? 0.01 : 2.55) : 1))
  // HSL colors are not converted; only a fully transparent one is recognized.
  if (kind === 'hsl') return alpha === 0 ? [0, 0, 0, 0] : undefined
  return [first, second, third, alpha]
}

/** Text is unreadable when each color channel differs from the background by at most this much. */
const MAX_CHANNEL_DIFFERENCE = 8

/** Whether two colors are indistinguishable. `b` is the background; a transparent background never hides text. */
export function isSameColor(a: Color, b: Color): boolean {
  return b[3] > 0 && a.every((part, i) => i === 3 || Math.abs(part - (b[i] ?? 0)) <= MAX_CHANNEL_DIFFERENCE)
}
