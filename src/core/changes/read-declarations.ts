/** A name that a file of type declarations declares. */
export interface DeclaredName {
  /** Module of the `declare module` around it; null if there is none. */
  readonly module: string | null
  /** Qualified name. */
  readonly name: string
  /** Qualified name of the class or interface that it is a member of; null for a symbol of its own. */
  readonly owner: string | null
  readonly signature: string
  /** Doc comment before it, as it is written. */
  readonly comment: string
  /** From 1. */
  readonly line: number
}

interface Container {
  readonly kind: 'scope' | 'type'
  readonly module: string | null
  readonly name: string
}

const SPACE = /(?:\s|\/\/[^\n]*(?:\n|$))*/y
const COMMENT = /\/\*[\s\S]*?\*\//y
const WORDS = '(?:(?:export|declare|default|abstract|async)\\s+)*'
const SCOPE = new RegExp(`${WORDS}(?:(?:module|namespace)\\s+(?:['"]([^'"]+)['"]|([\\w$.]+))|global\\b)\\s*\\{`, 'y')
const TYPE = new RegExp(`${WORDS}(?:interface|class|(?:const\\s+)?enum)\\s+([\\w$]+)`, 'y')
const PLAIN = new RegExp(`${WORDS}(?:type|function|const|let|var)\\s+([\\w$]+)`, 'y')
const MEMBER =
  /(?:(?:public|protected|static|abstract|override|readonly|async|get|set)\s+(?=[\w$'"[]))*(?:['"]?([\w$-]+)['"]?|\[([\w$.]+)\])\s*(?:[?!]\s*)?(?=[(:<;=,}\n])/y

/** Reads the names of a file of type declarations, with the members of classes and interfaces. */
export function readDeclarations(text: string): DeclaredName[] {
  const found: DeclaredName[] = []
  const stack: Container[] = []
  let at = 0
  let line = 1
  let lineAt = 0
  let comment = ''
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  const lineOf = (place: number) => {
    for (; lineAt < place; lineAt++) if (text[lineAt] === '\n') line++
    return line
  }
  const add = (name: string, end: number) => {
    const { kind, module, name: outer } = stack.at(-1) ?? { kind: 'scope', module: null, name: '' }
    const signature = text.slice(at, end).replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*/g, ' ')
    const qualified = outer === '' ? name : `${outer}.${name}`
    found.push({
      ...{ module, name: qualified, owner: kind === 'type' ? outer : null },
      ...{ signature: signature.slice(0, MAX_CHARS), comment, line: lineOf(at) },
    })
    return { module, name: qualified }
  }
  for (;;) {
    at += match(SPACE)?.[0].length ?? 0
    if (at >= text.length) return found
    const isType = stack.at(-1)?.kind === 'type'
    const note = match(COMMENT)
    const scope = isType ? null : match(SCOPE)
    const type = isType ? null : match(TYPE)
    const one = match(isType ? MEMBER : PLAIN)
    if (note !== null) {
      ;[comment] = note
      at += comment.length
      continue
    }
    if (text[at] === '}') {
      stack.pop()
      at++
    } else if (scope !== null) {
      const { module = null, name = '' } = stack.at(-1) ?? {}
      const own = [name, scope[2] ?? ''].filter((part) => part !== '').join('.')
      stack.push({ kind: 'scope', module: scope[1] ?? module, name: own })
      at += scope[0].length
    } else if (type !== null) {
      const end = findEnd(text, at, '{')
      stack.push({ kind: 'type', ...add(type[1] ?? '', end) })
      at = end + 1
    } else {
      const end = findEnd(text, at, '')
      const name = one?.[1] ?? one?.[2] ?? ''
      if (name !== '') add(name, end)
      at = Math.max(end, at + 1)
    }
    comment = ''
  }
}

/** Longer signatures are cut. */
const MAX_CHARS = 4000
/** A line that goes on in the next one, and a line that goes on from the one before. */
const OPEN_LINE = /(?:[=|&?:,<(+-]|=>|\b(?:extends|keyof|typeof|infer|is))\s*$/
const NEXT_PART = /\s*(?:[|&?:=.)\]>]|extends\b)/y

/** Finds the end of a statement: `opening` outside of all brackets, or else a semicolon, a comma or a line that is complete. */
function findEnd(text: string, from: number, opening: '{' | ''): number {
  let depth = 0
  let angles = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === '/' && text[at + 1] === '*') at = Math.max(at, text.indexOf('*/', at) + 1)
    else if (char === '/' && text[at + 1] === '/') at = endOf(text, at, '\n') - 1
    else if (char === "'" || char === '"' || char === '`') at = endOf(text, at + 1, char)
    else if (opening !== '' && char === opening && depth === 0 && angles === 0) return at
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) {
      if (depth === 0) return at
      depth--
    } else if (char === '<') angles++
    else if (char === '>' && text[at - 1] !== '=') angles--
    else if (depth === 0 && angles <= 0 && opening === '') {
      if (char === ';' || char === ',') return at
      if (char !== '\n' || OPEN_LINE.test(text.slice(Math.max(from, at - 40), at))) continue
      NEXT_PART.lastIndex = at
      if (!NEXT_PART.test(text)) return at
    }
  }
  return text.length
}

function endOf(text: string, from: number, mark: string): number {
  const end = text.indexOf(mark, from)
  return end < 0 ? text.length : end
}
