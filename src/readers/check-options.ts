import { PharosError } from '../core/errors.ts'
import { findNearest, suggest } from '../core/text/nearest.ts'

/** What an option must be: one of the words, or a value that a check accepts. `anything` is for options with a check of their own. */
export type OptionKind = TypeKind | readonly string[]

type TypeKind = 'anything' | 'a text' | 'a list of texts' | 'a number' | 'true or false' | 'a function' | 'an object'

const CHECKS: Readonly<Record<TypeKind, (value: unknown) => boolean>> = {
  anything: () => true,
  'a text': (value) => typeof value === 'string',
  'a list of texts': (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'a number': (value) => typeof value === 'number',
  'true or false': (value) => typeof value === 'boolean',
  'a function': (value) => typeof value === 'function',
  'an object': (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Throws `OPTION_INVALID` for an option with an unknown name or of a wrong type, because not all callers have their types checked. */
export function checkOptions<T extends object>(
  options: T,
  kinds: Readonly<Record<keyof T & string, OptionKind>>,
  required: readonly (keyof T & string)[] = [],
): void {
  if (!CHECKS['an object'](options)) refuseOption('the options', 'an object', options)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(kinds, name)) {
      throw new PharosError('OPTION_INVALID', {
        problem: `${name} is not an option${suggest(findNearest(name, Object.keys(kinds)))}`,
      })
    }
    if (value !== undefined) checkOption(name, kinds[name as keyof T & string], value)
  }
  for (const name of required) if (options[name] === undefined) checkOption(name, kinds[name], undefined)
}

function checkOption(name: string, kind: OptionKind, value: unknown): void {
  if (typeof kind !== 'string') {
    if (typeof value !== 'string' || !kind.includes(value)) refuseOption(name, `one of ${kind.join(', ')}`, value)
  } else if (!CHECKS[kind](value)) refuseOption(name, kind, value)
}

/** One kind for several options. */
export function kindOfAll<Name extends string>(kind: OptionKind, ...names: readonly Name[]): Record<Name, OptionKind> {
  // The cast is safe: every name is a key.
  return Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, OptionKind>
}

/** Throws `OPTION_INVALID` unless the URLs are a list of texts: a single text would be read letter by letter. */
export function checkUrls(urls: readonly string[]): void {
  checkOption('urls', 'a list of texts', urls)
}

/** Throws `OPTION_INVALID` with the name of an option, what it must be, and what it is. */
export function refuseOption(name: string, expected: string, value: unknown): never {
  throw new PharosError('OPTION_INVALID', { problem: `${name} must be ${expected}, got ${quote(value)}` })
}

/** The error of a reader that is used after its end. */
export function createClosedError(): PharosError {
  return new PharosError('OPTION_INVALID', { problem: 'the reader is closed', advice: 'open another reader' })
}

const MAX_QUOTED_CHARS = 100

function quote(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'function' || CHECKS['an object'](value)) return `a value of the type ${typeof value}`
  return (JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one)) ?? typeof value).slice(
    0,
    MAX_QUOTED_CHARS,
  )
}
