import { decodeHTML } from 'entities/decode'
import { VOID_ELEMENTS } from '../../html/element-names.ts'
import { isBlank } from '../../text/lines.ts'
import { admonitionKind } from '../normalize/admonitions.ts'
import { HTML_ELEMENTS } from './html-elements.ts'
import { type Admonition, admonitionOf, strong } from './layout.ts'
import type { Tag } from './scanner.ts'
import type { TemplateTag } from './template-tags.ts'

/* Names of components, shortcodes and elements, and the Markdown that they become. */

/** The output form of a tag. */
export type TagOutput =
  | { readonly type: 'inline'; readonly text: string }
  /** The same mark before and after words, such as `**`. */
  | { readonly type: 'mark'; readonly mark: string }
  | { readonly type: 'link'; readonly address: string }
  | { readonly type: 'code'; readonly code: string; readonly language: string; readonly title: string }
  /** A heading or title, whose content stays on one line. */
  | { readonly type: 'heading'; readonly before: string; readonly after: string }
  /** An item of a list, which may hold nested items. */
  | { readonly type: 'item'; readonly text: string; readonly isList: boolean }
  | { readonly type: 'list'; readonly isOrdered: boolean }
  | {
      readonly type: 'block'
      readonly box: Admonition | null
      /** Lines before the content. */
      readonly label: string
      /** Lines after the content. */
      readonly after: string
      /** Labels of the tabs in it, by the value of the tab or by its position, which counts from 0. */
      readonly labels: ReadonlyMap<string, string>
    }

/** The name of a tag in the form used for component lookup: `Tabs.Tab` and `tab` are equal. */
export function nameOf({ name }: Pick<Tag, 'name'>): string {
  return name
    .slice(name.lastIndexOf('.') + 1)
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[-_]/g, '')
}

/** Admonitions whose kind is in an attribute. */
const ADMONITION_COMPONENTS = new Set(
  'callout admonition alert hint notice banner message aside note infobox callbox'.split(' '),
)
const KIND_ATTRIBUTES = [
  'type',
  'variant',
  'kind',
  'style',
  'color',
  'intent',
  'level',
  'severity',
  'status',
  'context',
]
const KINDS_OF_STYLES: Readonly<Record<string, string>> = { working: 'tip', default: 'note', destructive: 'danger' }

/** Components with a fixed title that no attribute holds. */
const FIXED_TITLES: ReadonlyMap<string, string> = new Map([
  ['deepdive', 'Deep Dive'],
  ['solution', 'Solution'],
  ['youwilllearn', 'You will learn'],
])
const FIXED_ADMONITIONS: ReadonlyMap<string, Admonition> = new Map([
  ['pitfall', { kind: 'WARNING', title: 'Pitfall' }],
  ['canary', { kind: 'NOTE', title: 'Canary' }],
  ['experimental', { kind: 'WARNING', title: 'Experimental' }],
  ['wip', { kind: 'NOTE', title: 'Under construction' }],
  ['goodtoknow', { kind: 'NOTE', title: 'Good to know' }],
])

/** Attributes that can hold the label of a part, the likeliest first. */
const LABEL_ATTRIBUTES = [
  'title',
  'label',
  'name',
  'summary',
  'header',
  'heading',
  'question',
  'titleText',
  'caption',
  'text',
  'value',
]
/** Attributes of unknown components that hold text for the reader. */
const TITLE_ATTRIBUTES = ['title', 'label', 'summary', 'header', 'heading', 'titleText', 'question']
/** Components whose label is in one of `LABEL_ATTRIBUTES`. */
const LABELED = new Set(
  `tab tabitem tabpanel tabspanel step card linkcard accordion accordionitem details collapsible collapse expandable expand dropdown
  feature item section update example toggle spoiler disclosure view doccard`.split(/\s+/),
)
const TAB_SETS = new Set('tabs tabpane tabgroup codetabs tabset contenttabs'.split(' '))
const FIELDS = new Set(['paramfield', 'responsefield', 'property', 'field', 'param', 'prop', 'apiproperty'])
/** Components that appear within a line; all others begin and end lines. */
const INLINE = new Set(
  'badge icon link tooltip inlinecode term span kbd abbr emoji anchor tag chip pill trans'.split(' '),
)
const LINKS = new Set(['link', 'anchor', 'linkbutton', 'button'])
const FILES = new Set(['file', 'folder', 'treefile', 'treefolder'])
/** Components that stand for a single character. */
const CHARACTER_COMPONENTS: ReadonlyMap<string, string> = new Map([
  ['check', '✓'],
  ['cross', '✗'],
  ['yes', '✓'],
  ['no', '✗'],
])
const MARKS: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '*',
  em: '*',
  del: '~~',
  s: '~~',
}
/** Elements that appear within a line. */
const INLINE_ELEMENTS = new Set(
  `a abbr b bdi bdo big br button cite code data del dfn em font i img ins kbd label mark nobr q ruby rt s samp small span strike
  strong sub sup time tt u var wbr`.split(/\s+/),
)

