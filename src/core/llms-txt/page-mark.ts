import { resolveHttp, withoutFragment } from '../extract/resolve.ts'
import { plainText } from './llms-txt.ts'
import { scanLinks } from './scan.ts'

export interface LlmsFullFile {
  readonly lines: readonly string[]
  readonly fences: readonly boolean[]
  readonly url: string
  /** Addresses by normalized title; titles that several pages share are left out. */
  readonly titles: ReadonlyMap<string, string>
}

/** Where a page is in the file. */
export interface PageMark {
  readonly start: number
  /** The line after the last line of the page; without it the page continues to the next mark. */
  readonly end?: number
  readonly url: string
  readonly title: string
  /** The separator lines, each with the text that remains of it. */
  readonly edits: readonly (readonly [line: number, rest: string])[]
}

export function titleText(markdown: string): string {
  const [link] = scanLinks(markdown)
  return plainText(link !== undefined && link.start === 0 && link.end === markdown.length ? link.title : markdown)
}

/** The address of a page; undefined unless it is absolute or begins with `/`. A relative path may be the path of a file. */
export function pageUrl(written: string, base: string): string | undefined {
  if (!/^(?:https?:\/\/|\/(?!\/))/i.test(written) || written.length > 2000) return undefined
  const url = resolveHttp(written, base)
  return url === undefined ? undefined : withoutFragment(url)
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" }

export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}

export function titleKey(title: string): string {
  return titleText(title).toLowerCase()
}
