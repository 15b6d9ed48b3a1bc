import { describe, expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import { PharosError } from '../errors.ts'
import { packEntries, zipPack } from './entries.ts'
import { openPack, type PackReader } from './open-pack.ts'
import { createPack, type Pack } from './pack.ts'
import { openZipReader } from './zip-pack-reader.ts'

const utf8 = new TextEncoder()
const readImage = () => Uint8Array.of(1, 2)

const PACK = createPack(
  Object.entries({
    'a.md': '# A\n\ntext with ,"inverted_index": inside and {"version":9}\n\n## B\n\n😀\n',
    'log.txt': `${'ping\n'.repeat(5)}\n\nend\n`,
    'img/a.png': 'x',
    'key.txt': 'token = "0123456789abcdef"',
  }).map(([path, text]) => chunkFile({ path, bytes: utf8.encode(text) })),
)

async function filesOf(pack: Pack, compact: boolean): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for await (const { name, content } of packEntries(pack, { compact, readImage })) {
    files.set(name, Buffer.concat(content instanceof Uint8Array ? [content] : [...content]).toString())
  }
  return files
}

/** Returns a few bytes at a time, so that every marker spans several pieces. */
function reader(files: ReadonlyMap<string, string>, size = 7): PackReader {
  return {
    name: 'test',
    has: (file) => files.has(file),
    *read(file) {
      const bytes = utf8.encode(files.get(file))
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    },
  }
}

function problem(open: () => unknown): unknown {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof PharosError)) throw error
    return [error.code, error.message]
  }
}

describe('a full pack', () => {
  test.each([1, 7, 1 << 20])('is restored when read %d bytes at a time', async (size) => {
    expect(openPack(reader(await filesOf(PACK, false), size))).toEqual(PACK)
  })

  test('is not read beyond the start of its postings', async () => {
    const files = await filesOf(PACK, false)
    const text = files.get('index.json') ?? ''
    const cut = text.slice(0, text.lastIndexOf(',"inverted_index":') + 30)
    expect(openPack(reader(new Map([['index.json', cut]])))).toEqual(PACK)
  })

  test.each<[string, (json: Record<string, unknown>) => unknown, string]>([
    ['has no chunks', (json) => ({ ...json, chunks: undefined }), 'index.json has no valid "chunks"'],
    [
      'has a chunk that is null',
      (json) => ({ ...json, chunks: [null] }),
      'index.json has an entry that is not an object',
    ],
    ['has no refs', (json) => ({ ...json, chunk_refs: {} }), ''],
    [
      'has an unknown kind',
      (json) => ({ ...json, files: [{ path: 'a', kind: 'x' }] }),
      'index.json has no valid "kind"',
    ],
    ['is a list', () => [], 'index.json has no valid "version"'],
  ])('that %s is refused', async (_, change, message) => {
    const { 'index.json': text = '' } = Object.fromEntries(await filesOf(PACK, false))
    const files = new Map([['index.json', JSON.stringify(change(JSON.parse(text)))]])
    const found = problem(() => openPack(reader(files)))
    expect(found).toEqual(['PACK_INVALID', expect.stringContaining(message)])
  })

  test('an index of a later version is refused with PACK_VERSION', async () => {
    const text = (await filesOf(PACK, false)).get('index.json')?.replace('{"version":1', '{"version":2') ?? ''
    expect(problem(() => openPack(reader(new Map([['index.json', text]]))))).toEqual([
      'PACK_VERSION',
      'pack format 2 is newer than this program (1)',
    ])
  })

  test('an index that is not JSON is refused', () => {
    expect(problem(() => openPack(reader(new Map([['index.json', '{"version":']]))))).toEqual([
      'PACK_INVALID',
      'test is not a valid pack: index.json is not JSON',
    ])
  })
})

