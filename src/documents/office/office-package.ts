import { decodePart } from '../../core/url/decode-part.ts'
import { DocumentError, type TextDocument } from '../document.ts'
import { parseXml, type XmlElement } from '../xml-tree.ts'
import { ZipMembers } from '../zip-members.ts'

/** A reference from a part of a package. */
interface Relation {
  readonly type: string
  /** A member of the package, or a URL outside of it. */
  readonly target: string
  readonly isExternal: boolean
}

/** An Office Open XML document: members that refer to each other. Nothing outside of it is opened. */
export class OfficePackage {
  readonly #members: ZipMembers

  constructor(bytes: Uint8Array) {
    refuseLegacyFormats(bytes)
    this.#members = new ZipMembers(bytes)
  }

  /** The main member of the document. @throws {DocumentError} when the package has none */
  get main(): string {
    const main = this.#find('', 'officeDocument')
    if (main !== undefined && this.#members.has(main)) return main
    throw new DocumentError('damaged', 'it has no document in it')
  }

  /** The root element of the main member. @throws {DocumentError} when it belongs to another kind of document */
  root(name: 'document' | 'presentation' | 'workbook'): XmlElement {
    const root = this.xml(this.main)
    if (root?.name !== name) throw new DocumentError('damaged', `it contains no ${name}`)
    return root
  }

  /** A member as XML; undefined when it does not exist. */
  xml(name: string | undefined): XmlElement | undefined {
    const bytes = name === undefined ? undefined : this.bytes(name)
    return bytes === undefined ? undefined : parseXml(bytes)
  }

  bytes(name: string): Uint8Array | undefined {
    return this.#members.read(name)
  }

  /** The member of a type that a part refers to, such as its styles. */
  related(part: string, type: string): XmlElement | undefined {
    return this.xml(this.#find(part, type))
  }

  /** The name of the member of a type that a part refers to. */
  relatedName(part: string, type: string): string | undefined {
    return this.#find(part, type)
  }

  /** All references of a part, by id. */
  relations(part: string): ReadonlyMap<string, Relation> {
    const relations = new Map<string, Relation>()
    const at = part.lastIndexOf('/') + 1
    const list = this.xml(`${part.slice(0, at)}_rels/${part.slice(at)}.rels`)
    for (const relation of list?.elements('Relationship') ?? []) {
      const isExternal = relation.attribute('TargetMode') === 'External'
      const target = relation.attribute('Target') ?? ''
      const type = (relation.attribute('Type') ?? '').split('/').at(-1) ?? ''
      const resolvedTarget = isExternal ? target : resolveMember(part, target)
      relations.set(relation.attribute('Id') ?? '', { type, target: resolvedTarget, isExternal })
    }
    return relations
  }

  /** The metadata of the document. */
  get metadata(): Omit<TextDocument, 'body'> {
    const core = this.related('', 'core-properties')
    return {
      title: lineIn(core, 'title'),
      author: lineIn(core, 'creator'),
      language: lineIn(core, 'language'),
      modifiedAt: lineIn(core, 'modified'),
    }
  }

  #find(part: string, type: string): string | undefined {
    for (const relation of this.relations(part).values()) {
      if (relation.type === type && !relation.isExternal) return relation.target
    }
    return undefined
  }
}

/** The text of a child element on one line; null when it is empty. */
export function lineIn(parent: XmlElement | undefined, name: string): string | null {
  return parent?.find(name)?.text.replace(/\s+/g, ' ').trim() || null
}

/** Resolves `slides/slide1.xml` from `ppt/presentation.xml`, or `../media/a.png` from a slide. The result never leaves the package. */
export function resolveMember(part: string, target: string): string {
  const path = target.startsWith('/') ? [] : part.split('/').slice(0, -1)
  for (const step of decodePart(target).split(/[/\\]/)) {
    if (step === '..') path.pop()
    else if (step !== '' && step !== '.') path.push(step)
  }
  return path.join('/')
}

const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0]
/** Name of the stream in which Office stores an encrypted document. */
const ENCRYPTED_NAME = 'EncryptedPackage'

/** Refuses documents from before Office 2007 and encrypted ones, which use another file format. */
function refuseLegacyFormats(bytes: Uint8Array): void {
  if (!COMPOUND_FILE.every((byte, i) => bytes[i] === byte)) return
  const name = Buffer.from(ENCRYPTED_NAME, 'utf16le')
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(name)) {
    throw new DocumentError('encrypted', 'it is encrypted with a password')
  }
  throw new DocumentError('not-text', 'its format is older than Office 2007 and cannot be read')
}
