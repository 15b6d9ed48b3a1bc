import { baseName } from '../text/path.ts'
import type { Piece } from './piece.ts'

/** Returns one piece with the name and path of an image, so that a search can find it. The image is never decoded. */
export function cutImage(path: string): Piece[] {
  return [{ startLine: 1, endLine: 1, content: `Image: ${baseName(path)}\nSource: ${path}` }]
}

/** Where a pack keeps the bytes of an image; the path cannot leave `images/`. */
export function imageAssetPath(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..')
  return `images/${parts.join('/')}`
}
