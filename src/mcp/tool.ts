import type {
  CallToolResult,
  McpServer,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server'
import { ZodOptional, type z } from 'zod'
import { usageError } from '../core/errors.ts'
import { findNearest, suggest } from '../core/text/nearest.ts'
import { failedOnEmptyLibrary, writeEmptyLibrary } from './empty-library.ts'
import { writeError } from './error-text.ts'
import { writeInputSchema, writeOutputSchema } from './listed-schema.ts'
import { type Block, type PageText, writeBlocks } from './page-text.ts'
import type { SharedState } from './shared-state.ts'

/** Context of a tool call. */
export interface ToolContext extends Pick<SharedState, 'library' | 'jobs' | 'packs' | 'isReadOnly' | 'project'> {
  /** Aborted when the client no longer wants the response. */
  readonly signal: AbortSignal
  /** Reports progress, if the caller requested it. */
  readonly progress: (done: number, total: number | undefined, message: string) => Promise<void>
}

/** The response of a tool: our own lines and text of pages for reading, and structured content for programs. */
export interface ToolAnswer<T> {
  readonly content: readonly (string | PageText | Block)[]
  readonly structured: T
}

/** The effects of a tool, as clients see them. */
export interface ToolEffects {
  /** Whether it changes nothing. @default false */
  readonly isReadOnly?: boolean
  /** Whether it deletes data. @default false */
  readonly isDestructive?: boolean
  /** Whether repeating a call has no further effect. @default false */
  readonly isIdempotent?: boolean
  /** Whether it reaches beyond this machine. @default false */
  readonly isOpenWorld?: boolean
}

/** Definition of a tool. */
export interface ToolDefinition<In extends z.ZodObject, Out extends z.ZodObject> {
  readonly name: string
  readonly description: string
  readonly effects: ToolEffects
  /** Whether it is offered in read-only mode, because it neither writes nor fetches. */
  readonly isSafe: boolean
  readonly input: In
  readonly output: Out
  run(args: z.output<In>, context: ToolContext): Promise<ToolAnswer<z.input<Out>>>
}

/** A tool that can be added to a server. */
export interface Tool {
  readonly name: string
  /** Whether it is offered in read-only mode. */
  readonly isSafe: boolean
  addTo(server: McpServer, shared: SharedState): void
}

/** Creates a tool. Every error in it becomes a response that begins with `Error`. */
export function createTool<In extends z.ZodObject, Out extends z.ZodObject>(definition: ToolDefinition<In, Out>): Tool {
  const { name, description, effects, isSafe, input, output, run } = definition
  const annotations = writeAnnotations(effects)
  const inputSchemas = {
    all: createUncheckedSchema(() => writeInputSchema(input, 'all')),
    ask: createUncheckedSchema(() => writeInputSchema(input, 'ask')),
  }
  const outputSchema = createUncheckedSchema(() => writeOutputSchema(output))
  return {
    name,
    isSafe,
    addTo(server, shared) {
      const config = { description, inputSchema: inputSchemas[shared.toolSet], outputSchema, annotations }
      const tool = server.registerTool(name, config, async (raw, context): Promise<CallToolResult> => {
        try {
          const { content, structured } = await run(parseArguments(input, raw), createContext(shared, context))
          return { content: writeBlocks(content), structuredContent: structured }
        } catch (error) {
          const advice = (await failedOnEmptyLibrary(shared, error)) ? writeEmptyLibrary(shared.isReadOnly) : undefined
          return { content: [{ type: 'text', text: writeError(error, shared.isReadOnly, advice) }], isError: true }
        }
      })
      // A disabled tool is not listed; a client that calls it gets the reason.
      if (shared.isReadOnly && !isSafe) tool.disable()
    },
  }
}

/** Writes only annotations that differ from the protocol defaults, by which a writing tool is destructive and every tool is open-world. */
function writeAnnotations({ isReadOnly, isDestructive, isIdempotent, isOpenWorld }: ToolEffects): ToolAnnotations {
  return {
    ...(isReadOnly === true ? { readOnlyHint: true } : {}),
    ...(isReadOnly === true || isDestructive === true ? {} : { destructiveHint: false }),
    ...(isReadOnly !== true && isIdempotent === true ? { idempotentHint: true } : {}),
    ...(isOpenWorld === true ? {} : { openWorldHint: false }),
  }
}

/**
 * A schema that lists this JSON schema but accepts every value. The server itself reports invalid arguments, in the same form as other
 * errors. The compiler and the clients check responses. The JSON schema is cached, because over HTTP every request has its own server.
 */
function createUncheckedSchema(list: () => Record<string, unknown>): StandardSchemaWithJSON<unknown, unknown> {
  let listed: Record<string, unknown> | undefined
  const readListed = () => {
    listed ??= list()
    return listed
  }
  const jsonSchema = { input: readListed, output: readListed }
  return { '~standard': { version: 1, vendor: 'pharos', validate: (value) => ({ value }), jsonSchema } }
}

/** Parses arguments. Null, and an empty text for an optional parameter, count as not given, because many models fill in such values. */
function parseArguments<In extends z.ZodObject>(schema: In, raw: unknown): z.output<In> {
  const isObject = typeof raw === 'object' && raw !== null && !Array.isArray(raw)
  const isGiven = ([name, value]: [string, unknown]) =>
    value !== null && !(value === '' && schema.shape[name] instanceof ZodOptional)
  const args = isObject ? Object.fromEntries(Object.entries(raw).filter(isGiven)) : raw
  const parsed = schema.safeParse(args)
  if (parsed.success) return parsed.data
  const names = Object.keys(schema.shape)
  throw usageError(parsed.error.issues.map((issue) => writeIssue(issue, args, names)).join('; '))
}

/** Describes the problem with arguments. `names` are the known parameters. */
function writeIssue(issue: z.core.$ZodIssue, args: unknown, names: readonly string[]): string {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys' && path.length === 0) {
    return issue.keys.map((key) => `there is no ${JSON.stringify(key)}${suggest(findNearest(key, names))}`).join('; ')
  }
  const [name = ''] = path
  const isMissing = path.length === 1 && typeof args === 'object' && args !== null && !Object.hasOwn(args, name)
  if (isMissing) return `${String(name)} is missing`
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}

function createContext(shared: SharedState, { mcpReq }: ServerContext): ToolContext {
  const { library, jobs, packs, isReadOnly, project } = shared
  const progressToken = mcpReq._meta?.progressToken
  return {
    ...{ library, jobs, packs, isReadOnly, project },
    signal: mcpReq.signal,
    async progress(done, total, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress: done, message, ...(total === undefined ? {} : { total }) }
      await mcpReq.notify({ method: 'notifications/progress', params })
    },
  }
}
