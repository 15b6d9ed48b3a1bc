import type { XmlElement } from '../xml-tree.ts'
import { isCodeStyle, isFixedWidth, isTableHeadingStyle, type RunFormat } from './office-blocks.ts'

/** A style of an OpenDocument file, including what it inherits. */
export interface OdtStyle {
  readonly format: RunFormat
  readonly isTitle: boolean
  /** Heading level of paragraphs with this style, from 1; null when they are not headings. */
  readonly outline: number | null
  readonly isCode: boolean
  readonly isTableHeading: boolean
  readonly isHidden: boolean
  readonly listStyle: string | null
}

const NO_STYLE: OdtStyle = {
  format: {},
  isTitle: false,
  outline: null,
  isCode: false,
  isTableHeading: false,
  isHidden: false,
  listStyle: null,
}
/** Limit of the inheritance depth, because styles may be based on each other. */
const MAX_CHAIN = 20

/** List levels of a style, from 1: the first number, or null for bullets, and whether the label of an item is shown. */
type ListLevels = ReadonlyMap<number, { readonly start: number | null; readonly isShown: boolean }>

/** The named and automatic styles of a document. */
export class OdtStyles {
  readonly #sources = new Map<string, XmlElement>()
  readonly #known = new Map<string, OdtStyle>()
  readonly #lists = new Map<string, ListLevels>()
  readonly #fixedFonts = new Set<string>()

  constructor(...files: readonly (XmlElement | undefined)[]) {
    for (const file of files) {
      for (const font of file?.find('font-face-decls')?.elements('font-face') ?? []) {
        const family = `${font.attribute('name')} ${font.attribute('font-family')}`
        if (font.attribute('font-pitch') === 'fixed' || isFixedWidth(family))
          this.#fixedFonts.add(font.attribute('name') ?? '')
      }
      for (const group of ['styles', 'automatic-styles']) {
        for (const style of file?.find(group)?.elements() ?? []) this.#add(style)
      }
    }
  }

  get(family: 'paragraph' | 'text', name: string | undefined): OdtStyle {
    return name === undefined ? NO_STYLE : this.#resolve(`${family} ${name}`, 0)
  }

  /** How items of a list at a level start; bullets by default. */
  listLevel(name: string | null, level: number): { readonly start: number | null; readonly isShown: boolean } {
    return this.#lists.get(name ?? '')?.get(level) ?? { start: null, isShown: true }
  }

  #add(style: XmlElement): void {
    const name = style.attribute('name') ?? ''
    if (style.name === 'style') this.#sources.set(`${style.attribute('family')} ${name}`, style)
    else if (style.name === 'list-style') this.#lists.set(name, readListLevels(style))
  }

  #resolve(key: string, depth: number): OdtStyle {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const source = this.#sources.get(key)
    if (source === undefined || depth > MAX_CHAIN) return NO_STYLE
    const parent = source.attribute('parent-style-name')
    const family = source.attribute('family')
    const style = this.#read(source, parent === undefined ? NO_STYLE : this.#resolve(`${family} ${parent}`, depth + 1))
    this.#known.set(key, style)
    return style
  }

  #read(source: XmlElement, parent: OdtStyle): OdtStyle {
    const name = source.attribute('display-name') ?? (source.attribute('name') ?? '').replace(/_20_/g, ' ')
    const text = source.find('text-properties')
    const value = (key: string): string | undefined => text?.attribute(key)
    const weight = value('font-weight')
    const slant = value('font-style')
    const font = value('font-name') ?? value('font-family')
    const isFixed = font !== undefined && (this.#fixedFonts.has(font) || isFixedWidth(font))
    const isCode = isCodeStyle(name) || (font === undefined ? parent.isCode : isFixed)
    const position = value('text-position')
    return {
      format: {
        bold: weight === undefined ? parent.format.bold === true : weight === 'bold' || Number(weight) >= 600,
        italic: slant === undefined ? parent.format.italic === true : slant !== 'normal',
        struck: (value('text-line-through-style') ?? 'none') !== 'none',
        code: isCode,
        raised: position?.startsWith('super') ?? false,
        lowered: position?.startsWith('sub') ?? false,
      },
      outline: outlineOf(source, name, parent),
      isTitle: /^title$/i.test(name) || parent.isTitle,
      isCode,
      isTableHeading: isTableHeadingStyle(name) || parent.isTableHeading,
      isHidden: value('display') === 'none' || parent.isHidden,
      listStyle: source.attribute('list-style-name') ?? parent.listStyle,
    }
  }
}

/** The heading level from the style's own attribute, its name, or its parent. */
function outlineOf(source: XmlElement, name: string, parent: OdtStyle): number | null {
  const ownLevel = source.attribute('default-outline-level') ?? /^heading (\d)$/i.exec(name)?.[1]
  return ownLevel === undefined ? parent.outline : Number(ownLevel) || null
}

function readListLevels(style: XmlElement): ListLevels {
  const levels = new Map<number, { readonly start: number | null; readonly isShown: boolean }>()
  for (const level of style.elements()) {
    const isNumbered = level.name === 'list-level-style-number'
    const start = Number(level.attribute('start-value') ?? '1') || 1
    const isShown = !isNumbered || (level.attribute('num-format') ?? '') !== ''
    levels.set(Number(level.attribute('level') ?? '1'), { start: isNumbered ? start : null, isShown })
  }
  return levels
}
