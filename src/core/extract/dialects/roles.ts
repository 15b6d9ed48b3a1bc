/* Converts the roles of MyST, which are markup within a line: {ref}`text <target>`, {py:func}`~json.dumps`. */

const ROLE = /\{([a-z][\w+-]{0,30}(?::[\w+-]{1,30}){0,2})\}(`{1,3})(?!`)([^`\n]{1,500})\2(?!`)/iy

/** Roles whose text is shown unchanged. */
const PLAIN_ROLES = new Set(
  `ref doc term numref eq any cite cite:t cite:p cite:ps cite:ts abbr download kbd sub sup guilabel menuselection index dfn pep rfc
  subscript superscript underline del strike lsp span button bdg`.split(/\s+/),
)
/** Roles whose text is code. */
const CODE_ROLES = new Set(
  `func meth class attr mod exc data const obj file command program option envvar samp code literal token keyword makevar regexp
  py:func py:meth py:class c:func`.split(/\s+/),
)

/** Converts the role at an offset to Markdown; undefined if there is none. */
export function readRole(text: string, at: number): { readonly text: string; readonly end: number } | undefined {
  ROLE.lastIndex = at
  const [all, name = '', , content = ''] = ROLE.exec(text) ?? []
  if (all === undefined) return undefined
  const written = writeRole(name.toLowerCase(), content.trim())
  return written === undefined ? undefined : { text: written, end: at + all.length }
}

function writeRole(name: string, content: string): string | undefined {
  const [, title, target = ''] = /^(.*?)(?<!\s)\s*<([^<>]*)>$/.exec(content) ?? []
  if (name === 'math') return `$${content}$`
  if (name === 'external' || name.startsWith('external+')) return title ?? content
  if (CODE_ROLES.has(name) || (name.includes(':') && !PLAIN_ROLES.has(name))) {
    if (title !== undefined && title !== '') return `\`${title}\``
    const full = target === '' ? content : target
    // A tilde shortens a name to its last part.
    return `\`${full.startsWith('~') ? full.slice(full.lastIndexOf('.') + 1).replace(/^~/, '') : full.replace(/^!/, '')}\``
  }
  if (!PLAIN_ROLES.has(name.split('-')[0] ?? '') && !PLAIN_ROLES.has(name)) return undefined
  if (name === 'pep' || name === 'rfc') return `${name.toUpperCase()} ${content}`
  if (name === 'abbr') return content.replace(/(?<!\s)\s*\([^()]*\)$/, '')
  if (title !== undefined && title !== '') return hasLinkTarget(name, target) ? `[${title}](${target})` : title
  return content
}

/** A document, unlike a label, can be the target of a link. */
function hasLinkTarget(name: string, target: string): boolean {
  return (name === 'doc' || name === 'download') && /^[\w./#-]+$/.test(target)
}
