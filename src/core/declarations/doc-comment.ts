/** A part of a doc comment: its text, or what follows a tag. */
interface DocPart {
  /** Name of the tag; empty for the text before the first one. */
  readonly tag: string
  readonly text: string
}

/** Writes the text of a doc comment as Markdown: tags become sentences, lists and code. */
export function writeDoc(doc: string): string {
  if (doc === '') return ''
  const parts = splitDoc(doc)
  const blocks: string[] = []
  const parameters: string[] = []
  for (const { tag, text } of parts) {
    if (tag === 'param' || tag === 'arg' || tag === 'argument' || tag === 'property') {
      const [, name, rest = ''] = /^(?:\{[^}]*\}\s*)?(\[[^\]]*\]|\S+)\s*-?\s*([\s\S]*)$/.exec(text) ?? []
      if (name !== undefined) parameters.push(`- \`${name}\`${rest === '' ? '' : `: ${rest}`}`)
    } else blocks.push(writePart(tag, text))
  }
  const [before = '', ...after] = blocks
  return [before, parameters.join('\n'), ...after].filter((block) => block !== '').join('\n\n')
}

function writePart(tag: string, text: string): string {
  const plain = text.replace(/\{@(?:link|linkcode|linkplain)\s+([^}|\s]+)(?:[\s|]+([^}]*))?\}/g, (_, target, label) => {
    return label === undefined || label === '' ? `\`${target}\`` : String(label).trim()
  })
  switch (tag) {
    case '':
    case 'description':
    case 'remarks':
    case 'summary':
      return plain
    case 'example':
      return plain.includes('```') || plain === '' ? plain : `\`\`\`ts\n${plain}\n\`\`\``
    case 'returns':
    case 'return':
      return plain === '' ? '' : `Returns ${plain.replace(/^\{[^}]*\}\s*/, '')}`
    case 'throws':
    case 'exception':
      return plain === '' ? '' : `Throws ${plain}`
    case 'deprecated':
      return `**Deprecated.** ${plain}`.trim()
    case 'default':
    case 'defaultValue':
    case 'defaultvalue':
      return `Default: ${plain}`
    case 'since':
      return `Since ${plain}`
    case 'see':
      return `See ${plain}`
    default:
      return ''
  }
}

/** Splits at tags that begin a line, except within code. */
function splitDoc(doc: string): DocPart[] {
  const parts: DocPart[] = []
  let tag = ''
  let lines: string[] = []
  let isCode = false
  const end = () => parts.push({ tag, text: lines.join('\n').trim() })
  for (const line of doc.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const [, name, rest = ''] = (isCode ? null : /^\s*@(\w+)\s*(.*)$/.exec(line)) ?? []
    if (name === undefined) lines.push(line)
    else {
      end()
      tag = name
      lines = [rest]
    }
  }
  end()
  return parts
}
