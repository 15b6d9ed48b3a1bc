import { z } from 'zod'

/** A point id: an unsigned integer or a UUID (openapi `ExtendedPointId`). */
export const pointId = z.union([
  z.int().nonnegative(),
  z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
])

export type PointId = z.infer<typeof pointId>

/** A payload: any JSON object. */
export type Payload = Readonly<Record<string, unknown>>

const value = z.union([z.string(), z.int(), z.boolean()])
const match = z.union([
  z.strictObject({ value }),
  z.strictObject({ any: z.union([z.array(z.string()), z.array(z.int())]) }),
  z.strictObject({ except: z.union([z.array(z.string()), z.array(z.int())]) }),
  z.strictObject({ text: z.string() }),
])
const bound = z.number().optional()
const range = z.strictObject({ gt: bound, gte: bound, lt: bound, lte: bound })

/** openapi `Condition`: an untagged enum, so any input of another form is refused. */
const condition = z.union([
  z.strictObject({ key: z.string(), match }),
  z.strictObject({ key: z.string(), range }),
  z.strictObject({ has_id: z.array(pointId) }),
  z.strictObject({ is_empty: z.strictObject({ key: z.string() }) }),
  z.strictObject({ is_null: z.strictObject({ key: z.string() }) }),
])

type Condition = z.infer<typeof condition>

const conditions = z.union([condition, z.array(condition)]).optional()

/** openapi `Filter`, without nested filters. The real server refuses unknown members too (`deny_unknown_fields`). */
export const filter = z.strictObject({ must: conditions, should: conditions, must_not: conditions })

export type Filter = z.infer<typeof filter>

/** Evaluates a filter as Qdrant does. */
export function passes(requested: Filter | undefined, id: PointId, payload: Payload): boolean {
  const holds = (one: Condition): boolean => isFulfilled(one, id, payload)
  const should = listOf(requested?.should)
  return (
    listOf(requested?.must).every(holds) &&
    !listOf(requested?.must_not).some(holds) &&
    (should.length === 0 || should.some(holds))
  )
}

/** The payload fields of a filter that need an index. */
export function keysOf(requested: Filter | undefined): string[] {
  return [requested?.must, requested?.should, requested?.must_not]
    .flatMap(listOf)
    .flatMap((one) => ('key' in one ? [one.key] : 'is_empty' in one ? [one.is_empty.key] : []))
}

function listOf(given: Condition | Condition[] | undefined): Condition[] {
  return given === undefined ? [] : Array.isArray(given) ? given : [given]
}

function isFulfilled(one: Condition, id: PointId, payload: Payload): boolean {
  if ('has_id' in one) return one.has_id.includes(id)
  if ('is_null' in one) return payload[one.is_null.key] === null
  if ('is_empty' in one) return valuesOf(payload[one.is_empty.key]).length === 0
  const values = valuesOf(payload[one.key])
  if ('range' in one) return values.some((found) => isWithin(found, one.range))
  const { match: wanted } = one
  if ('value' in wanted) return values.includes(wanted.value)
  if ('any' in wanted) return values.some((found) => (wanted.any as unknown[]).includes(found))
  if ('except' in wanted) return values.some((found) => !(wanted.except as unknown[]).includes(found))
  return values.some((found) => typeof found === 'string' && found.includes(wanted.text))
}

/** The values of a field. A condition on a field with a list holds if it holds for one of the values. */
function valuesOf(found: unknown): unknown[] {
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? found : [found]
}

function isWithin(found: unknown, { gt, gte, lt, lte }: z.infer<typeof range>): boolean {
  if (typeof found !== 'number') return false
  return (
    (gt === undefined || found > gt) &&
    (gte === undefined || found >= gte) &&
    (lt === undefined || found < lt) &&
    (lte === undefined || found <= lte)
  )
}