describe('a compact pack', () => {
  test('keeps its paths, kinds, lines, labels and text', async () => {
    const opened = openPack(reader(await filesOf(PACK, true)))
    expect(opened.refs).toEqual(PACK.refs)
    expect(opened.indexId).toBe(PACK.indexId)
    const facts = ({ path, kind, startLine, endLine, tokenEstimate }: Pack['chunks'][number]) => {
      return { path, kind, startLine, endLine, tokenEstimate }
    }
    expect(opened.chunks.map(facts)).toEqual(PACK.chunks.map(facts))
    expect(opened.chunks.map((chunk) => chunk.content)).toEqual(
      PACK.chunks.map((chunk) =>
        chunk.content.replace(/ping(\nping)+/, 'ping\n... (previous line repeated 4 more times)'),
      ),
    )
    expect(opened.chunks.map((chunk) => chunk.headingPath)).toEqual([
      ['A'],
      ['A > B'],
      ['a'],
      ['key-l1-1'],
      ['log-l1-8'],
    ])
  })

  test('a pack that lacks a chunk is refused', async () => {
    const files = await filesOf(PACK, true)
    files.delete('chunks/c0002.md')
    expect(problem(() => openPack(reader(files)))).toEqual([
      'PACK_INVALID',
      'test is not a valid pack: chunks/c0002.md is missing',
    ])
  })

  test.each([
    ['hello', ['PACK_INVALID', 'test is not a valid pack: manifest.llm.tsv does not start with llmx_manifest_llm_tsv']],
    ['llmx_manifest_llm_tsv\t5\tx', ['PACK_VERSION', 'pack format 5 is newer than this program (4)']],
  ])('a pack whose manifest starts with %j is refused', (text, expected) => {
    expect(problem(() => openPack(reader(new Map([['manifest.llm.tsv', text]]))))).toEqual(expected)
  })
})

test('a folder without an index and a manifest is refused', () => {
  expect(problem(() => openPack(reader(new Map())))).toEqual([
    'PACK_INVALID',
    'test is not a valid pack: it has neither index.json nor manifest.llm.tsv',
  ])
})

describe('an archive', () => {
  async function zip(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of zipPack(PACK, { readImage })) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  test('openPack restores the original pack from an archive', async () => {
    expect(openPack(openZipReader(await zip(), 'a.zip'))).toEqual(PACK)
  })

  test.each([
    ['is cut off', (bytes: Uint8Array) => bytes.subarray(0, -30)],
    ['is not an archive', () => utf8.encode('hello')],
    ['is damaged', (bytes: Uint8Array) => bytes.map((byte, i) => (i > 2000 && i < 4000 ? 0 : byte))],
  ])('an archive that %s is refused', async (_, change) => {
    const bytes = change(await zip())
    expect(problem(() => openPack(openZipReader(bytes, 'a.zip')))).toEqual([
      'PACK_INVALID',
      expect.stringContaining('a.zip is not a valid pack: '),
    ])
  })
})

const WARNING = '{"path":"/etc/passwd","code":"utf8","message":""}'

