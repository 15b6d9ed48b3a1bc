/** Ways to hide something that CSS decides one by one. */
export const ASPECTS = ['display', 'visibility', 'box'] as const

/** One of {@link ASPECTS}. */
export type Aspect = (typeof ASPECTS)[number]

/** What declarations say: `true` hides, `false` shows, no entry leaves it to others. */
export type Verdicts = Partial<Record<Aspect, boolean>>

/**
 * What the declarations of one rule, or of a `style` attribute, say about whether an element is seen. Collapsed and
 * transparent parts are found in a `style` attribute only: in style sheets they are the beginning of an animation or
 * the closed part of an accordion.
 */
export function judgeDeclarations(declarations: ReadonlyMap<string, string>, isInline: boolean): Verdicts {
  const verdicts: Verdicts = {}
  const value = (name: string) => (declarations.get(name) ?? '').replace(/\s*!important$/, '')
  const display = value('display')
  if (display !== '') verdicts.display = display === 'none'
  const visibility = value('visibility')
  if (visibility !== '') verdicts.visibility = visibility === 'hidden' || visibility === 'collapse'
  if (isOutOfSight(value) || hasColourOfGround(value) || (isInline && isCollapsed(value))) verdicts.box = true
  else if (/^(?:static|relative)$/.test(value('position')) || value('clip') === 'auto') verdicts.box = false
  return verdicts
}

/** Whether declarations make something transparent, and nothing in them says that it will fade in. */
export function isTransparent(declarations: ReadonlyMap<string, string>): boolean {
  if (!/^0(?:\.0+)?%?$/.test(declarations.get('opacity') ?? '')) return false
  return !ANIMATED.some((name) => declarations.has(name))
}

const ANIMATED = ['transform', '-webkit-transform', 'transition', 'animation', 'will-change', 'filter', 'translate']

type Value = (name: string) => string

/** Further out than any layout puts something that is to be seen. */
const OFF_SCREEN = -900

function isOutOfSight(value: Value): boolean {
  if (parseFloat(value('text-indent')) <= OFF_SCREEN) return true
  if (/^inset\((?:50|[6-9]\d|100)%/.test(value('clip-path'))) return true
  if (isNothing(value('width')) && isNothing(value('height')) && isClipped(value)) return true
  if (!/^(?:absolute|fixed)$/.test(value('position'))) return false
  if (/^rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)/.test(value('clip'))) return true
  return ['left', 'top', 'right', 'bottom'].some((side) => parseFloat(value(side)) <= OFF_SCREEN)
}

function isCollapsed(value: Value): boolean {
  const sides = ['width', 'height', 'max-width', 'max-height']
  return isClipped(value) && sides.some((side) => /^0(?:px|em|rem|%)?$/.test(value(side)))
}

/** A box of one pixel shows no text either. */
function isNothing(length: string): boolean {
  return /^[01]px$|^0$/.test(length)
}

function isClipped(value: Value): boolean {
  return /^(?:hidden|clip)/.test(value('overflow'))
}

function hasColourOfGround(value: Value): boolean {
  const colour = colourOf(value('color'))
  if (!/^#|^rgb|^hsl|^[a-z]+$/.test(colour) || /^(?:transparent|inherit|initial|unset|currentcolor)$/.test(colour)) {
    return false
  }
  return colour === colourOf(value('background-color')) || colour === colourOf(value('background'))
}

const NAMED: Readonly<Record<string, string>> = { white: '#ffffff', black: '#000000' }

function colourOf(value: string): string {
  const colour = value.replace(/\s+/g, '')
  if (/^#[\da-f]{3}$/.test(colour)) return colour.replace(/[\da-f]/g, '$&$&')
  return NAMED[colour] ?? colour
}
