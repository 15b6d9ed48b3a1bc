import type { Section } from '../../core/model.ts'
import { parseHttp } from '../../core/url/key.ts'
import { readAnchor, writeReaderUrl } from '../../core/url/reader-url.ts'
import type { Library } from '../../library/library.ts'
import type { PageRef } from '../../library/ports/store.ts'
import { isTree, keysOf } from '../../library/ports/tree.ts'
import type { Source } from '../../library/source.ts'
import type { LinkTarget } from './render-markdown.ts'

/** A text whose links are resolved. */
export interface LinkedPage {
  readonly source: Source
  readonly url: string
  readonly hrefs: ReadonlySet<string>
  /** Where an anchor of the page itself is; undefined where its anchors are unknown. */
  readonly findAnchor?: (anchor: string) => string | undefined
}

type ResolveLink = (href: string) => LinkTarget | null

/**
 * Decides where the links of some texts lead: to the reader for pages of the library, else out of it. Only links that a browser can follow
 * safely lead out. One lookup serves all texts.
 */
export async function resolvePageLinks(
  library: Pick<Library, 'store' | 'trees'>,
  pages: readonly LinkedPage[],
): Promise<ResolveLink[]> {
  const all = await library.store.listSources()
  const refs: PageRef[] = []
  const candidates = pages.map((page) => {
    const targets = new Map<string, { readonly url: string; readonly from: number; readonly to: number }>()
    // Another source may have the same page, such as another version; the page's own comes first.
    const sources = [page.source, ...all.filter(({ id }) => id !== page.source.id)]
    for (const href of [...page.hrefs].slice(0, MAX_LINKS)) {
      const url = absoluteOf(href, page.url)
      if (url === undefined || href.startsWith('#')) continue
      const from = refs.length
      for (const source of sources) {
        if (source.id !== page.source.id && !isSiteOf(source, url)) continue
        for (const key of keysOf(library, source, url)) refs.push({ sourceId: source.id, key })
      }
      targets.set(href, { url, from, to: refs.length })
    }
    return { page, targets }
  })
  const stored = await library.store.readPageSignatures(refs)
  return candidates.map(({ page, targets }) => (href) => {
    const target = targets.get(href)
    const isOwn =
      href.startsWith('#') || (target !== undefined && withoutAnchor(target.url) === withoutAnchor(page.url))
    const own = isOwn ? resolveOwnAnchor(page, href) : null
    if (own !== null || href.startsWith('#')) return own
    const ref = target && refs.slice(target.from, target.to).find((_, i) => stored[target.from + i] !== undefined)
    if (target !== undefined && ref !== undefined) {
      return { href: writeReaderUrl({ sourceId: ref.sourceId, url: target.url }), isOutside: false }
    }
    const url = target?.url ?? absoluteOf(href, page.url)
    return url !== undefined && /^(?:https?|mailto):/i.test(url) ? { href: url, isOutside: true } : null
  })
}

/** Limits the links that are looked up; the rest lead out of the library. */
const MAX_LINKS = 1000

/** The place of an anchor on the page itself. An anchor that it lacks may be another page of the same file. */
function resolveOwnAnchor({ findAnchor, source, url }: LinkedPage, href: string): LinkTarget | null {
  const hash = href.slice(href.indexOf('#'))
  const anchor = href.includes('#') ? readAnchor(`https://host/${hash}`) : ''
  if (anchor === '') return null
  const away = () => writeReaderUrl({ sourceId: source.id, url: withoutAnchor(url) + hash })
  return { href: findAnchor?.(anchor) ?? away(), isOutside: false }
}

function withoutAnchor(url: string): string {
  return url.replace(/#.*$/s, '')
}

function absoluteOf(href: string, base: string): string | undefined {
  return URL.parse(href)?.href ?? (parseHttp(base) === undefined ? undefined : URL.parse(href, base)?.href)
}

function isSiteOf(source: Source, url: string): boolean {
  return !isTree(source) && URL.parse(source.url)?.host === URL.parse(url)?.host
}

/** The lines of all anchors of a page. The first of several anchors with the same name counts, as in browsers. */
export function readAnchors(sections: readonly Section[]): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const add = (anchor: string | null, line: number) => {
    if (anchor !== null && anchor !== '' && !lines.has(anchor)) lines.set(anchor, line)
  }
  const walk = ({ anchor, startLine, marks = [], children }: Section) => {
    add(anchor, startLine)
    for (const mark of marks) add(mark.anchor, mark.line)
    children.forEach(walk)
  }
  sections.forEach(walk)
  return lines
}
