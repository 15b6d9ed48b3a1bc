import { isCodeStyle, isFixedWidth, isTableHeadingStyle } from './office-blocks.ts'

interface Font {
  charset: number
  isFixed: boolean
  name: string
}

interface Style {
  name: string
  outline: number | null
  base: number | null
  isFixed: boolean
}

/** Longest chain of styles that are based on each other. */
const MAX_CHAIN = 20

/** The fonts and styles of an RTF file, which its tables define one after the other. */
export class RtfStyles {
  readonly #fonts = new Map<number, Font>()
  #font: Font = { charset: 0, isFixed: false, name: '' }
  readonly #styles = new Map<number, Style>()
  #style: Style = { name: '', outline: null, base: null, isFixed: false }

  beginFont(): void {
    this.#font = { charset: 0, isFixed: false, name: '' }
  }

  beginStyle(): void {
    this.#style = { name: '', outline: null, base: null, isFixed: false }
  }

  describeFont(word: string, value: number | undefined): void {
    if (word === 'f' && value !== undefined) this.#fonts.set(value, this.#font)
    else if (word === 'fcharset') this.#font.charset = value ?? 0
    else if (word === 'fprq') this.#font.isFixed ||= value === 1
  }

  describeStyle(word: string, value: number | undefined): void {
    const style = this.#style
    if (word === 's' && value !== undefined) this.#styles.set(value, style)
    else if (word === 'sbasedon') style.base = value ?? null
    else if (word === 'outlinelevel') style.outline = (value ?? 8) + 1
    else if (word === 'f') style.isFixed = this.isFixed(value ?? -1)
  }

  /** Adds to the name of the font. */
  nameFont(text: string): void {
    this.#font.name += text
    this.#font.isFixed ||= isFixedWidth(this.#font.name)
  }

  /** Adds to the name of the style. */
  nameStyle(text: string): void {
    this.#style.name = (this.#style.name + text).replace(/;.*$/s, '').trimStart()
  }

  charsetOf(font: number): number {
    return this.#fonts.get(font)?.charset ?? 0
  }

  isFixed(font: number): boolean {
    return this.#fonts.get(font)?.isFixed ?? false
  }

  isCode(number: number): boolean {
    const style = this.#styles.get(number)
    return style !== undefined && (style.isFixed || isCodeStyle(style.name))
  }

  isTableHeading(number: number, depth = 0): boolean {
    const style = this.#styles.get(number)
    if (style === undefined || depth > MAX_CHAIN) return false
    return isTableHeadingStyle(style.name) || (style.base !== null && this.isTableHeading(style.base, depth + 1))
  }

  /** The level of a heading style, 0 for the title; null when it is no heading style. */
  headingOf(number: number, depth = 0): number | null {
    const style = this.#styles.get(number)
    if (style === undefined || depth > MAX_CHAIN) return null
    const name = style.name.toLowerCase()
    if (name === 'title') return 0
    const level = /^heading ([1-9])$/.exec(name)?.[1]
    if (level !== undefined) return Number(level)
    return (
      style.outline ?? (style.base === null || style.base === number ? null : this.headingOf(style.base, depth + 1))
    )
  }
}