/** Whether a tag is an element of HTML. */
export function isElement({ name }: Pick<Tag, 'name'>): boolean {
  return HTML_ELEMENTS.has(name)
}

/** Whether a tag has no closing tag. */
export function isVoid({ name, isEmpty }: Pick<Tag, 'name' | 'isEmpty'>): boolean {
  return isEmpty || VOID_ELEMENTS.has(name)
}

/** The output of an opening tag. */
export function convertTag(tag: Tag | TemplateTag): TagOutput {
  if ('values' in tag) return convertTemplateTag(tag)
  return isElement(tag) ? convertElement(tag) : convertComponent(tag, nameOf(tag))
}

function convertElement(tag: Tag): TagOutput {
  const { name, attributes } = tag
  const mark = MARKS[name]
  if (mark !== undefined) return { type: 'mark', mark }
  if (name === 'a') return { type: 'link', address: safeAddress(attributes.get('href') ?? '') }
  if (name === 'br') return inline('\n')
  if (name === 'hr') return block({ label: '---' })
  if (name === 'img') return inline(writeImage(attributes))
  if (INLINE_ELEMENTS.has(name)) return inline('')
  if (/^h[1-6]$/.test(name)) {
    const id = attributes.get('id') ?? ''
    return { type: 'heading', before: `${'#'.repeat(Number(name[1]))} `, after: id === '' ? '' : ` {#${id}}` }
  }
  if (name === 'summary' || name === 'figcaption' || name === 'dt')
    return { type: 'heading', before: '**', after: '**' }
  if (name === 'li') return { type: 'item', text: '', isList: false }
  if (name === 'ul' || name === 'ol') return { type: 'list', isOrdered: name === 'ol' }
  const box = admonitionOfClasses(attributes.get('class') ?? attributes.get('className') ?? '')
  return block({ box })
}

const BOX_CLASSES = new Set('admonition alert callout notice hint custom-block markdown-alert infobox'.split(' '))

function admonitionOfClasses(classes: string): Admonition | null {
  const words = classes.toLowerCase().split(/\s+/)
  if (!words.some((word) => BOX_CLASSES.has(word) || admonitionKind(word) !== undefined)) return null
  const parts = words.flatMap((word) => [word, ...word.split('-')])
  const kind = parts.map((word) => admonitionKind(word)).find((found) => found !== undefined)
  return kind === undefined ? null : { kind, title: '' }
}

function convertComponent(tag: Tag, name: string): TagOutput {
  const { attributes, isEmpty } = tag
  const text = (...keys: string[]) =>
    keys.map((key) => attributes.get(key)?.trim() ?? '').find((found) => found !== '') ?? ''
  const character = CHARACTER_COMPONENTS.get(name)
  if (character !== undefined && isEmpty) return inline(character)
  if (name === 'img' || name === 'image' || name === 'themedimage' || name === 'illustration' || name === 'diagram')
    return inline(writeImage(attributes))
  if (LINKS.has(name)) return { type: 'link', address: safeAddress(text('href', 'to', 'link')) }
  if (name === 'code' || name === 'codeblock' || name === 'syntaxhighlighter') {
    const code = text('code', 'source')
    if (code !== '') return { type: 'code', code, language: text('lang', 'language'), title: text('title', 'filename') }
  }
  if (INLINE.has(name)) return inline(isEmpty ? text('text', 'label', 'children', 'title') : '')
  const box = admonitionOfComponent(tag, name)
  if (box !== undefined) return block({ box })
  if (FIELDS.has(name)) return block({ label: writeField(attributes) })
  if (name === 'tree' || name === 'filetree') return { type: 'list', isOrdered: false }
  if (FILES.has(name)) return { type: 'item', text: text('name', 'label'), isList: true }
  const labels = TAB_SETS.has(name) ? listLabels(tag) : NO_LABELS
  const fixedTitle = FIXED_TITLES.get(name)
  const labelAttributes = LABELED.has(name) ? LABEL_ATTRIBUTES : TITLE_ATTRIBUTES
  const label = name === 'fragment' ? text('slot') : text(...labelAttributes)
  const address = safeAddress(text('href', 'to', 'url'))
  const strongLabel = strong(label === '' ? (fixedTitle ?? '') : label)
  const linked = strongLabel !== '' && address !== '' ? `[${strongLabel}](${address})` : strongLabel
  const description = isEmpty ? text('description', 'alt', 'caption') : name === 'update' ? text('description') : ''
  const after = isEmpty ? '' : text('caption')
  return block({ label: [linked, description].filter((part) => part !== '').join('\n\n'), after, labels })
}