describe('an untrusted pack', () => {
  const id = PACK.chunks[0]?.id ?? ''

  test.each([
    ['a ref that is a path', '"c0001"', '"../../c1"', '"../../c1" is not a valid ref'],
    ['a ref with a terminal escape sequence', '"c0001"', '"c\\u001b[31m"', '"c\\u001b[31m" is not a valid ref'],
    ['one ref for two chunks', '"c0001"', '"c0002"', 'two chunks have the same ref'],
    ['an invalid id', id, 'xy', '"xy" is not a valid chunk id'],
    ['a path that leads outside', '"path":"a.md"', '"path":"../a.md"', 'the path "../a.md" leads outside'],
    ['an absolute path', '"path":"a.md"', '"path":"/etc/passwd"', 'the path "/etc/passwd" leads outside'],
    ['an image that leads outside', '"images/img/a.png"', '"images/../../a.png"', 'leads outside'],
    ['one image for two chunks', '"asset_path":null', '"asset_path":"images/img/a.png"', 'belongs to two chunks'],
    ['a start line of 0', '"start_line":1,', '"start_line":0,', 'lines 0 to'],
    ['a negative token count', /"token_estimate":\d+/g, '"token_estimate":-1', '-1 is not a valid number of tokens'],
    ['an index id that is a path', PACK.indexId, '../../../x', '"../../../x" is not a valid index id'],
    ['a file whose path leads outside', '"files":[{"path":"', '"files":[{"path":"../', 'leads outside'],
    ['a negative size', /"bytes":\d+/g, '"bytes":-5', '-5 bytes and'],
    ['a line count of 0', /"line_count":\d+/g, '"line_count":0', 'and 0 lines are not a valid file size'],
    ['a warning about a file outside', /"warnings":\[.*/gs, `"warnings":[${WARNING}]}`, '"/etc/passwd" leads outside'],
  ])('is refused for %s', async (_, from, to, expected) => {
    const files = await filesOf(PACK, false)
    const text = (files.get('index.json') ?? '').replaceAll(from, to)
    const found = problem(() => openPack(reader(new Map([['index.json', text]]))))
    expect(found).toEqual(['PACK_INVALID', expect.stringContaining(expected)])
  })

  test.each([
    ['one ref twice', '\tc0002\t', '\tc0001\t', 'two chunks have the same ref'],
    ['a line that is not a number', '\tc0001\t0\t0\t1\t', '\tc0001\t0\t0\tx\t', 'lines NaN to'],
    // NaN would be written as null, which could not be parsed again.
    ['a size that is not a number', /^(F(?:\t\S+){4}\t)\d+/m, '$1many', 'NaN lines are not a valid file size'],
  ])('is refused for %s in its manifest', async (_, from, to, expected) => {
    const files = await filesOf(PACK, true)
    files.set('manifest.llm.tsv', (files.get('manifest.llm.tsv') ?? '').replace(from, to))
    expect(problem(() => openPack(reader(files)))).toEqual(['PACK_INVALID', expect.stringContaining(expected)])
  })

  test('is refused if its index.json is longer than the limit', () => {
    const spaces = new Uint8Array(1 << 24).fill(0x20)
    const endless: PackReader = {
      name: 'test',
      has: (file) => file === 'index.json',
      *read() {
        for (;;) yield spaces
      },
    }
    expect(problem(() => openPack(endless))).toEqual([
      'PACK_INVALID',
      'test is not a valid pack: index.json has more than 268435456 characters',
    ])
  })
})

test('opening a compact pack gives every chunk an id, so that the pack can be written again', async () => {
  const opened = openPack(reader(await filesOf(PACK, true)))
  const again = openPack(reader(await filesOf(opened, false)))
  expect(again.refs).toEqual(PACK.refs)
  expect(again.chunks).toEqual(opened.chunks)
})

test('an opened part of a pack keeps its number and the number of parts', async () => {
  const part = { ...PACK, part: { number: 2, of: 3 } }
  expect(openPack(reader(await filesOf(part, false)))).toEqual(part)
})

test('names with line ends and tabs are told apart in a compact pack', async () => {
  const names = ['a b.md', 'a\nb.md', 'a\tb.md', 'a\u2028b.md', '"a b.md"', 'a/x\ny/b.md']
  const files = names.map((path) => chunkFile({ path, bytes: utf8.encode(`# ${JSON.stringify(path)}\n`) }))
  const written = await filesOf(createPack(files), true)
  const opened = openPack(reader(written))
  expect(new Set(opened.files.map(({ path }) => path))).toEqual(new Set(names))
  for (const { path, content } of opened.chunks) expect(content).toBe(`# ${JSON.stringify(path)}`)
  const broken = written.get('manifest.llm.tsv')?.replace('"a\\nb.md"', '"a') ?? ''
  expect(() => openPack(reader(new Map([...written, ['manifest.llm.tsv', broken]])))).toThrow(/invalid name: "a/)
})
