import { z } from 'zod'
import type { ToolSet } from './tool-set.ts'

type JsonSchema = z.core.JSONSchema.JSONSchema

/** A JSON schema, or a part of one, as `tools/list` shows it. */
type ListedSchema = Record<string, unknown>

/** Metadata of a field that is accepted but not listed, such as an alternative name of a parameter. */
export const UNLISTED = { isUnlisted: true } as const
/** Metadata of a parameter that is listed only in the full tool set. */
export const RARE = { isRare: true } as const

/** Longer value lists are left out, because they cost more tokens than they save: the error for an invalid value names them all. */
const MAX_LISTED_VALUES = 4

/** Which parts of a schema are listed. */
interface Style {
  /** Keywords that are kept, besides types. */
  readonly keywords: readonly string[]
  /** Metadata of the fields that are left out. */
  readonly marks: readonly string[]
  writeUnion(members: readonly ListedSchema[]): ListedSchema
}

/** Keywords that clients need to fill in arguments. The server reports all other mistakes, such as an unknown parameter. */
const INPUT: Omit<Style, 'marks'> = {
  keywords: ['enum', 'description'],
  // A parameter with several forms is listed with its first one, because some clients cannot read unions.
  writeUnion: ([first = {}]) => first,
}

const OUTPUT: Style = {
  keywords: [],
  marks: ['isUnlisted'],
  writeUnion: (members) => Object.assign({}, ...members, { type: members.map(({ type }) => type) }),
}

/** The argument schema of a tool as `tools/list` shows it for a tool set. */
export function writeInputSchema(schema: z.ZodObject, set: ToolSet): ListedSchema {
  const marks = set === 'ask' ? ['isUnlisted', 'isRare'] : ['isUnlisted']
  return shortenObject(z.toJSONSchema(schema, { io: 'input' }), { ...INPUT, marks })
}

/** The output schema of a tool as `tools/list` shows it: every field with its type, and nested records as plain objects. */
export function writeOutputSchema(schema: z.ZodObject): ListedSchema {
  return shortenObject(z.toJSONSchema(schema, { io: 'output' }), OUTPUT)
}

function shortenObject({ properties = {}, required = [] }: JsonSchema, style: Style): ListedSchema {
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const isLeftOut = typeof field === 'boolean' || style.marks.some((mark) => field[mark] === true)
    return isLeftOut ? [] : [[name, shortenField(field, style)] as const]
  })
  const listed = Object.fromEntries(fields)
  const needed = required.filter((name) => Object.hasOwn(listed, name))
  return { type: 'object', properties: listed, ...(needed.length === 0 ? {} : { required: needed }) }
}

function shortenField(field: JsonSchema, style: Style): ListedSchema {
  const { type, items, anyOf, enum: values = [] } = field
  const hidden = values.length > MAX_LISTED_VALUES ? 'enum' : undefined
  const kept = style.keywords.filter((keyword) => keyword in field && keyword !== hidden)
  return {
    ...(type === undefined ? {} : { type }),
    ...(typeof items !== 'object' || Array.isArray(items) ? {} : { items: shortenField(items, style) }),
    ...(anyOf === undefined ? {} : style.writeUnion(anyOf.map((member) => shortenField(member, style)))),
    ...Object.fromEntries(kept.map((keyword) => [keyword, field[keyword]])),
  }
}
