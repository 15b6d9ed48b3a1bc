/** The parts of a JSON schema that describe accepted values. */
interface SchemaNode {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/** Describes the value that the schema expects at a path of the body; undefined when the schema does not say. */
export function describeExpected(
  schema: Readonly<Record<string, unknown>>,
  path: readonly PropertyKey[],
): string | undefined {
  let node: SchemaNode | undefined = schema
  for (const step of path) {
    node = typeof step === 'number' ? node?.items : node?.properties?.[String(step)]
  }
  const words = node === undefined ? undefined : describeNode(node)
  return words === undefined ? undefined : `expected ${words}`
}

function describeNode(node: SchemaNode): string | undefined {
  if (node.enum !== undefined) return `one of ${node.enum.join(', ')}`
  if (node.anyOf !== undefined) {
    const isNumber = node.anyOf.some(({ type }) => type === 'integer' || type === 'number')
    // Numbers are also accepted as strings, but the error message mentions only the number.
    const alternatives = node.anyOf.filter(({ type }) => !isNumber || type !== 'string').map(describeNode)
    return alternatives.includes(undefined) ? undefined : [...new Set(alternatives)].join(' or ')
  }
  switch (node.type) {
    case 'integer':
      return `a whole number${writeBounds(node)}`
    case 'number':
      return `a number${writeBounds(node)}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return node.maxLength === undefined ? 'a text' : `a text of at most ${node.maxLength} characters`
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    case 'null':
      return 'null'
    default:
      return undefined
  }
}

/** Bounds that every safe integer satisfies are left out. */
function writeBounds({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: SchemaNode): string {
  if (minimum <= Number.MIN_SAFE_INTEGER) return maximum >= Number.MAX_SAFE_INTEGER ? '' : ` up to ${maximum}`
  return maximum >= Number.MAX_SAFE_INTEGER ? ` from ${minimum} on` : ` from ${minimum} to ${maximum}`
}
