import { z } from 'zod'
import { writeTime } from '../core/text/iso-time.ts'
import type { Citation } from '../library/search/display-text.ts'
import { type OptionalText, type OrNull, orNull, unlisted } from './schemas.ts'

type CitedShape = Readonly<
  Record<'title' | 'url' | 'text' | 'source' | 'chunk' | 'checkedAt' | 'changedAt', z.ZodString> &
    Record<'startLine' | 'endLine' | 'tokens', z.ZodNumber> & {
      headingPath: z.ZodArray<z.ZodString>
      version: OrNull<z.ZodString>
      packagePage: OptionalText
    }
>

/** A page text with its citation, in structured content. */
export const CITED: CitedShape = {
  title: z.string(),
  url: z.string(),
  headingPath: z.array(z.string()),
  startLine: z.number(),
  endLine: z.number(),
  text: z.string(),
  tokens: z.number(),
  source: z.string(),
  version: orNull(z.string()),
  packagePage: unlisted(z.string().optional()),
  chunk: z.string(),
  checkedAt: z.string(),
  changedAt: z.string(),
}

/** A page text with its citation. */
export interface CitedText extends Citation {
  readonly text: string
  readonly tokens: number
  readonly version: string | null
  readonly chunk: string
  readonly checkedAt: number
  readonly changedAt: number
}

/** A page text in structured content. */
export interface CitedRecord extends Omit<CitedText, 'headingPath' | 'checkedAt' | 'changedAt' | 'similar'> {
  readonly headingPath: string[]
  readonly checkedAt: string
  readonly changedAt: string
}

/** Converts a page text for structured content. */
export function citedRecord(cited: CitedText): CitedRecord {
  const { title, url, headingPath, startLine, endLine, text, tokens, source, version, packagePage, chunk } = cited
  return {
    title,
    url,
    headingPath: [...headingPath],
    startLine,
    endLine,
    text,
    tokens,
    source,
    version,
    ...(packagePage !== undefined && { packagePage }),
    chunk,
    checkedAt: writeTime(cited.checkedAt),
    changedAt: writeTime(cited.changedAt),
  }
}
