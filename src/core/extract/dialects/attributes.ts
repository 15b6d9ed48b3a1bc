/** A list of attributes for the element before it in Markdown: `{ #id .class key="value" }`, or `{: #id }` in kramdown. */
export interface AttributeList {
  readonly id: string
  readonly end: number
}

const ATTRIBUTE = String.raw`(?:[#.][\p{L}\p{N}_][\p{L}\p{N}_:.-]{0,100}|[\w:-]{1,50}=(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|[^\s"'{}]{1,300}))`
const LIST = new RegExp(
  String.raw`\{(?::?[ \t]*${ATTRIBUTE}(?:[ \t]+(?:${ATTRIBUTE}|[\w-]{1,50})){0,20}|:[ \t]*[\w-]{1,50})[ \t]*\}`,
  'uy',
)

/** Reads the attribute list at an offset; undefined if there is none. */
export function readAttributeList(text: string, at: number): AttributeList | undefined {
  LIST.lastIndex = at
  const [list] = LIST.exec(text) ?? []
  if (list === undefined) return undefined
  const [, id = ''] = /[{\s:]#([^\s{}]+)/.exec(list) ?? []
  return { id, end: at + list.length }
}
