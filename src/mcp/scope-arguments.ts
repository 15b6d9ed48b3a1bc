import type { z } from 'zod'
import type { Scope } from '../core/url/scope.ts'
import { withoutUndefined } from '../core/without-undefined.ts'
import { parseList, readNumber } from './arguments.ts'
import { number, type OptionalNumber, type OptionalTexts, rare, texts } from './schemas.ts'

type ScopeShape = Readonly<
  Record<'allowPatterns' | 'blockPatterns', OptionalTexts> & Record<'maxDepth' | 'maxPages', OptionalNumber>
>

/** The parameters that limit which addresses of a site are crawled. */
export const SCOPE: ScopeShape = {
  allowPatterns: texts('Globs: /docs/**,!/docs/old/**.'),
  blockPatterns: texts(),
  maxDepth: rare(number('Links from the start.')),
  maxPages: number(),
}

/** The scope that the arguments give. */
export function scopeOf(args: z.output<z.ZodObject<ScopeShape>>): Partial<Scope> {
  return withoutUndefined({
    allow: parseList(args.allowPatterns),
    block: parseList(args.blockPatterns),
    maxDepth: readNumber('maxDepth', args.maxDepth, { minimum: 0 }),
    maxPages: readNumber('maxPages', args.maxPages, { minimum: 1 }),
  })
}
