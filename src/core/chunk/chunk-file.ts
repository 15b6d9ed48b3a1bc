import { sha256 as portableSha256 } from '../hash.ts'
import { DEFAULT_LIMITS, MIN_MAX_CHARS } from '../limits.ts'
import type { ChunkedFile, Kind, Sha256, Warning, WarningCode } from '../model.ts'
import { describeSecret, findSecrets } from '../secrets.ts'
import { decodeText, isBinary } from '../text/decode.ts'
import { splitLines } from '../text/lines.ts'
import type { Grammars } from './code-grammars.ts'
import { createChunks } from './create-chunks.ts'
import { cutHtml } from './html.ts'
import { cutImage } from './image.ts'
import { cutJson } from './json.ts'
import { kindOf } from './kind.ts'
import { cutMarkdown } from './markdown.ts'
import { type ChunkSizes, PARSER_FAILED, type ParserFailed, type Piece } from './piece.ts'
import { cutText } from './text.ts'

/** How a file is cut. */
export interface ChunkOptions {
  /** A chunk ends at the next good break once it has this many characters. @default 4000 */
  readonly targetChars?: number
  /** No chunk has more characters than this. @default 8000 */
  readonly maxChars?: number
  /** Each chunk of Markdown or text repeats up to this many characters from the end of the previous chunk in its section. @default 0 */
  readonly overlapChars?: number
  /** Further chunks of a file are dropped with a warning. @default 2000 */
  readonly maxChunksPerFile?: number
  /** Grammars for code. Without them code is cut by the rules for text. */
  readonly grammars?: Grammars
  /** @default a portable implementation */
  readonly sha256?: Sha256
}

/** The bytes of a file and its relative path. */
export interface SourceFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Cuts one file into chunks by the rules of its kind. The same bytes and options give the same chunks anywhere. */
export function chunkFile(source: SourceFile, options: ChunkOptions = {}): ChunkedFile {
  const sizes = resolveSizes(options)
  const sha256 = options.sha256 ?? portableSha256
  const kind = kindOf(source.path)
  const meta = { path: source.path, kind, bytes: source.bytes.length, sha256: sha256(source.bytes) }
  if (kind === 'image') {
    const file = { ...meta, lineCount: 1 }
    return { file, chunks: createChunks(file, cutImage(source.path), sha256), warnings: [] }
  }

  const decoded = readText(source, kind)
  if ('code' in decoded) return { file: { ...meta, lineCount: 1 }, chunks: [], warnings: [decoded] }
  const lines = splitLines(decoded.text)
  const file = { ...meta, lineCount: Math.max(1, lines.length) }
  const maxChunks = options.maxChunksPerFile ?? DEFAULT_LIMITS.maxChunksPerFile
  const warnings = secretWarnings(source.path, decoded.text)
  const cut = cutPieces(source.path, kind, decoded.text, lines, sizes, maxChunks + 1, options.grammars)
  if (cut === PARSER_FAILED) warnings.push(warn(source.path, 'parser', 'cut as text: the parser failed'))
  const pieces = cut === PARSER_FAILED ? cutText(lines, sizes) : cut
  if (pieces.length > maxChunks) {
    const message = `cut off after ${maxChunks} chunks (max_chunks_per_file)`
    warnings.push(warn(source.path, 'max_chunks_per_file', message))
  }
  return { file, chunks: createChunks(file, pieces.slice(0, maxChunks), sha256), warnings }
}

function resolveSizes(options: ChunkOptions): ChunkSizes {
  const targetChars = options.targetChars ?? DEFAULT_LIMITS.targetChars
  const maxChars = options.maxChars ?? DEFAULT_LIMITS.maxChars
  if (!Number.isInteger(maxChars) || maxChars < MIN_MAX_CHARS) {
    throw new TypeError(`Expected \`maxChars\` to be a whole number from ${MIN_MAX_CHARS} up, got ${maxChars}`)
  }
  if (!Number.isInteger(targetChars) || targetChars < 1 || targetChars > maxChars) {
    throw new TypeError(
      `Expected \`targetChars\` to be a whole number from 1 to \`maxChars\` (${maxChars}), got ${targetChars}`,
    )
  }
  const overlapChars = options.overlapChars ?? 0
  if (!Number.isInteger(overlapChars) || overlapChars < 0 || overlapChars > maxChars / 2) {
    const maxOverlapChars = Math.floor(maxChars / 2)
    throw new TypeError(
      `Expected \`overlapChars\` to be a whole number from 0 to ${maxOverlapChars}, got ${overlapChars}`,
    )
  }
  return { targetChars, maxChars, overlapChars }
}

function readText(source: SourceFile, kind: Kind): { readonly text: string } | Warning {
  if (kind === 'unknown' && isBinary(source.bytes)) return warn(source.path, 'binary', 'skipped: not a text file')
  const decoded = decodeText(source.bytes)
  return 'text' in decoded ? decoded : warn(source.path, 'utf8', 'skipped: not valid UTF-8')
}

function warn(path: string, code: WarningCode, message: string): Warning {
  return { path, code, message }
}

function secretWarnings(path: string, text: string): Warning[] {
  return findSecrets(text).map((finding) => warn(path, 'secret', describeSecret(finding)))
}

function cutPieces(
  path: string,
  kind: Kind,
  text: string,
  lines: readonly string[],
  sizes: ChunkSizes,
  maxPieces: number,
  grammars: Grammars | undefined,
): readonly Piece[] | ParserFailed {
  switch (kind) {
    case 'markdown':
      return cutMarkdown(lines, sizes, maxPieces)
    case 'html':
      return cutHtml(text, sizes)
    case 'json':
      return cutJson(text, sizes) ?? cutText(lines, sizes)
    case 'text':
    case 'unknown':
    case 'image':
      return cutText(lines, sizes)
    default:
      return grammars?.cut(path, text, sizes) ?? cutText(lines, sizes)
  }
}
