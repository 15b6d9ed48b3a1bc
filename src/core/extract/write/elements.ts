import { type Element, textOf } from '../../html/tree.ts'
import type { Block } from './block.ts'
import type { BlockBuilder } from './builder.ts'
import { cleanCode, writeCodeSpan } from './escape.ts'
import { flatten } from './flatten.ts'
import { writeImage, writeMedia } from './image.ts'
import { writeList } from './list.ts'
import { writeMath } from './math.ts'
import { MAX_NESTING } from './nesting.ts'
import { plainText } from './plain-text.ts'
import { strongLine } from './strong-line.ts'
import { writeTable } from './table.ts'

type ElementWriter = (builder: BlockBuilder, element: Element) => void

const writeBlock: ElementWriter = (builder, element) => {
  builder.flush()
  builder.writeChildren(element)
  builder.flush()
}

/** Writes the content of an element as a line in bold. Blocks inside are written as blocks. */
const writeStrongLine: ElementWriter = (builder, element) => {
  builder.flush()
  builder.writeMarked(element, '**')
  builder.flush()
}

/** Writes a list of definitions. Text after it belongs to the outer definition again. */
const writeDefinitions: ElementWriter = (builder, element) => {
  const { definition } = builder
  writeBlock(builder, element)
  builder.beginDefinition(definition)
}

/** Longer fragments are too unwieldy to cite. */
const MAX_FRAGMENT = 200

/** Begins a definition if its term, or a link in the term, has a fragment. */
function beginDefinition(builder: BlockBuilder, term: Element): void {
  const anchor = term.id || fragmentIn(term)
  if (anchor !== '' && anchor.length <= MAX_FRAGMENT) builder.beginDefinition(anchor)
}

function fragmentIn(term: Element): string {
  for (const element of term.descendants()) {
    const fragment = element.name === 'a' ? element.id || (element.attribute('name') ?? '') : ''
    if (fragment !== '') return fragment
  }
  return ''
}

/** Writes a term in bold. A term that is only code needs no emphasis. */
const writeTerm: ElementWriter = (builder, element) => {
  beginDefinition(builder, element)
  const children = element.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  const [first] = children
  const isCode = children.length === 1 && first !== undefined && typeof first !== 'string' && first.name === 'code'
  if (isCode) writeBlock(builder, element)
  else writeStrongLine(builder, element)
}

const writeNothing: ElementWriter = () => {}

const writeHeading: ElementWriter = (builder, element) => {
  const text = flatten(builder.collect(element.children, true), ' ')
  if (text === '') return
  const anchor = element.attribute('Anchor') ?? element.id
  builder.push({
    type: 'heading',
    level: Number(element.name[1]),
    text,
    title: plainText(element),
    anchor: anchor === '' ? null : anchor,
  })
}

const writeQuote: ElementWriter = (builder, element) => {
  pushNested(builder, element, (blocks) => ({ type: 'quote', alert: '', blocks }))
}

const writeAdmonition: ElementWriter = (builder, element) => {
  const title = element.attribute('Title') ?? ''
  pushNested(builder, element, (blocks) => ({
    type: 'quote',
    alert: element.attribute('Kind') ?? 'NOTE',
    blocks: title === '' ? blocks : [strongLine(title), ...blocks],
  }))
}

function pushNested(builder: BlockBuilder, element: Element, wrap: (blocks: Block[]) => Block): void {
  if (builder.nesting >= MAX_NESTING) {
    writeBlock(builder, element)
    return
  }
  builder.nesting++
  const blocks = builder.collect(element.children)
  builder.nesting--
  if (blocks.length > 0) builder.push(wrap(blocks))
}

const writeTab: ElementWriter = (builder, element) => {
  const blocks = builder.collect(element.children)
  if (blocks.length === 0) return
  const label = element.attribute('Label') ?? ''
  if (label !== '') builder.push(strongLine(label))
  for (const block of blocks) builder.push(block)
}

const writeFootnote: ElementWriter = (builder, element) => {
  const blocks = builder.collect(element.children)
  builder.push({ type: 'footnote', label: element.attribute('Label') ?? '', blocks })
}

const writeCodeBlock: ElementWriter = (builder, element) => {
  const text = cleanCode(textOf(element))
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
  if (text !== '') builder.push({ type: 'code', lang: element.attribute('Lang') ?? '', text })
}

const writeSignature: ElementWriter = (builder, element) => {
  const text = plainText(element)
  if (text === '') return
  beginDefinition(builder, element)
  builder.push({ type: 'paragraph', text: writeCodeSpan(text) })
}

const writeCode: ElementWriter = (builder, element) => {
  if (builder.hasBlocks(element)) {
    builder.writeChildren(element)
    return
  }
  const link = onlyLink(element)
  const hasBreaks = element.children.some((child) => typeof child !== 'string' && child.name === 'br')
  const text = hasBreaks ? plainText(element) : textOf(element)
  // A table cell writes every pipe as `\|`, so code with `\|` is written as escaped text: in a code span the backslash of the code could
  // not be told from that of the cell.
  if (builder.isSingleLine && text.includes('\\|')) builder.run.addText(text)
  else if (link === undefined || builder.run.isInLink) builder.run.addCode(text)
  else {
    const address = builder.addresses.resolveLink(link)
    const mark = address === '' ? undefined : builder.run.open('[')
    builder.run.addCode(text)
    if (mark !== undefined) builder.run.close(mark, `](${address})`)
  }
}

