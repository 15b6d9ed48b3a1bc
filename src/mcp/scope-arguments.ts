import type { z } from 'zod'
import type { Scope } from '../core/url/scope.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import { parseList, readNumber } from './arguments.ts'
import { number, rare, texts } from './schemas.ts'

/** The parameters that limit which addresses of a site are crawled. */
export interface ScopeShape {
  readonly allowPatterns: z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>
  readonly blockPatterns: z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>
  readonly maxDepth: z.ZodOptional<z.ZodNumber>
  readonly maxPages: z.ZodOptional<z.ZodNumber>
}

/** The schema of {@link ScopeShape}. */
export const SCOPE: ScopeShape = {
  allowPatterns: texts('Globs: /docs/**,!/docs/old/**.'),
  blockPatterns: texts(),
  maxDepth: rare(number('Links from the start.')),
  maxPages: number(),
}

/** The scope that the arguments give. */
export function scopeOf(args: {
  readonly allowPatterns?: string | readonly string[] | undefined
  readonly blockPatterns?: string | readonly string[] | undefined
  readonly maxDepth?: number | undefined
  readonly maxPages?: number | undefined
}): Partial<Scope> {
  return withoutUndefined({
    allow: parseList(args.allowPatterns),
    block: parseList(args.blockPatterns),
    maxDepth: readNumber('maxDepth', args.maxDepth, { minimum: 0 }),
    maxPages: readNumber('maxPages', args.maxPages, { minimum: 1 }),
  })
}
