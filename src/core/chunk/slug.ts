import type { Chunk } from '../model.ts'
import { baseName } from '../text/path.ts'

/** The parts of a chunk that its slug is made from. */
export type SlugSource = Pick<Chunk, 'path' | 'kind' | 'startLine' | 'endLine' | 'headingPath' | 'symbol' | 'address'>

/** A short readable label: file name, then the most local heading, symbol or address. Not unique. */
export function createSlug(source: SlugSource): string {
  const stem = baseName(source.path).replace(/(?<=.)\.[^.]*$/, '')
  const base = shorten(slugify(stem), source.kind === 'image' ? 72 : 28)
  const context = source.headingPath.at(-1) ?? source.symbol ?? source.address ?? ''
  const rest = context === '' ? '' : shorten(dropRepeats(slugify(context), base), 44)
  const joined = rest === '' || rest === 'chunk' || rest === base ? base : `${base}--${rest}`
  const lines = source.kind === 'text' ? `-l${source.startLine}-${source.endLine}` : ''
  return shorten(joined + lines, 96)
}

/** Lower-case ASCII letters and digits, with one `-` for each run of other characters; `chunk` when nothing is left. */
export function slugify(text: string): string {
  const slug = text
    .slice(0, 1000)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase()
  return slug === '' ? 'chunk' : slug
}

function dropRepeats(context: string, base: string): string {
  let rest = context
  while (rest.startsWith(`${base}-`)) rest = rest.slice(base.length + 1)
  return rest
}

function shorten(slug: string, length: number): string {
  return slug.slice(0, length).replace(/^-+|(?<!-)-+$/g, '')
}
