import { usageError } from '../core/errors.ts'

/** The value of a parameter that has several names; undefined when it is given under none. Values given under two names must be equal. */
export function pickArgument<T extends object, K extends keyof T & string>(
  args: T,
  ...names: readonly K[]
): T[K] | undefined {
  const givenNames = names.filter((name) => args[name] !== undefined)
  const [first, ...others] = givenNames
  if (first === undefined) return undefined
  const other = others.find((name) => JSON.stringify(args[name]) !== JSON.stringify(args[first]))
  if (other !== undefined) {
    const values = `${JSON.stringify(args[first])} and ${JSON.stringify(args[other])}`
    throw usageError(`${first} and ${other} are the same parameter, but their values are ${values}: give only one`)
  }
  return args[first]
}

/** Like {@link pickArgument}, but throws when the value is missing. */
export function requireArgument<T extends object, K extends keyof T & string>(
  args: T,
  ...names: readonly K[]
): Exclude<T[K], undefined> {
  const value = pickArgument(args, ...names)
  if (value === undefined) throw usageError(`${names.join(' or ')} is missing`)
  // The cast is safe: the check above has excluded undefined.
  return value as Exclude<T[K], undefined>
}

/** A non-blank text. Many models fill unused parameters with blanks, which count as not given. */
export function nonBlank(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value
}

/** A list, which may also be given as comma-separated text. */
export function parseList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined
  const entries = typeof value === 'string' ? value.split(',') : value
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

/** Limits of a number. A larger number counts as the maximum. */
export interface NumberLimits {
  readonly minimum: number
  readonly maximum?: number
}

/** Checks a number, if it is given: a whole number, not below the minimum. */
export function readNumber<T extends number | undefined>(
  name: string,
  value: T,
  { minimum, maximum = Number.MAX_SAFE_INTEGER }: NumberLimits,
): number | Exclude<T, number> {
  if (typeof value !== 'number') return value as Exclude<T, number>
  if (Number.isInteger(value) && value >= minimum) return Math.min(maximum, value)
  throw usageError(`${name}: expected a whole number from ${minimum} up, got ${value}`)
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a text has the form of an id of a source, crawl or pack. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Reads the id of a crawl. */
export function parseCrawlId(text: string): string {
  if (isUuid(text)) return text.toLowerCase()
  const form = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000'
  throw usageError(`invalid crawl ID format: expected ${form}, got ${JSON.stringify(text)}`)
}
