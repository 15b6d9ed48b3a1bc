import type { XmlElement } from '../xml-tree.ts'
import { isCodeStyle, isFixedWidth, isTableHeadingStyle } from './office-blocks.ts'

/** A style of a Word document, including what it inherits. */
export interface WordStyle {
  readonly name: string
  /** Level of a heading, 0 for the title; null for other styles. */
  readonly heading: number | null
  readonly isCode: boolean
  readonly isTableOfContents: boolean
  readonly isTableHeading: boolean
  readonly numbering: { readonly id: string; readonly level: number } | null
}

const DEFAULT_STYLE: WordStyle = {
  name: '',
  heading: null,
  isCode: false,
  isTableOfContents: false,
  isTableHeading: false,
  numbering: null,
}
/** Limit of the inheritance depth, because styles may be based on each other. */
const MAX_CHAIN = 20

/** The styles of a document by their ids. */
export class WordStyles {
  readonly #sources: ReadonlyMap<string, XmlElement>
  readonly #known = new Map<string, WordStyle>()

  constructor(styles: XmlElement | undefined) {
    this.#sources = new Map(
      [...(styles?.elements('style') ?? [])].map((style) => [style.attribute('styleId') ?? '', style]),
    )
  }

  get(id: string | undefined): WordStyle {
    return id === undefined ? DEFAULT_STYLE : this.#resolve(id, 0)
  }

  #resolve(id: string, depth: number): WordStyle {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const source = this.#sources.get(id)
    if (source === undefined || depth > MAX_CHAIN) return DEFAULT_STYLE
    const base = source.find('basedOn')?.attribute('val')
    const style = readStyle(source, base === undefined ? DEFAULT_STYLE : this.#resolve(base, depth + 1))
    this.#known.set(id, style)
    return style
  }
}

function readStyle(source: XmlElement, base: WordStyle): WordStyle {
  const name = source.find('name')?.attribute('val') ?? ''
  const properties = source.find('pPr')
  const font = source.find('rPr', 'rFonts')?.attribute('ascii') ?? ''
  return {
    name,
    heading: headingOf(name) ?? readOutline(properties) ?? base.heading,
    isCode: isCodeStyle(name) || (font === '' ? base.isCode : isFixedWidth(font)),
    isTableOfContents: /^(?:toc \d|table of figures|index \d)$/i.test(name),
    isTableHeading: isTableHeadingStyle(name) || base.isTableHeading,
    numbering: readNumbering(properties) ?? base.numbering,
  }
}

function headingOf(name: string): number | null {
  if (/^title$/i.test(name)) return 0
  const level = /^heading ([1-9])$/i.exec(name)?.[1]
  return level === undefined ? null : Number(level)
}

/** The heading level set in the properties of a paragraph or style. */
export function readOutline(properties: XmlElement | undefined): number | null {
  const value = Number(properties?.find('outlineLvl')?.attribute('val') ?? '9')
  return value >= 0 && value < 9 ? value + 1 : null
}

/** The list set in the properties of a paragraph or style. */
export function readNumbering(properties: XmlElement | undefined): WordStyle['numbering'] {
  const source = properties?.find('numPr')
  const id = source?.find('numId')?.attribute('val')
  if (id === undefined) return null
  return { id, level: Math.min(8, Number(source?.find('ilvl')?.attribute('val') ?? '0') || 0) }
}
