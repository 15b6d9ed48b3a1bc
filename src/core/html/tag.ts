import {
  BREAKOUT,
  FOREIGN,
  HEADINGS,
  INLINE_ELEMENTS,
  METADATA_ELEMENTS,
  PARAGRAPH_ENDING_ELEMENTS,
  VOID_ELEMENTS,
} from './element-names.ts'
import { NameTable } from './name-table.ts'

/** A new element closes the open elements named in `closes`, but none outside the nearest open element named in `within`. */
export interface ImpliedEnd {
  readonly closes: ReadonlySet<string>
  readonly within: ReadonlySet<string>
}

/**
 * How the content of an element outside SVG and MathML is parsed: as markup, as text up to the end tag with entities left as they are
 * (`raw`) or decoded (`escapable`), or as text up to the end of the document (`plain`).
 */
export type ContentModel = 'markup' | 'raw' | 'escapable' | 'plain'

/** The parsing rules for elements of one name. They are looked up once for each name, not for each element. */
export class Tag {
  readonly name: string
  readonly isInline: boolean
  readonly isVoid: boolean
  readonly isForeign: boolean
  readonly isHeading: boolean
  /** Whether the element is allowed in the head of a document. */
  readonly isMetadata: boolean
  /** Whether the element ends SVG and MathML. */
  readonly isBreakout: boolean
  readonly endsParagraph: boolean
  readonly implied: ImpliedEnd | undefined
  readonly contentModel: ContentModel
  /** How many elements of this name are open. */
  openCount = 0
  /** How many open elements of this name are beyond the depth limit. */
  tooDeepCount = 0

  constructor(name: string) {
    this.name = name
    this.isInline = INLINE_ELEMENTS.has(name)
    this.isVoid = VOID_ELEMENTS.has(name)
    this.isForeign = FOREIGN.has(name)
    this.isHeading = HEADINGS.has(name)
    this.isMetadata = METADATA_ELEMENTS.has(name)
    this.isBreakout = BREAKOUT.has(name)
    this.endsParagraph = PARAGRAPH_ENDING_ELEMENTS.has(name)
    this.implied = IMPLIED.get(name)
    this.contentModel = CONTENT_MODELS.get(name) ?? 'markup'
  }
}

/** All names in a document. */
export class TagTable extends NameTable<Tag> {
  constructor() {
    super((written) => {
      const name = written.toLowerCase()
      return name === written ? new Tag(name) : this.get(name)
    })
  }
}

const TABLE = new Set(['table', 'template'])
const CELL: ImpliedEnd = { closes: new Set(['td', 'th']), within: new Set(['tr', ...TABLE]) }
const SECTION: ImpliedEnd = { closes: new Set(['thead', 'tbody', 'tfoot', 'caption', 'colgroup']), within: TABLE }
const TERM: ImpliedEnd = { closes: new Set(['dt', 'dd']), within: new Set(['dl', 'td', 'th', ...TABLE]) }
const RUBY: ImpliedEnd = { closes: new Set(['rt', 'rp']), within: new Set(['ruby']) }

export const PARAGRAPH: ImpliedEnd = {
  closes: new Set(['p']),
  within: new Set(['td', 'th', 'caption', 'button', 'object', 'foreignobject', ...TABLE]),
}

const IMPLIED: ReadonlyMap<string, ImpliedEnd> = new Map([
  ['li', { closes: new Set(['li']), within: new Set(['ul', 'ol', 'menu', 'dir', 'td', 'th', ...TABLE]) }],
  ['dt', TERM],
  ['dd', TERM],
  ['td', CELL],
  ['th', CELL],
  ['tr', { closes: new Set(['tr', 'caption', 'colgroup']), within: new Set(['thead', 'tbody', 'tfoot', ...TABLE]) }],
  ['thead', SECTION],
  ['tbody', SECTION],
  ['tfoot', SECTION],
  ['option', { closes: new Set(['option']), within: new Set(['select', 'datalist', 'optgroup']) }],
  ['optgroup', { closes: new Set(['option', 'optgroup']), within: new Set(['select']) }],
  ['rt', RUBY],
  ['rp', RUBY],
])

const CONTENT_MODELS: ReadonlyMap<string, ContentModel> = new Map([
  ['script', 'raw'],
  ['style', 'raw'],
  ['xmp', 'raw'],
  ['iframe', 'raw'],
  ['noembed', 'raw'],
  ['noframes', 'raw'],
  ['title', 'escapable'],
  ['textarea', 'escapable'],
  ['plaintext', 'plain'],
])

const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th', 'caption'])
const BARRIERS = new Set(['td', 'th', 'caption', 'table', 'template', 'foreignobject'])

/** Open elements beyond which this end tag closes nothing. End tags of table parts stop only at a table or template. */
export function barriersOf({ name }: Tag): ReadonlySet<string> {
  return TABLE_PARTS.has(name) ? TABLE : BARRIERS
}
