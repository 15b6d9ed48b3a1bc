import type { z } from 'zod'
import { withoutUndefined } from '../core/without-undefined.ts'
import type { PageInput } from '../library/search/find-page.ts'
import { pickArgument } from './arguments.ts'
import { type OptionalText, text, textOf, unlisted } from './schemas.ts'

/** The parameters that name a stored page. */
export const PAGE: { readonly url: z.ZodString } & Readonly<Record<'source' | 'library', OptionalText>> = {
  url: textOf('With source, a path is enough.'),
  source: text(),
  library: unlisted(text()),
}

/** The page that the arguments name. */
export function pageOf(args: z.output<z.ZodObject<typeof PAGE>>): PageInput {
  return { url: args.url, ...withoutUndefined({ source: pickArgument(args, 'source', 'library') }) }
}
