import { z } from 'zod'

/** JSON Schemas that replace the derived ones: a query field is always a string on the wire, whatever its type. */
const FIELD_SCHEMAS = new WeakMap<object, Readonly<Record<string, unknown>>>()

/** The JSON Schema (OpenAPI 3.1) of a request or response. */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const shape = FIELD_SCHEMAS.get(zodSchema)
      if (shape === undefined) return
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
      Object.assign(jsonSchema, shape)
    },
  })
  return described
}

/** Documents a schema with another shape than its own. */
export function withJsonSchema<T extends z.ZodType>(schema: T, shape: Readonly<Record<string, unknown>>): T {
  FIELD_SCHEMAS.set(schema, shape)
  return schema
}

/** A page size: counts are clamped to the range from 1 to `maximum`, and other values are rejected. */
export function limitField(defaultValue: number, maximum: number): z.ZodType<number> {
  const schema = z
    .string('expected one number')
    .regex(/^\d{1,15}$/, `expected a whole number from 1 to ${maximum}`)
    .transform((text) => Math.min(Math.max(Number(text), 1), maximum))
    .default(defaultValue)
  return withJsonSchema(schema, { type: 'integer', minimum: 1, maximum, default: defaultValue })
}

/** An integer of at least `minimum`. */
export function countField(minimum: number, description: string): z.ZodType<number | undefined> {
  const schema = z
    .string('expected one number')
    .regex(/^\d{1,15}$/, `expected a whole number from ${minimum} on`)
    .transform(Number)
    .refine((number) => number >= minimum, `expected a whole number from ${minimum} on`)
    .optional()
  return withJsonSchema(schema, { type: 'integer', minimum, description })
}

/** A number within bounds. */
export function numberField(minimum: number, maximum: number, description: string): z.ZodType<number | undefined> {
  const schema = z
    .string('expected one number')
    .regex(/^\d+(?:\.\d+)?$/, `expected a number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((number) => number >= minimum && number <= maximum, `expected a number from ${minimum} to ${maximum}`)
    .optional()
  return withJsonSchema(schema, { type: 'number', minimum, maximum, description })
}

/** A share as a fraction; values above 1 are percentages. 0 means no filter. */
export function shareOf(number: number | undefined): number | undefined {
  if (number === undefined || number === 0) return undefined
  return number > 1 ? number / 100 : number
}

const TRUE_WORDS = ['1', 'true', 'yes', 'on']
const FALSE_WORDS = ['0', 'false', 'no', 'off']

/** A boolean flag with a default. */
export function flagField(defaultValue: boolean, description: string): z.ZodType<boolean> {
  const jsonSchema = { enum: ['0', '1'], default: defaultValue ? '1' : '0', description }
  return withJsonSchema(flag.default(defaultValue), jsonSchema)
}

/** A boolean flag whose default depends on other values. */
export function optionalFlagField(description: string): z.ZodType<boolean | undefined> {
  return withJsonSchema(flag.optional(), { enum: ['0', '1'], description })
}

const flag = z
  .string('expected 1 or 0')
  .toLowerCase()
  .refine((text) => TRUE_WORDS.includes(text) || FALSE_WORDS.includes(text), 'expected 1 or 0')
  .transform((text) => TRUE_WORDS.includes(text))

/** A timestamp: ISO 8601, or milliseconds since 1970. */
export function timeField(description: string): z.ZodType<number | undefined> {
  const schema = z
    .string('expected one time')
    .transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)))
    .refine((time) => !Number.isNaN(time), 'expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z')
    .optional()
  return withJsonSchema(schema, { type: 'string', format: 'date-time', description })
}

/** An optional text with a maximum length. */
export function textField(description: string, maximum = 2000): z.ZodType<string | undefined> {
  const schema = z.string('expected one text').max(maximum, `expected at most ${maximum} characters`).optional()
  return withJsonSchema(schema, { type: 'string', maxLength: maximum, description })
}

/** A required text. */
export function requiredTextField(description: string, maximum = 2000): z.ZodType<string> {
  const schema = z
    .string('expected a text')
    .trim()
    .min(1, 'expected a text')
    .max(maximum, `expected at most ${maximum} characters`)
  return withJsonSchema(schema, { type: 'string', minLength: 1, maxLength: maximum, description })
}

/** One text or several. */
export function textsField(description: string): z.ZodType<readonly string[] | undefined> {
  const schema = z
    .union([z.string().max(2000), z.array(z.string().max(2000)).max(100)])
    .transform((oneOrMore) => [oneOrMore].flat())
    .optional()
  return withJsonSchema(schema, { type: 'array', items: { type: 'string' }, description })
}

/** One of a fixed set of words. */
export function wordField<const W extends readonly string[]>(
  words: W,
  description: string,
): z.ZodType<W[number] | undefined> {
  const schema = z.enum(words, `expected one of ${words.join(', ')}`).optional()
  return withJsonSchema(schema, { type: 'string', enum: [...words], description })
}

/** The id of a list entry. */
export const rowId = (description: string): z.ZodType<number | undefined> => countField(0, description)

/** The id of a job in a path. An id that was never issued passes this check, so that the response is "unknown" rather than "invalid". */
export const jobId: z.ZodType<string> = withJsonSchema(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'expected the id of a job'),
  { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' },
)

/** The number of a place. */
export const placeId: z.ZodType<number> = withJsonSchema(
  z
    .string('expected the number of a place')
    .regex(/^[1-9]\d{0,14}$/, 'expected the number of a place')
    .transform(Number),
  { type: 'integer', minimum: 1 },
)

/** A timestamp in a response: ISO 8601, or null. */
export const timestamp: z.ZodType<string | null> = z.string().nullable()
