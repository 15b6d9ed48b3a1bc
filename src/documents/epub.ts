import { clipText } from '../core/text/lines.ts'
import { type ConversionResult, DOCUMENT_LIMITS, DocumentError, type DocumentPart } from './document.ts'
import { type Chapter, writeChapter } from './epub-chapter.ts'
import { checkTextLength } from './office/office-blocks.ts'
import { lineIn, resolveMember } from './office/office-package.ts'
import { parseXml, type XmlElement } from './xml-tree.ts'
import { ZipMembers } from './zip-members.ts'

/** Converts a book to pages: one for each chapter with text, in reading order. */
export function convertEpub(bytes: Uint8Array): ConversionResult {
  const book = new Book(new ZipMembers(bytes))
  const parts = book.read()
  if (parts.length === 0 && book.skipped.length > 0)
    throw new DocumentError('damaged', 'none of its chapters can be read')
  if (parts.length === 0) return { type: 'refused', reason: 'empty', detail: 'there is no text in it' }
  return {
    type: 'parts',
    title: book.title,
    parts,
    ...(book.skipped.length === 0 ? {} : { detail: describeSkipped(book.skipped) }),
  }
}

function describeSkipped(skipped: readonly string[]): string {
  return `left out, because they cannot be read: ${clipText(skipped.join(', '), 500)}`
}

interface Item {
  /** Path of the archive member. */
  readonly member: string
  /** Path relative to the package file, which names the part. */
  readonly href: string
  readonly type: string
  readonly properties: string
}

class Book {
  readonly #members: ZipMembers
  readonly #package: XmlElement
  readonly #items = new Map<string, Item>()
  /** Chapters that could not be read. */
  readonly skipped: string[] = []

  constructor(members: ZipMembers) {
    this.#members = members
    const container = this.#readXml('META-INF/container.xml')
    const packagePath = container?.find('rootfiles', 'rootfile')?.attribute('full-path')
    const root = packagePath === undefined ? undefined : this.#readXml(packagePath)
    if (packagePath === undefined || root === undefined) throw new DocumentError('damaged', 'it has no book in it')
    this.#package = root
    for (const item of root.find('manifest')?.elements('item') ?? []) {
      const href = item.attribute('href') ?? ''
      this.#items.set(item.attribute('id') ?? '', {
        member: resolveMember(packagePath, href),
        href,
        type: item.attribute('media-type') ?? '',
        properties: item.attribute('properties') ?? '',
      })
    }
  }

  get title(): string | null {
    return lineIn(this.#package.find('metadata'), 'title')
  }

  read(): DocumentPart[] {
    const encrypted = this.#listEncrypted()
    const titles = this.#readTitles()
    const metadata = this.#package.find('metadata')
    const about = {
      author: lineIn(metadata, 'creator'),
      language: lineIn(metadata, 'language'),
      modifiedAt: modifiedOf(metadata),
    }
    const parts: DocumentPart[] = []
    const seen = new Set<string>()
    let characters = 0
    for (const { member, href } of this.#listChapters()) {
      if (seen.has(member)) continue
      seen.add(member)
      if (encrypted.has(member)) throw new DocumentError('encrypted', 'its chapters are encrypted')
      const source = this.#readChapter(member, href)
      const chapter: Chapter | undefined = source === undefined ? undefined : writeChapter(source, titles.get(member))
      if (chapter === undefined) continue
      characters += chapter.html.length
      checkTextLength(characters)
      const title = titles.get(member) ?? chapter.heading ?? lineIn(metadata, 'title')
      parts.push({
        ...about,
        language: chapter.language ?? about.language,
        name: href,
        title,
        body: { form: 'html', text: chapter.html },
      })
    }
    return parts
  }

  /** Skips a damaged chapter as long as others are readable. */
  #readChapter(member: string, href: string): XmlElement | undefined {
    try {
      return this.#readXml(member)
    } catch (error) {
      if (!(error instanceof DocumentError) || error.reason !== 'damaged') throw error
      this.skipped.push(href)
      return undefined
    }
  }

  /** The chapters in reading order, without the table of contents. */
  #listChapters(): Item[] {
    const chapters: Item[] = []
    for (const reference of this.#package.find('spine')?.elements('itemref') ?? []) {
      const item = this.#items.get(reference.attribute('idref') ?? '')
      if (item === undefined || !/\bx?html\b/i.test(item.type)) continue
      if (!/\bnav\b/.test(item.properties)) chapters.push(item)
    }
    if (chapters.length > DOCUMENT_LIMITS.pages) {
      throw new DocumentError('too-large', `it has ${chapters.length} chapters, more than ${DOCUMENT_LIMITS.pages}`)
    }
    return chapters
  }

  /** Titles of chapters by member, from the table of contents. The first link to a chapter wins. */
  #readTitles(): Map<string, string> {
    const titles = new Map<string, string>()
    const add = (file: string, target: string | undefined, text: string) => {
      const member = resolveMember(file, (target ?? '').split('#')[0] ?? '')
      const title = text.replace(/\s+/g, ' ').trim()
      if (title !== '' && !titles.has(member)) titles.set(member, title)
    }
    for (const { member, type, properties } of this.#items.values()) {
      if (/\bnav\b/.test(properties)) {
        for (const link of contentsIn(this.#readXml(member))) add(member, link.attribute('href'), link.text)
      } else if (type === 'application/x-dtbncx+xml') {
        for (const point of this.#readXml(member)?.descendants() ?? []) {
          if (point.name !== 'navPoint') continue
          add(member, point.find('content')?.attribute('src'), point.find('navLabel')?.text ?? '')
        }
      }
    }
    return titles
  }

  /** Encrypted members. They may include obfuscated fonts, which do no harm: only encrypted chapters make a book unreadable. */
  #listEncrypted(): Set<string> {
    const encrypted = new Set<string>()
    for (const element of this.#readXml('META-INF/encryption.xml')?.descendants() ?? []) {
      if (element.name === 'CipherReference') encrypted.add(resolveMember('', element.attribute('URI') ?? ''))
    }
    return encrypted
  }

  #readXml(name: string): XmlElement | undefined {
    const bytes = this.#members.read(name)
    return bytes === undefined ? undefined : parseXml(bytes)
  }
}

/** The links of the table of contents, without page lists and landmarks. */
function* contentsIn(page: XmlElement | undefined): Generator<XmlElement, void, void> {
  for (const nav of page?.descendants() ?? []) {
    if (nav.name !== 'nav' || !/\btoc\b/.test(nav.attribute('type') ?? '')) continue
    for (const link of nav.descendants()) if (link.name === 'a') yield link
  }
}

function modifiedOf(metadata: XmlElement | undefined): string | null {
  for (const meta of metadata?.elements('meta') ?? []) {
    if (meta.attribute('property') === 'dcterms:modified') return meta.text.trim() || null
  }
  return lineIn(metadata, 'date')
}
