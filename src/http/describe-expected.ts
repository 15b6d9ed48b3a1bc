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
  let at: SchemaNode | undefined = schema
  for (const step of path) {
    at = typeof step === 'number' ? at?.items : at?.properties?.[String(step)]
  }
  const words = at === undefined ? undefined : describeNode(at)
  return words === undefined ? undefined : `expected ${words}`
}

function describeNode(taken: SchemaNode): string | undefined {
  if (taken.enum !== undefined) return `one of ${taken.enum.join(', ')}`
  if (taken.anyOf !== undefined) {
    const isNumber = taken.anyOf.some(({ type }) => type === 'integer' || type === 'number')
    // Numbers are also accepted as strings, but the error message mentions only the number.
    const each = taken.anyOf.filter(({ type }) => !isNumber || type !== 'string').map(describeNode)
    return each.includes(undefined) ? undefined : [...new Set(each)].join(' or ')
  }
  switch (taken.type) {
    case 'integer':
      return `a whole number${writeBounds(taken)}`
    case 'number':
      return `a number${writeBounds(taken)}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return taken.maxLength === undefined ? 'a text' : `a text of at most ${taken.maxLength} characters`
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
