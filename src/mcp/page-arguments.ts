import type { z } from 'zod'
import type { PageInput } from '../library/operations/find-page.ts'
import { given, pick } from './arguments.ts'
import { text, textOf } from './schemas.ts'

/** The parameters that name a stored page. */
export interface PageShape {
  readonly url: z.ZodString
  readonly source: z.ZodOptional<z.ZodString>
  readonly library: z.ZodOptional<z.ZodString>
}

/** They, for schemas. */
export const PAGE: PageShape = {
  url: textOf('Address of the page; a path will do where source is given.'),
  source: text('The source: its name, name@version, id or start URL. Without it all of them are asked.'),
  library: text('Same as source.'),
}

/** The page that is meant. */
export function pageOf(args: {
  readonly url: string
  readonly source?: string | undefined
  readonly library?: string | undefined
}): PageInput {
  return { url: args.url, ...given({ source: pick(args, 'source', 'library') }) }
}