/** The only link of an element, if it covers all of its text. */
function onlyLink(element: Element): string | undefined {
  let link: string | undefined
  for (const child of element.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '') return undefined
    } else if (child.dropped === undefined) {
      if (link !== undefined || child.name !== 'a') return undefined
      link = child.attribute('href')
    }
  }
  return link
}

const writeLink: ElementWriter = (builder, element) => {
  const href = element.attribute('href')
  builder.writeLinked(element, href === undefined ? '' : builder.addresses.resolveLink(href))
}

const writeQuotedText: ElementWriter = (builder, element) => {
  builder.run.addText('"')
  builder.writeChildren(element)
  builder.run.addText('"')
}

/** Writes `^` before powers: `10^6`, but `1st`. A raised link that is a word gets a space: `CaseTree PREVIEW`. */
const writeSup: ElementWriter = (builder, element) => {
  const { last } = builder.run
  const isPower = /[\p{L}\p{N})*]/u.test(last) && (isExponent(element) || (/\d/.test(last) && isExponentName(element)))
  const isLink = element.children.some((child) => typeof child !== 'string' && child.name === 'a')
  if (isPower && !isLink && !builder.hasBlocks(element)) builder.run.addText('^')
  if (isLink && /[\p{L}`]/u.test(last) && /^\s*\p{L}{3}/u.test(firstText(element))) builder.run.addText(' ')
  builder.writeChildren(element)
}

/** Whether an exponent is a name, such as `precision`, and not the ending of an ordinal number. */
function isExponentName(element: Element): boolean {
  return /^\s*(?!(?:st|nd|rd|th|er|ème|me)\b)[a-z]{2,}\s*$/.test(firstText(element))
}

function isExponent(element: Element): boolean {
  const text = firstText(element)
  if (/^\s*[-+−]?\d|^\s*\(|^\s*[a-z]\s*[-+*/−]/.test(text)) return true
  const [first, next] = element.children
  if (typeof first !== 'string' && first?.name === 'code') return true
  return /^\s*[a-z]\s*$/.test(text) && (next === undefined || (typeof next === 'string' && /^\s*[-+*/−]/.test(next)))
}

/** The text an element begins with. */
function firstText(element: Element): string {
  for (const child of element.children) {
    const text = typeof child === 'string' ? child : child.dropped === undefined ? firstText(child) : ''
    if (text.trim() !== '') return text
  }
  return ''
}

/** Writes `_` before subscript digits that follow digits, because otherwise both would be read as one number. */
const writeSub: ElementWriter = (builder, element) => {
  const joinsDigits = /\d/.test(builder.run.last) && /^\s*\d/.test(firstText(element))
  if (joinsDigits && !builder.hasBlocks(element)) builder.run.addText('_')
  builder.writeChildren(element)
}

const writeRubyText: ElementWriter = (builder, element) => {
  builder.run.addText('(')
  builder.writeChildren(element)
  builder.run.addText(')')
}

const writeFootnoteRef: ElementWriter = (builder, element) => {
  builder.run.addMarkdown(`[^${element.attribute('Label') ?? ''}]`)
}

/** The writer of each element. Other elements are written as their content. */
export const ELEMENT_WRITERS: ReadonlyMap<string, ElementWriter> = new Map<string, ElementWriter>([
  ...each(
    `address article aside body center dd details dialog dir div fieldset figcaption figure footer form header
    hgroup html legend li main menu nav optgroup p search section tbody td tfoot th thead tr`,
    writeBlock,
  ),
  ...each(
    `area button canvas datalist head input link map meta meter noframes noscript option param progress
    rp script select source style svg template textarea title track`,
    writeNothing,
  ),
  ...each('h1 h2 h3 h4 h5 h6', writeHeading),
  ...each('ul ol', writeList),
  ...each('pre listing xmp plaintext CodeBlock', writeCodeBlock),
  ...each('b strong', (builder, element) => builder.writeMarked(element, '**')),
  ...each('em i var cite dfn', (builder, element) => builder.writeMarked(element, '*')),
  ...each('del s strike', (builder, element) => builder.writeMarked(element, '~~')),
  ...each('code tt samp', writeCode),
  ...each('audio embed iframe video', writeMedia),
  ['a', writeLink],
  ['blockquote', writeQuote],
  ['br', (builder) => builder.run.addBreak()],
  ['dl', writeDefinitions],
  ['dt', writeTerm],
  ['hr', (builder) => builder.push({ type: 'rule' })],
  ['img', writeImage],
  ['picture', writeImage],
  ['q', writeQuotedText],
  ['rt', writeRubyText],
  ['sub', writeSub],
  ['summary', writeStrongLine],
  ['sup', writeSup],
  ['table', writeTable],
  ['Admonition', writeAdmonition],
  ['Footnote', writeFootnote],
  ['FootnoteRef', writeFootnoteRef],
  ['Mark', (builder, element) => builder.addMark(element.attribute('Anchor') ?? '')],
  ['Math', writeMath],
  ['Signature', writeSignature],
  ['Tab', writeTab],
])

function* each(names: string, write: ElementWriter): Generator<[string, ElementWriter], void, void> {
  for (const name of names.split(/\s+/)) yield [name, write]
}
