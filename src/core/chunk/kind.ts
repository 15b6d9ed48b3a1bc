import type { Kind } from '../model.ts'
import { extensionOf } from '../text/path.ts'
import { codeLanguageOf } from './languages.ts'

const EXTENSIONS: readonly (readonly [kind: Kind, extensions: string])[] = [
  ['markdown', 'md markdown mdx'],
  ['json', 'json'],
  ['html', 'html htm xhtml'],
  ['text', 'txt log jsonl csv ini cfg conf xml'],
  ['image', 'png jpg jpeg webp gif bmp'],
]

const BY_EXTENSION: ReadonlyMap<string, Kind> = new Map(
  EXTENSIONS.flatMap(([kind, extensions]) =>
    extensions.split(' ').map((extension): [string, Kind] => [extension, kind]),
  ),
)

/** The kind of a file, by its extension alone. */
export function kindOf(path: string): Kind {
  return BY_EXTENSION.get(extensionOf(path)) ?? codeLanguageOf(path)?.kind ?? 'unknown'
}