function admonitionOfComponent({ attributes, isEmpty }: Tag, name: string): Admonition | undefined {
  if (isEmpty) return undefined
  const title = attributes.get('title') ?? attributes.get('heading') ?? attributes.get('label') ?? ''
  const fixed = FIXED_ADMONITIONS.get(name)
  if (fixed !== undefined) return title === '' ? fixed : { ...fixed, title }
  if (ADMONITION_COMPONENTS.has(name)) {
    const kindName =
      KIND_ATTRIBUTES.map((key) => (attributes.get(key) ?? '').toLowerCase()).find((word) => word !== '') ?? ''
    const kind = admonitionKind(KINDS_OF_STYLES[kindName] ?? kindName) ?? admonitionKind(name) ?? 'NOTE'
    return { kind, title }
  }
  const kind = admonitionKind(name)
  return kind === undefined || LABELED.has(name) || name === 'summary' ? undefined : { kind, title }
}

function inline(text: string): TagOutput {
  return { type: 'inline', text }
}

function block(properties: Partial<Omit<Extract<TagOutput, { type: 'block' }>, 'type'>>): TagOutput {
  return { type: 'block', box: null, label: '', after: '', labels: NO_LABELS, ...properties }
}

const NO_LABELS: ReadonlyMap<string, string> = new Map()

