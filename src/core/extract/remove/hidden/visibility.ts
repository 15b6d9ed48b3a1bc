import type { Declarations } from './stylesheet.ts'
import { type Color, colorOf, isSameColor, lengthOf } from './values.ts'

/** Independent ways to hide an element in CSS. */
export const ASPECTS = ['display', 'visibility', 'box', 'opacity', 'font'] as const

/** One of {@link ASPECTS}. */
export type Aspect = (typeof ASPECTS)[number]

/** The effect of declarations on one aspect. */
export interface Visibility {
  readonly isHidden: boolean
  readonly isImportant: boolean
}

/** A missing entry leaves an aspect to other declarations. */
export type VisibilityByAspect = Partial<Record<Aspect, Visibility>>

/**
 * Judges whether the declarations of one rule, or of a `style` attribute, hide an element. Collapsed boxes and transparent text count only
 * in a `style` attribute: in style sheets they are closed accordions, or lettering with a picture behind it.
 */
export function readVisibility(declarations: Declarations, isInline: boolean): VisibilityByAspect {
  const result: VisibilityByAspect = {}
  const value = (name: string) => declarations.get(name)?.value ?? ''
  const setAspect = (aspect: Aspect, hides: boolean, ...names: string[]) => {
    result[aspect] = {
      isHidden: hides,
      isImportant: names.some((name) => declarations.get(name)?.isImportant === true),
    }
  }
  const display = value('display')
  if (display !== '') setAspect('display', display === 'none', 'display')
  const visibility = value('visibility')
  if (visibility !== '') setAspect('visibility', visibility === 'hidden' || visibility === 'collapse', 'visibility')
  else if (isInline && value('content-visibility') === 'hidden') setAspect('visibility', true, 'content-visibility')
  const isNeverSeen = isOffScreen(value) || hasColorOfBackground(value)
  if (isNeverSeen || (isInline && (isCollapsed(value) || hasTransparentText(value))))
    setAspect('box', true, ...declarations.keys())
  else if (/^(?:static|relative)$/.test(value('position')) || value('clip') === 'auto')
    setAspect('box', false, 'position')
  if (isTransparent(value) || (isInline && isScaledToZero(value))) setAspect('opacity', true, 'opacity')
  else if (Number.parseFloat(value('opacity')) > 0) setAspect('opacity', false, 'opacity')
  const size = value('font-size') || sizeIn(value('font'))
  if (size !== '') setAspect('font', lengthOf(size) === 0, 'font-size', 'font')
  return result
}

/** Returns the value of a property. */
type Value = (name: string) => string

const ANIMATION_PROPERTIES = ['transition', 'animation', 'will-change']
const FADE_IN_PROPERTIES = [...ANIMATION_PROPERTIES, 'transform', '-webkit-transform', 'filter', 'translate']

function isAnimated(value: Value, names: readonly string[]): boolean {
  return names.some((name) => !/^(?:|none|0s|initial|unset|auto)$/.test(value(name)))
}

/** Whether an element is transparent without signs that it will fade in. */
function isTransparent(value: Value): boolean {
  return lengthOf(value('opacity')) === 0 && !isAnimated(value, FADE_IN_PROPERTIES)
}

function isScaledToZero(value: Value): boolean {
  const isScaled = /(?:^|\s)scale(?:3d|x|y)?\(\s*(?:0+(?:\.0*)?|\.0+)\s*[,)]/.test(value('transform'))
  return isScaled && value('opacity') === '' && !isAnimated(value, ANIMATION_PROPERTIES)
}

/** Offset in pixels beyond which a layout puts nothing that is meant to be seen. */
const OFF_SCREEN = -900
/** The limit for margins and transforms. Carousels move their slides by a few thousand pixels. */
const FAR_OFF = -5000

function isOffScreen(value: Value): boolean {
  if (lengthOf(value('text-indent')) <= OFF_SCREEN) return true
  if (/^inset\((?:50|[6-9]\d|100)%|^circle\(\s*0(?:px|%)?\s*(?:\)|at\b)/.test(value('clip-path'))) return true
  if (isTiny(value('width')) && isTiny(value('height')) && isClipped(value)) return true
  if (isMovedFar(value)) return true
  if (!/^(?:absolute|fixed)$/.test(value('position'))) return false
  if (/^rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)/.test(value('clip'))) return true
  return ['left', 'top', 'right', 'bottom'].some((side) => lengthOf(value(side)) <= OFF_SCREEN)
}

/** Whether a margin or a transform moves the element out of view. A margin that padding compensates only widens the background. */
function isMovedFar(value: Value): boolean {
  const isMarginFar = ['left', 'top'].some((side) => {
    return lengthOf(value(`margin-${side}`)) <= FAR_OFF && !(lengthOf(value(`padding-${side}`)) > 0)
  })
  const [, x = '', y = ''] = /translate(?:3d|x|y)?\(\s*([^,)\s]+)(?:\s*,\s*([^,)\s]+))?/.exec(value('transform')) ?? []
  return isMarginFar || lengthOf(x) <= FAR_OFF || lengthOf(y) <= FAR_OFF
}

function isCollapsed(value: Value): boolean {
  const sides = ['width', 'height', 'max-width', 'max-height']
  return isClipped(value) && sides.some((side) => lengthOf(value(side)) === 0)
}

/** A box of one pixel shows no text either. */
function isTiny(length: string): boolean {
  return lengthOf(length) <= 1
}

function isClipped(value: Value): boolean {
  return /^(?:hidden|clip)/.test(value('overflow'))
}

function hasColorOfBackground(value: Value): boolean {
  const color = colorOf(value('color'))
  if (color === undefined || color[3] === 0) return false
  const background = colorOf(value('background-color')) ?? backgroundColorOf(value('background'))
  return background !== undefined && isSameColor(color, background)
}

/** The color in `background`, unless a picture lies over it. */
function backgroundColorOf(background: string): Color | undefined {
  if (/url\(|gradient\(/.test(background)) return undefined
  for (const part of background.match(/[\w-]+\([^()]*\)|[^\s()]+/g) ?? []) {
    const color = colorOf(part)
    if (color !== undefined) return color
  }
  return undefined
}

/** Whether text is transparent, and neither its background nor its shadow draws the letters. */
function hasTransparentText(value: Value): boolean {
  const textColor = value('-webkit-text-fill-color') || value('color')
  if (colorOf(textColor)?.[3] !== 0) return false
  const isDrawn = /text/.test(value('background-clip') + value('-webkit-background-clip') + value('background'))
  return !isDrawn && /^(?:|none)$/.test(value('text-shadow'))
}

/** The size in `font: italic 0/1 serif`. */
function sizeIn(font: string): string {
  return /(?:^|\s)(\.?\d[\d.]*(?:[a-z]+|%)?)(?=[\s/])(?!\s+[\d.])/.exec(font)?.[1] ?? ''
}
