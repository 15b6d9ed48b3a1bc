import { z } from 'zod'
import { PharosError } from '../core/errors.ts'
import type { HttpContext } from './context.ts'
import { describeExpected } from './describe-expected.ts'
import { describeSchema } from './fields.ts'
import type { HttpSettings, Peer } from './ports.ts'

/** The HTTP method of a route. */
export type Method = 'get' | 'post' | 'delete'

/** The description of a possible response of a route. */
export interface AnswerSpec {
  readonly what: string
  /** The schema of a JSON response; absent for other types. */
  readonly schema?: z.ZodType
  /** @default application/json */
  readonly type?: string
}

/** A JSON response with its status. */
export interface Reply {
  readonly status: number
  readonly json: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A validated request. */
export interface ValidatedRequest<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly request: Request
  /** When the request came, by `performance.now()`. */
  readonly began: number
  readonly peer: Peer | undefined
  /** Passes the whole request to the MCP handler. */
  readonly forwardToMcp: () => Promise<Response>
}

/** The definition of a route. */
export interface RouteSpec<P, Q, B> {
  readonly method: Method
  /** The path pattern, with `:name` for parameters. */
  readonly path: string
  readonly group: string
  readonly summary: string
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  readonly body?: z.ZodType<B>
  /** Limit for the request body. @default 1 MB */
  readonly maxBodyBytes?: number
  /** Body fields that the server settings make required. The schema says which other fields are required. */
  readonly required?: (settings: HttpSettings) => readonly string[]
  readonly answers: Readonly<Record<number, AnswerSpec>>
  readonly run: (input: ValidatedRequest<P, Q, B>, context: HttpContext) => Promise<Reply | Response> | Reply | Response
}

/** An entry of the route table. It validates its own input. */
export interface Route extends Omit<RouteSpec<unknown, unknown, unknown>, 'run'> {
  /** Validates the request and answers it. */
  readonly answer: (given: UnvalidatedRequest, context: HttpContext) => Promise<Reply | Response>
}

/** A request before validation. */
export interface UnvalidatedRequest
  extends Pick<ValidatedRequest<unknown, unknown, unknown>, 'request' | 'began' | 'peer' | 'forwardToMcp'> {
  readonly params: Readonly<Record<string, string>>
  /** Reads the body as JSON; undefined when the request has none. */
  readonly readBody: () => Promise<unknown>
}

/** Creates an entry of the route table. */
export function createRoute<P = undefined, Q = undefined, B = undefined>(spec: RouteSpec<P, Q, B>): Route {
  const { run, ...definition } = spec
  return {
    ...definition,
    async answer({ params, readBody, ...given }, context) {
      const { request } = given
      const body = spec.body === undefined ? undefined : await readBody()
      const input: ValidatedRequest<P, Q, B> = {
        params: validate(spec.params, params, 'path'),
        query: validate(spec.query, spec.query === undefined ? undefined : readQuery(request.url), 'query'),
        body: validate(spec.body, body, 'body'),
        ...given,
      }
      return addNotices(await run(input, context), listUnknown(spec.body, body))
    },
  }
}

/** Creates a JSON response. */
export function reply(json: unknown, status = 200, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { status, json } : { status, json, headers }
}

/** The query as an object, without empty values, which come from empty form fields. */
function readQuery(url: string): Record<string, string | string[]> {
  const at = url.indexOf('?')
  if (at < 0) return {}
  const found = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (value === '') continue
    const earlier = found.get(name)
    found.set(name, earlier === undefined ? value : [earlier, value].flat())
  }
  return Object.fromEntries(found)
}

/** Validates a value against the schema; without a schema the result is undefined. */
function validate<T>(schema: z.ZodType<T> | undefined, value: unknown, where: string): T {
  // The cast is safe: without a schema, T is undefined.
  if (schema === undefined) return undefined as T
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const [field = ''] = issues[0]?.path.map(String) ?? []
  const jsonSchema = where === 'body' ? describeSchema(schema, 'input') : undefined
  const problem = issues.map((issue) => writeIssue(issue, where, jsonSchema)).join('; ')
  throw new PharosError('USAGE', field === '' ? { problem } : { problem, field })
}

/** Body fields that the schema does not know. They are ignored, but reported, so that a misspelled field does not go unnoticed. */
function listUnknown(schema: z.ZodType | undefined, value: unknown): string[] {
  const objectSchema = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (!(objectSchema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return []
  return Object.keys(value).filter((name) => !Object.hasOwn(objectSchema.shape, name))
}

/** Maximum number of unknown fields that a response reports. */
const MAX_REPORTED_FIELDS = 10

function addNotices(answer: Reply | Response, unknown: readonly string[]): Reply | Response {
  if (unknown.length === 0 || answer instanceof Response) return answer
  const { json } = answer
  if (typeof json !== 'object' || json === null) return answer
  const reported = unknown.slice(0, MAX_REPORTED_FIELDS).map((name) => name.slice(0, MAX_QUOTED_CHARS))
  const notices = reported.map((name) => `the unknown field ${JSON.stringify(name)} was ignored`)
  return { ...answer, json: { ...json, notices } }
}

const MAX_QUOTED_CHARS = 100

function writeIssue(
  { path, message, input }: z.core.$ZodIssue,
  where: string,
  schema: Readonly<Record<string, unknown>> | undefined,
): string {
  const place = path.length === 0 ? where : `${where} ${path.map(String).join('.')}`
  const shown = input === undefined ? 'nothing' : (JSON.stringify(input) ?? typeof input)
  const got = shown.length > MAX_QUOTED_CHARS ? `${shown.slice(0, MAX_QUOTED_CHARS)}…` : shown
  const expected =
    /^(?:Invalid|Too) /.test(message) && schema !== undefined ? describeExpected(schema, path) : undefined
  return `${place}: ${expected ?? message.replace(/, received .*$/, '')}, got ${got}`
}