/** Labels of tabs that the tab set lists: `items={['npm', 'yarn']}`, `values={[{label: 'npm', value: 'n'}]}`. */
function listLabels({ expressions }: Tag): Map<string, string> {
  const items = expressions.get('items') ?? expressions.get('labels') ?? expressions.get('titles')
  const source = (items ?? expressions.get('values') ?? expressions.get('tabs') ?? '').slice(0, 5000)
  const labels = new Map<string, string>()
  for (const [i, [object]] of [...source.matchAll(/\{[^{}]*\}/g)].entries()) {
    const [, label] = /\blabel\s*:\s*["'`]([^"'`\n]{1,200})["'`]/.exec(object) ?? []
    const [, value] = /\bvalue\s*:\s*["'`]([^"'`\n]{1,200})["'`]/.exec(object) ?? []
    if (label !== undefined) labels.set(value ?? String(i), label)
  }
  if (labels.size > 0 || items === undefined) return labels
  for (const [i, [, label = '']] of [...source.matchAll(/["'`]([^"'`\n]{1,200})["'`]/g)].entries())
    labels.set(String(i), label)
  return labels
}

function writeField(attributes: ReadonlyMap<string, string>): string {
  const name = ['path', 'query', 'body', 'header', 'name']
    .map((key) => attributes.get(key) ?? '')
    .find((text) => text !== '')
  if (name === undefined) return ''
  const facts = [attributes.get('type') ?? '', attributes.has('required') ? 'required' : '']
  const defaultValue = attributes.get('default') ?? ''
  if (defaultValue !== '') facts.push(`default: ${defaultValue}`)
  const details = facts.filter((fact) => fact !== '').join(', ')
  return `\`${name}\`${details === '' ? '' : ` (${details})`}`
}

function writeImage(attributes: ReadonlyMap<string, string>): string {
  const address = safeAddress(attributes.get('src') ?? attributes.get('srcLight') ?? attributes.get('srclight') ?? '')
  const words = decodeHTML(attributes.get('alt') ?? '').replace(/[[\]]/g, '')
  return address === '' ? words : `![${words}](${address})`
}

/** An address that is safe in a link; '' if its scheme is not on the allow list, such as `javascript:`. */
export function safeAddress(address: string): string {
  const decoded = decodeHTML(address).trim()
  if (/^[a-z][a-z\d+.-]*:/i.test(decoded) && !/^(?:https?|ftps?|mailto|tel|file|data):/i.test(decoded)) return ''
  return decoded.replace(/[\s()<>]/g, encodeURIComponent)
}

/** Converts a shortcode or template tag. Most of these are components in another syntax. */
function convertTemplateTag(tag: TemplateTag): TagOutput {
  const { attributes, values, language } = tag
  const name = nameOf(tag)
  const [first = ''] = values
  const text = (...keys: string[]) =>
    keys.map((key) => attributes.get(key)?.trim() ?? '').find((found) => found !== '') ?? ''
  if (LINK_SHORTCODES.has(name)) return inline(first || text('path', 'link'))
  if (tag.isEmpty && (name === 'heading' || attributes.has('text'))) return inline(text('text') || first)
  if (name === 'figure' || name === 'img' || name === 'image' || name === 'imgproc' || name === 'screenshot') {
    const image = writeImage(
      new Map([
        ['src', text('src') || first],
        ['alt', text('alt', 'caption', 'title')],
      ]),
    )
    return block({ label: image })
  }
  if (name === 'contentref' || name === 'embed') {
    const address = safeAddress(text('url'))
    return block({ label: tag.isEmpty && address !== '' ? `[${address}](${address})` : '' })
  }
  if (name === 'file') {
    const address = safeAddress(text('src'))
    return block({ label: address === '' ? '' : `[${address.slice(address.lastIndexOf('/') + 1)}](${address})` })
  }
  if (FILE_TAGS.has(name)) {
    const content = text('content')
    const kind = admonitionKind(first.replace(/\.\w+$/, ''))
    if (content !== '')
      return kind === undefined ? block({ label: content }) : block({ label: `> [!${kind}]\n> ${content}` })
    const file = text('file') || first
    return block({
      label: /\.\w+$/.test(file) && language === 'hugo' ? `\`${file.slice(file.lastIndexOf('/') + 1)}\`` : '',
    })
  }
  const title = text('title', 'header', 'name', 'summary') || (LABELED.has(name) || TAB_SETS.has(name) ? first : '')
  const namedAttributes = new Map([...attributes, ...(title === '' ? [] : [['title', title] as const])])
  if (ADMONITION_COMPONENTS.has(name) && first !== '' && !KIND_ATTRIBUTES.some((key) => namedAttributes.has(key))) {
    const [word = '', ...others] = values
    namedAttributes.set('type', word)
    if (others.length > 0 && title === '') namedAttributes.set('title', others.join(' '))
  }
  return convertComponent({ ...tag, attributes: namedAttributes }, name)
}

/** Whether a template tag computes a value or has no text to show. */
export function isInvisibleTag(tag: TemplateTag): boolean {
  return INVISIBLE_TAGS.has(nameOf(tag))
}

/** Tags that include a file. */
const FILE_TAGS = new Set(['include', 'readfile', 'includecode', 'codenew', 'codesample', 'rawcode', 'includehtml'])
/** Shortcodes that resolve to an address. */
const LINK_SHORTCODES = new Set(['ref', 'relref', 'link', 'posturl'])
/** Tags that compute a value or have no text to show. */
const INVISIBLE_TAGS = new Set(
  `if else elsif elseif unless case when for assign capture endcapture raw verbatim increment decrement cycle layout liquid render param toc
  youtube youtubelite vimeo tweet gist icon fontawesome set block extends import from macro call filter with autoescape blocks data
  ifversion break continue tablerow`.split(/\s+/),
)

/** Parses the first line of an alert: `[!note] Title`. */
export function readAlert(text: string): Admonition | undefined {
  const [, word, title = ''] = /^\[!([A-Za-z][\w-]*)(?:\|[^\]]*)?\][+-]?[ \t]*(.*)$/.exec(text.trim()) ?? []
  if (word === undefined) return undefined
  return admonitionOf(word, title)
}

/** Whether a text is only white space, or only the marker of a list item. */
export function isLinePrefix(text: string): boolean {
  return isBlank(text) || /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+$/.test(text)
}
