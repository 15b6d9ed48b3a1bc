/** A signature without the members in braces. Whether a type is an interface or an alias makes no difference to its users. */
export function withoutMembers(signature: string): string {
  return withoutBody(signature)
    .replace(/^(?:interface|type) /, '')
    .replace(/ ?[=&] ?/g, ' ')
    .trim()
}

function withoutBody(signature: string): string {
  // A signature that is too long is cut within its braces.
  return withoutBraces(signature).replace(/\{.*$/, '')
}

/** A text without its parts in braces. */
export function withoutBraces(signature: string): string {
  let plain = signature
  for (let before = ''; before !== plain; ) {
    before = plain
    plain = plain.replace(/\{[^{}]*\}/g, '')
  }
  return plain
}

/** The types that a declaration extends, implements or is made of. Its type parameters and its own members do not count. */
export function parentsIn(signature: string): string[] {
  const plain = withoutBody(signature)
  return plain.split(/ (?=(?:const|class|interface|function|namespace|type|var|let) )/).flatMap((declaration) => {
    const [, isAlias, rest = ''] = /\b(?:(type)|class|interface) [\w$]+(.*)$/.exec(declaration) ?? []
    const own = rest.startsWith('<') ? rest.slice(endOfTypes(rest)) : rest
    if (isAlias !== undefined) return own.match(/[A-Za-z_$][\w$.]*/g) ?? []
    const [, heritage = ''] = /\b(?:extends|implements)\b(.*)$/.exec(own) ?? []
    return withoutTypeArguments(heritage).match(/[A-Za-z_$][\w$.]*/g) ?? []
  })
}

/** End of the type parameters at the start of a text. */
function endOfTypes(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '<') depth++
    else if (text[at] === '>' && text[at - 1] !== '=' && --depth === 0) return at + 1
  }
  return text.length
}

function withoutTypeArguments(text: string): string {
  let plain = text.replaceAll('=>', '')
  for (let before = ''; before !== plain; ) {
    before = plain
    plain = plain.replace(/<[^<>]*>/g, '')
  }
  return plain
}

/** Positional parameters of a type declaration. */
const PARAMETER = /^[A-Za-z_$][\w$]*\s*\??:/

/** What of a signature matters to callers: not its layout, the keyword of a variable and the names of positional parameters. */
export function essenceOf(signature: string, path: string): string {
  const text = signature
    .replace(/^(?:const|let|var)\s/, '')
    .replace(/\bget ([\w$]+)\(\):/g, 'readonly $1:')
    .replace(/\bArray<([\w$.]+)>/g, '$1[]')
    .replace(/(\?:(?:(?!\?:)[^;,{}()])*?) \| undefined\b/g, '$1')
    .replace(/[\s;]+/g, ' ')
  // Other languages have keyword arguments.
  if (!/\.d\.[cm]?ts(?:\.md)?$/.test(path)) return text.replace(/ /g, '')
  const open: string[] = []
  let isStart = false
  let essence = ''
  for (const { 0: token, index } of text.matchAll(/=>|[\w$]+|\S/g)) {
    const isName = isStart && open.at(-1) === '(' && PARAMETER.test(text.slice(index, index + MAX_NAME_CHARS))
    if ('([{<'.includes(token)) open.push(token)
    else if (')]}>'.includes(token)) open.pop()
    isStart = token === '(' || token === ',' || (isStart && token === '.')
    essence += isName ? '_' : token
  }
  return essence
}

const MAX_NAME_CHARS = 80

/** Names that a signature had and has no longer: parameters, options, values of a union. Types and keywords do not count. */
export function listLostNames(before: string, after: string): string[] {
  const kept = new Set(after.match(/[A-Za-z_$][\w$-]*/g) ?? [])
  const named =
    before.replace(/import\('[^']*'\)/g, '').match(/(?<![\w$])[A-Za-z_$][\w$]*(?=\??:)|(?<=')[\w$-]+(?=')/g) ?? []
  return [...new Set(named)].filter((name) => !kept.has(name) && name.length > 1)
}
