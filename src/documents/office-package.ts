import { DocumentError, type TextDocument } from './document.ts'
import { parseXml, type XmlElement } from './xml-tree.ts'
import { ZipMembers } from './zip-members.ts'

/** Where a part of a package leads. */
interface Relation {
  readonly type: string
  /** A member of the package; an address for one outside of it. */
  readonly target: string
  readonly isExternal: boolean
}

/** A document of Office Open XML: members that refer to each other. Nothing outside of it is opened. */
export class OfficePackage {
  readonly #members: ZipMembers

  constructor(bytes: Uint8Array) {
    refuseOlder(bytes)
    this.#members = new ZipMembers(bytes)
  }

  /** The member that the document begins with. @throws {DocumentError} when it has none */
  get main(): string {
    const main = this.#find('', 'officeDocument')
    if (main !== undefined && this.#members.has(main)) return main
    throw new DocumentError('damaged', 'it has no document in it')
  }

  /** The outermost element of that member. @throws {DocumentError} when it is that of another kind of document */
  root(name: 'document' | 'presentation' | 'workbook'): XmlElement {
    const root = this.xml(this.main)
    if (root?.name !== name) throw new DocumentError('damaged', `it holds no ${name}`)
    return root
  }

  /** A member as XML; undefined when there is none. */
  xml(name: string | undefined): XmlElement | undefined {
    const bytes = name === undefined ? undefined : this.bytes(name)
    return bytes === undefined ? undefined : parseXml(bytes)
  }

  bytes(name: string): Uint8Array | undefined {
    return this.#members.read(name)
  }

  /** The member of a kind that a part refers to, such as its styles. */
  related(part: string, type: string): XmlElement | undefined {
    return this.xml(this.#find(part, type))
  }

  /** Where the member of a kind is that a part refers to. */
  relatedName(part: string, type: string): string | undefined {
    return this.#find(part, type)
  }

  /** All that a part refers to, by the names it uses. */
  relations(part: string): ReadonlyMap<string, Relation> {
    const relations = new Map<string, Relation>()
    const at = part.lastIndexOf('/') + 1
    const list = this.xml(`${part.slice(0, at)}_rels/${part.slice(at)}.rels`)
    for (const relation of list?.elements('Relationship') ?? []) {
      const isExternal = relation.attribute('TargetMode') === 'External'
      const target = relation.attribute('Target') ?? ''
      const type = (relation.attribute('Type') ?? '').split('/').at(-1) ?? ''
      const place = isExternal ? target : resolveMember(part, target)
      relations.set(relation.attribute('Id') ?? '', { type, target: place, isExternal })
    }
    return relations
  }

  /** What the document says about itself. */
  get about(): Omit<TextDocument, 'body'> {
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

/** What an element inside another says on one line; null when it says nothing. */
export function lineIn(parent: XmlElement | undefined, name: string): string | null {
  return parent?.find(name)?.text.replace(/\s+/g, ' ').trim() || null
}

/** `slides/slide1.xml` of `ppt/presentation.xml`; `../media/a.png` of a slide. None leads out of the package. */
export function resolveMember(part: string, target: string): string {
  const path = target.startsWith('/') ? [] : part.split('/').slice(0, -1)
  for (const step of decodePath(target).split(/[/\\]/)) {
    if (step === '..') path.pop()
    else if (step !== '' && step !== '.') path.push(step)
  }
  return path.join('/')
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0]
/** The name under which Office keeps a document that it has encrypted, as it stands in such a file. */
const ENCRYPTED_NAME = 'EncryptedPackage'

/** Documents of Office before 2007, and all that are encrypted, are files of another kind. */
function refuseOlder(bytes: Uint8Array): void {
  if (!COMPOUND_FILE.every((byte, i) => bytes[i] === byte)) return
  const name = Buffer.from(ENCRYPTED_NAME, 'utf16le')
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(name)) {
    throw new DocumentError('encrypted', 'it is encrypted with a password')
  }
  throw new DocumentError('not-text', 'it is of a format older than Office 2007, which is not read')
}
