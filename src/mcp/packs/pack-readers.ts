import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { listDefinitions } from '../../core/pack/definition.ts'
import { countOf } from '../../core/text/count.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { quote, quoteSpaced, writeCitation } from '../../library/search/display-text.ts'
import { readNumber } from '../arguments.ts'
import { cutPart, PART, PART_POSITION, writeContinuation } from '../page-part.ts'
import { number, text, textOf } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'
import { CHUNK_POSITION, positionRecord, writePosition } from './chunk-position.ts'
import { writeFileText } from './file-text.ts'
import type { OpenPacks, PackedFile } from './open-packs.ts'

const EFFECTS = { isReadOnly: true, isIdempotent: true } as const
const FILE = { url: textOf('Path of the file, as search_docs cites it.'), source: text('Name of its pack.') } as const

/** The tools of a server for packs that read: `list_sources`, `read_page`, `get_chunk`, `list_outline`, `list_symbols`. */
export function createPackReaders(opened: OpenPacks): readonly Tool[] {
  return [
    createListSources(opened),
    createReadPage(opened),
    createGetChunk(opened),
    createListOutline(opened),
    createListSymbols(opened),
  ]
}

function createListSources({ packs }: OpenPacks): Tool {
  return createTool({
    name: 'list_sources',
    description: 'Lists the packs: name and size. Shows what search_docs can answer from.',
    effects: EFFECTS,
    isSafe: true,
    input: z.strictObject({}),
    output: z.object({ sources: z.array(z.object({ name: z.string(), files: z.number(), chunks: z.number() })) }),
    async run() {
      const sources = packs.map(({ name, pack }) => ({ name, files: pack.files.length, chunks: pack.chunks.length }))
      const lines = sources.map(({ name, files, chunks }) => {
        return `${quoteSpaced(name)} — pack — ${countOf(files, 'file')}, ${countOf(chunks, 'chunk')}`
      })
      return { content: [lines.join('\n')], structured: { sources } }
    },
  })
}

function createReadPage({ findFile }: OpenPacks): Tool {
  return createTool({
    name: 'read_page',
    description:
      'Returns the text of a file of a pack, by the path that search_docs cites. To continue, pass nextLine and nextColumn as startLine and startColumn.',
    effects: EFFECTS,
    isSafe: true,
    input: z.strictObject({ ...FILE, ...PART, endLine: number() }),
    output: z.object({ url: z.string(), source: z.string(), ...PART_POSITION, text: z.string() }),
    async run(args) {
      const { source, file, chunks } = findFile(args.url, args.source)
      const { text: part, position } = cutPart(writeFileText(chunks), args)
      const title = chunks[0]?.headingPath[0] ?? file.path
      const citation = { title, url: file.path, headingPath: [], ...position, source, chunk: null }
      return {
        content: [`${writeCitation(citation)}${writeContinuation(position)}`, { pageText: part }],
        structured: { url: file.path, source, ...position, text: part },
      }
    },
  })
}

function createGetChunk(opened: OpenPacks): Tool {
  const { search, packs } = opened
  return createTool({
    name: 'get_chunk',
    description:
      'Returns the exact text of one chunk of a pack with its citation. Use it with a ref from search_docs or list_symbols.',
    effects: EFFECTS,
    isSafe: true,
    input: z.strictObject({ chunk: textOf('Ref such as c0001, an id, or at least its first six characters.') }),
    output: z.object({ ...CHUNK_POSITION, text: z.string() }),
    async run(args) {
      const name = args.chunk.trim()
      const found = search.find(name)
      if (found === undefined) {
        // A ref without its pack, where there are several.
        const refs = packs.map((pack) => `${pack.name}/${name}`).filter((ref) => search.find(ref) !== undefined)
        const nearest = suggest(findNearest(name, refs) ?? refs[0])
        throw new PharosError('CHUNK_NOT_FOUND', {
          chunk: name,
          pack: packs.map((pack) => pack.name).join(', '),
          nearest,
        })
      }
      const { chunk, ref } = found
      const position = { ...chunk, chunkRef: ref }
      return {
        content: [writePosition(opened, position), { pageText: chunk.content }],
        structured: { ...positionRecord(opened, position), text: chunk.content },
      }
    },
  })
}

