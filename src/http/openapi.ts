import { z } from 'zod'
import { describeSchema } from './fields.ts'
import type { HttpSettings } from './ports.ts'
import type { AnswerSpec, Route } from './route.ts'
import { failures } from './shapes.ts'

/** An OpenAPI 3.1 description of the server. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string }[]
  readonly security: readonly unknown[]
  readonly components: Readonly<Record<string, unknown>>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** One route of the description. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** A parameter in a path or query. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: Readonly<Record<string, unknown>>
}

type Content = Readonly<Record<string, { readonly schema?: Readonly<Record<string, unknown>> }>>

/** Describes a table of routes with the same schemas that check the requests. */
export function describeRoutes(routes: readonly Route[], version: string, settings: HttpSettings): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) {
    const path = writePath(route.path)
    paths[path] = { ...paths[path], [route.method]: describeRoute(route, settings) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pharos',
      version,
      description: 'Crawls sites into a library, reports progress, and searches the library.',
    },
    tags: [...new Set(routes.map(({ group }) => group))].map((name) => ({ name })),
    // A token is required only when the owner has set one.
    security: [{}, { token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  }
}

/** `/api/chunks/:id{.+}` → `/api/chunks/{id}` */
export function writePath(path: string): string {
  return path.replace(/:(\w+)(?:\{[^}]*\})?/g, '{$1}')
}

function describeRoute(route: Route, settings: HttpSettings): Operation {
  const { method, path, group, summary, params, query, body, answers } = route
  const parameters = [...listParameters(params, 'path'), ...listParameters(query, 'query')]
  return {
    operationId:
      `${method}${writePath(path).replace(/(?<![^A-Za-z])[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`.replace(
        /\W/g,
        '',
      ),
    tags: [group],
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: describeBody(body, route.required?.(settings) ?? []) }),
    responses: Object.fromEntries(
      Object.entries({ ...answers, ...failures(...(body === undefined ? [] : [413, 415]), 401, 403, 421) }).map(
        ([status, answer]) => [status, describeAnswer(answer, body !== undefined && Number(status) < 300)],
      ),
    ),
  }
}

function describeBody(body: z.ZodType, required: readonly string[]): NonNullable<Operation['requestBody']> {
  const schema = describeSchema(body, 'input')
  return {
    required: required.length > 0 || !body.safeParse(undefined).success,
    content: { 'application/json': { schema: required.length === 0 ? schema : { ...schema, required } } },
  }
}

/** Fields of a body that the route does not know are reported in the answer. */
const notices = z.array(z.string()).optional().describe('Unknown fields of the request, which were ignored.')

function describeAnswer({ what, schema, type = 'application/json' }: AnswerSpec, hasNotices: boolean) {
  if (schema === undefined && type === 'application/json') return { description: what }
  const whole = hasNotices && schema instanceof z.ZodObject ? schema.extend({ notices }) : schema
  const described = whole === undefined ? {} : { schema: describeSchema(whole, 'output') }
  return { description: what, content: { [type]: described } }
}

function listParameters(schema: z.ZodType | undefined, place: 'path' | 'query'): Parameter[] {
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries<z.ZodType>(schema.shape).map(([name, field]) => {
    const { description, ...described } = describeSchema(field, 'input')
    return {
      name,
      in: place,
      required: place === 'path' || !field.safeParse(undefined).success,
      ...(typeof description === 'string' ? { description } : {}),
      schema: described,
    }
  })
}
