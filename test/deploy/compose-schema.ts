import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'

/** The schema of the Compose Specification, as shipped by the linter dclint. */
const folder = dirname(createRequire(import.meta.url).resolve('dclint/package.json'))
const { $schema: _, ...schema } = JSON.parse(
  readFileSync(join(folder, 'schemas/compose.schema.json'), 'utf8'),
) as Record<string, unknown>

/** Formats that the schema names: durations follow the pattern of the specification, and the others are not checked. */
const formats = {
  duration: /^(\d+(us|ms|s|m|h))+$/,
  ports: true,
  expose: true,
  subnet_ip_address: true,
} as const

const validate = new Ajv({ strict: false, allErrors: true, formats }).compile(schema)

/** The errors in a Compose file, in words. */
export function findComposeFaults(compose: unknown): string[] {
  if (validate(compose)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra: unknown = params['additionalProperty']
    return `${instancePath} ${message}${extra === undefined ? '' : ` (${String(extra)})`}`
  })
}