function createListOutline({ findFile }: OpenPacks): Tool {
  return createTool({
    name: 'list_outline',
    description: 'Lists the headings of a file of a pack with their lines. Use it to choose startLine for read_page.',
    effects: EFFECTS,
    isSafe: true,
    input: z.strictObject(FILE),
    output: z.object({
      url: z.string(),
      source: z.string(),
      sections: z.array(z.object({ headingPath: z.array(z.string()), startLine: z.number(), ref: z.string() })),
    }),
    async run(args) {
      const packed = findFile(args.url, args.source)
      const { source, file } = packed
      const sections = listSections(packed)
      const rows = sections.map(({ headingPath, startLine, ref }) => {
        const indent = '  '.repeat(headingPath.length - 1)
        return `${indent}${quote(headingPath.at(-1) ?? '')} (line ${startLine}, chunk ${quoteSpaced(ref)})`
      })
      return {
        content: [
          `${quoteSpaced(file.path)} (${quoteSpaced(source)}, ${countOf(file.lineCount, 'line')})`,
          rows.length === 0 ? 'This file has no headings.' : rows.join('\n'),
        ],
        structured: { url: file.path, source, sections },
      }
    },
  })
}

/** The headings of a file, each at the first chunk below it. */
function listSections({ chunks, refs }: PackedFile): { headingPath: string[]; startLine: number; ref: string }[] {
  const sections = new Map<string, { headingPath: string[]; startLine: number; ref: string }>()
  for (const [i, { headingPath, startLine }] of chunks.entries()) {
    const key = JSON.stringify(headingPath)
    if (headingPath.length === 0 || sections.has(key)) continue
    sections.set(key, { headingPath: [...headingPath], startLine, ref: refs[i] ?? '' })
  }
  return [...sections.values()]
}

const LIMIT = { default: 100, minimum: 1, maximum: 1000 } as const

function createListSymbols({ files, prefixOf, findFile }: OpenPacks): Tool {
  return createTool({
    name: 'list_symbols',
    description:
      'Lists functions, classes and other names that a file or the packs define, with path, line and ref. Use it to find the exact name of an API.',
    effects: EFFECTS,
    isSafe: true,
    input: z.strictObject({
      url: text('Only this file.'),
      source: text('Name of a pack.'),
      prefix: text('Prefix of the name, or of its last part.'),
      limit: number('1 to 1000. Default 100.'),
    }),
    output: z.object({
      symbols: z.array(
        z.object({
          name: z.string(),
          source: z.string(),
          path: z.string(),
          startLine: z.number(),
          ref: z.string(),
        }),
      ),
      hasMore: z.boolean(),
    }),
    async run({ url, source, prefix = '', limit = LIMIT.default }) {
      const wanted = source === undefined ? undefined : prefixOf(source)
      const listed =
        url === undefined
          ? files.filter((file) => wanted === undefined || prefixOf(file.source) === wanted)
          : [findFile(url, source)]
      const all = listed.flatMap(({ source, ...file }) =>
        listDefinitions(file, undefined, prefix).map(({ line: startLine, ...rest }) => ({
          ...rest,
          source,
          startLine,
        })),
      )
      const max = readNumber('limit', limit, LIMIT)
      const symbols = all.slice(0, max)
      const lines = symbols.map(({ name, path, startLine, ref }) => {
        return `${quote(name)} — ${quoteSpaced(path)} — line ${startLine} — chunk ${quoteSpaced(ref)}`
      })
      const more = all.length > max ? [`There are more than ${max}: use prefix, source or url, or raise limit.`] : []
      return {
        content: [[...(lines.length === 0 ? ['No symbols found.'] : lines), ...more].join('\n')],
        structured: { symbols, hasMore: all.length > max },
      }
    },
  })
}
