import type { Finding } from './finding.ts'
import { findNearestName } from './nearest-name.ts'
import { locatePython, type PythonFunction } from './python-types.ts'
import { field, type SyntaxNode, textOf } from './syntax-tree.ts'

/** The parameters of a function. */
interface Parameters {
  /** Names of those that can be given by position. */
  readonly positional: readonly string[]
  /** Names that can be given as `name=value`. */
  readonly keywords: ReadonlySet<string>
  readonly required: ReadonlySet<string>
  readonly hasRest: boolean
  readonly hasKeywords: boolean
}

/** Checks the number of arguments and the names of keyword arguments of a call. One fitting definition is enough. */
export function checkArguments(
  call: SyntaxNode,
  { definitions, isBound }: { readonly definitions: readonly PythonFunction[]; readonly isBound: boolean },
): Finding[] {
  const [first] = definitions
  const list = field(call, 'arguments')
  const called = field(call, 'function')
  if (first === undefined || called === undefined || list?.type !== 'argument_list') return []
  // Other decorators may change the parameters.
  if (definitions.some(({ decorators }) => decorators.some((one) => !HARMLESS.test(textOf(one))))) return []
  const args = list.children.filter(({ type }) => /^[a-z]\w+$/.test(type))
  const hasSplat = args.some(({ type }) => /splat$/.test(type))
  const keywords = args.filter(({ type }) => type === 'keyword_argument')
  const count = args.length - keywords.length
  const all = definitions.map((one) => readParameters(one.node, isBound))
  const at = locatePython(first.node, first.module)
  const findings: Finding[] = []
  const add = (kind: 'option' | 'call', name: string, node: SyntaxNode, why: string, nearest?: string) => {
    const verdict = why === '' ? ('exists' as const) : ('missing' as const)
    findings.push({ kind, name, line: node.row + 1, column: node.column + 1, verdict, module: null, at, nearest, why })
  }
  for (const keyword of keywords) {
    const name = textOf(field(keyword, 'name') ?? keyword)
    const isKnown = all.some((one) => one.keywords.has(name))
    if (!isKnown && all.some((one) => one.hasKeywords)) continue
    const names = all.flatMap((one) => [...one.keywords])
    add(
      'option',
      name,
      keyword,
      isKnown ? '' : `no parameter ${name}`,
      isKnown ? undefined : findNearestName(name, names),
    )
  }
  if (hasSplat) return findings
  const given = new Set(keywords.map((one) => textOf(field(one, 'name') ?? one)))
  const isFitting = all.some((one) => {
    const left = new Set(one.positional.slice(count))
    const isMissing = [...one.required].some(
      (name) => (left.has(name) || !one.positional.includes(name)) && !given.has(name),
    )
    return !isMissing && (one.hasRest || count <= one.positional.length)
  })
  const most = Math.max(...all.map((one) => (one.hasRest ? Number.POSITIVE_INFINITY : one.positional.length)))
  const why =
    count > most ? `takes at most ${most} positional arguments, got ${count}` : 'a required argument is missing'
  add('call', `${textOf(called).replace(/\s+/g, ' ').slice(-MAX_NAME_CHARS)}()`, called, isFitting ? '' : why)
  return findings
}

const MAX_NAME_CHARS = 60

const HARMLESS = /^@(?:\w+\.)*(?:overload|staticmethod|classmethod|abstractmethod|final|override|deprecated)\b/

function readParameters(node: SyntaxNode, isBound: boolean): Parameters {
  const positional: string[] = []
  const keywords = new Set<string>()
  const required = new Set<string>()
  let hasRest = false
  let hasKeywords = false
  let isKeywordOnly = false
  const parameters = (field(node, 'parameters')?.children ?? []).filter(({ type }) => /^[a-z]\w+$/.test(type))
  for (const parameter of isBound ? parameters.slice(1) : parameters) {
    const text = textOf(parameter)
    if (parameter.type === 'keyword_separator') isKeywordOnly = true
    else if (parameter.type === 'positional_separator') keywords.clear()
    else if (text.startsWith('**')) hasKeywords = true
    else if (text.startsWith('*')) {
      hasRest = true
      isKeywordOnly = true
    } else {
      const name = /^\w+/.exec(text)?.[0] ?? ''
      if (!isKeywordOnly) positional.push(name)
      keywords.add(name)
      if (!/default_parameter$/.test(parameter.type)) required.add(name)
    }
  }
  return { positional, keywords, required, hasRest, hasKeywords }
}
