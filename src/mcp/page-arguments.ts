import type { z } from 'zod'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { PageInput } from '../library/search/find-page.ts'
import { pickArgument } from './arguments.ts'
import { text, textOf, unlisted } from './schemas.ts'

/** The parameters that name a stored page. */
export interface PageShape {
  readonly url: z.ZodString
  readonly source: z.ZodOptional<z.ZodString>
  readonly library: z.ZodOptional<z.ZodString>
}

/** The schema of {@link PageShape}. */
export const PAGE: PageShape = {
  url: textOf('With source, a path is enough.'),
  source: text(),
  library: unlisted(text()),
}

/** The page that the arguments name. */
export function pageOf(args: {
  readonly url: string
  readonly source?: string | undefined
  readonly library?: string | undefined
}): PageInput {
  return { url: args.url, ...withoutUndefined({ source: pickArgument(args, 'source', 'library') }) }
}
