import type { Kind } from '../model.ts'
import { codeLanguageOf } from './languages.ts'

const BY_EXTENSION: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    markdown: ['md', 'markdown', 'mdx'],
    json: ['json'],
    html: ['html', 'htm', 'xhtml'],
    text: ['txt', 'log', 'jsonl', 'csv', 'ini', 'cfg', 'conf', 'xml'],
    image: ['png', 'jpg', 'jpeg', 'webp', 'gif', 'bmp'],
  } satisfies Partial<Record<Kind, readonly string[]>>).flatMap(([kind, extensions]) =>
    extensions.map((extension) => [extension, kind as Kind] as const),
  ),
)

/** The kind of a file, by its extension alone. */
export function kindOf(path: string): Kind {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : ''
  return BY_EXTENSION.get(extension) ?? codeLanguageOf(path)?.kind ?? 'unknown'
}
