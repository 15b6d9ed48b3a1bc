import type { Scanner, Tag } from './scanner.ts'

/* Parses the shortcodes of Hugo (`{{< tab "x" >}}`, `{{% alert %}}`) and the tags of Liquid and GitBook (`{% hint style="info" %}`). */

const SHORTCODE =
  /\{\{([<%])-?[ \t]*(?![ \t])(\/?)[ \t]*([\w./-]{1,60})((?:[^"`{}]|"[^"\n]{0,1000}"|`[^`]{0,1000}`){0,400})[%>]\}\}/y
/** `{{</* x *​/>}}` shows a shortcode without calling it. */
const ESCAPED_SHORTCODE = /\{\{([<%])\/\*((?:[^*]|\*(?!\/)){0,1000})\*\/([%>])\}\}/y
const LIQUID =
  /\{%-?[ \t]*(end)?([A-Za-z][\w-]{0,60})(?![\w-])((?:[^"'%}]|"[^"\n]{0,1000}"|'[^'\n]{0,1000}'|%(?!\}))*?)-?%\}/y
/** A tag must end within this number of characters. */
const MAX_TAG_CHARS = 4000

/** A template tag. */
export interface TemplateTag extends Tag {
  /** Arguments without a name. */
  readonly values: readonly string[]
  readonly language: 'hugo' | 'liquid'
}

/** Parses the template tag at an offset; undefined if there is none. */
export function readTemplateTag(text: string, start: number, scanner: Scanner): TemplateTag | undefined {
  if (scanner.isExhausted) return undefined
  scanner.spend(MAX_TAG_CHARS)
  const source = text.slice(start, start + MAX_TAG_CHARS)
  SHORTCODE.lastIndex = 0
  const shortcode = SHORTCODE.exec(source)
  if (shortcode !== null) {
    const [all, , slash, name = '', rest = ''] = shortcode
    return createTag('hugo', name, slash === '/', rest, start + all.length)
  }
  LIQUID.lastIndex = 0
  const [all, end, name, rest = ''] = LIQUID.exec(source) ?? []
  return all === undefined || name === undefined
    ? undefined
    : createTag('liquid', name, end !== undefined, rest, start + all.length)
}

/** The shortcode that a page shows instead of calling it, and where it ends. */
export function readEscapedShortcode(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  const source = text.slice(start, start + MAX_TAG_CHARS)
  ESCAPED_SHORTCODE.lastIndex = 0
  const [all, open = '', inner = '', close = ''] = ESCAPED_SHORTCODE.exec(source) ?? []
  return all === undefined ? undefined : { text: `{{${open}${inner}${close}}}`, end: start + all.length }
}

const ARGUMENT =
  /([\w-]{1,60})[ \t]*[=:][ \t]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s"']+))|"([^"]*)"|'([^']*)'|`([^`]*)`|([^\s"'=]+)/g

function createTag(
  language: TemplateTag['language'],
  name: string,
  isClosing: boolean,
  rest: string,
  end: number,
): TemplateTag {
  const attributes = new Map<string, string>()
  const values: string[] = []
  for (const [, key, ...found] of rest.replace(/\/\s*$/, '').matchAll(ARGUMENT)) {
    const value = found.find((group) => group !== undefined) ?? ''
    if (key === undefined) values.push(value)
    else attributes.set(key, value)
  }
  const isEmpty = /\/\s*$/.test(rest)
  return { language, name, isClosing, isEmpty, attributes, values, expressions: new Map(), end }
}

/** Names of the template tags that are closed somewhere in the text; all others have no content. */
export function closedTemplateTags(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  if (!text.includes('{{') && !text.includes('{%')) return names
  for (const [, hugo, liquid] of text.matchAll(
    /\{\{[<%]-?[ \t]*\/[ \t]*([\w./-]{1,60})|\{%-?[ \t]*end([A-Za-z][\w-]{0,60})/g,
  )) {
    names.add(hugo ?? liquid ?? '')
  }
  return names
}
