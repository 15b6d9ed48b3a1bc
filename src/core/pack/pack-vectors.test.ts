import { describe, expect, test } from 'vitest'
import { chunkFile } from '../chunk/chunk-file.ts'
import { BUILT_IN_SPACE } from '../embedding/space.ts'
import { PharosError } from '../errors.ts'
import { packEntries, zipPack } from './entries.ts'
import { openPack, type PackReader } from './open-pack.ts'
import { createPack, type Pack } from './pack.ts'
import { copyUnchangedVectors, createPackTexts } from './pack-texts.ts'
import { describeModelMismatch, PackVectors, parsePackVectors } from './pack-vectors.ts'
import { splitPack } from './split.ts'
import { openZipReader } from './zip-pack-reader.ts'

const utf8 = new TextEncoder()
const readImage = () => Uint8Array.of(1, 2)
const SPACE = { model: 'tiny', fingerprint: 'ab'.repeat(32), dimensions: 3 }

function packOf(files: Readonly<Record<string, string>>): Pack {
  return createPack(Object.entries(files).map(([path, text]) => chunkFile({ path, bytes: utf8.encode(text) })))
}

const PACK = packOf({ 'a.md': '# A\n\none\n\n## B\n\ntwo\n', 'b.md': '# C\n\nthree\n' })

function vectorsOf(...vectors: readonly (readonly number[] | null)[]): PackVectors {
  const made = new PackVectors(SPACE, vectors.length)
  for (const [i, vector] of vectors.entries()) if (vector !== null) made.set(i, Float32Array.from(vector))
  return made
}

const VECTORS = vectorsOf([1, 0, 0], null, [0, 0.6, 0.8])

async function filesOf(pack: Pack, compact = false): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for await (const { name, content } of packEntries(pack, { compact, readImage })) {
    files.set(name, Buffer.concat(content instanceof Uint8Array ? [content] : [...content]))
  }
  return files
}

/** Returns a few bytes at a time, so that the header spans several pieces. */
function reader(files: ReadonlyMap<string, Uint8Array>, size = 7): PackReader {
  return {
    name: 'test',
    has: (file) => files.has(file),
    *read(file) {
      const bytes = files.get(file) ?? new Uint8Array()
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

describe('the vectors of a pack', () => {
  test.each([true, false])('are restored as written (compact: %s)', async (compact) => {
    const files = await filesOf({ ...PACK, vectors: VECTORS }, compact)
    const { vectors } = openPack(reader(files))
    expect(vectors?.write()).toEqual(VECTORS.write())
    expect(vectors).toMatchObject({ space: SPACE, count: 3, embedded: 2 })
    expect([0, 1, 2].map((i) => vectors?.has(i))).toEqual([true, false, true])
    expect(vectors?.compare(Float32Array.of(0, 1, 0), 2)).toBeCloseTo(0.6, 2)
    expect(vectors?.compare(Float32Array.of(0, 1, 0), 1)).toBeNull()
  })

  test('are restored from an archive', async () => {
    const pieces: Uint8Array[] = []
    for await (const piece of zipPack({ ...PACK, vectors: VECTORS }, { readImage })) pieces.push(piece)
    const opened = openPack(openZipReader(Buffer.concat(pieces), 'a.zip'))
    expect(opened.vectors?.write()).toEqual(VECTORS.write())
  })

  test('add one entry and change no other', async () => {
    const before = await filesOf(PACK)
    const after = await filesOf({ ...PACK, vectors: VECTORS })
    expect([...after.keys()].filter((name) => !before.has(name))).toEqual(['vectors.bin'])
    after.delete('vectors.bin')
    expect(after).toEqual(before)
  })

  test('go with their chunks when the pack is split', () => {
    const parts = splitPack({ ...PACK, vectors: VECTORS }, 6)
    expect(parts.map(({ chunks, vectors }) => [chunks.length, vectors?.count, vectors?.embedded])).toEqual([
      [2, 2, 1],
      [1, 1, 1],
    ])
    expect(parts[1]?.vectors?.compare(Float32Array.of(0, 0, 1), 0)).toBeCloseTo(0.8, 2)
  })

  test('are refused if their length is not 1', () => {
    expect(() => vectorsOf([1, 1, 0])).toThrow('its length is 1.414')
  })

  test('nearest returns the nearest accepted chunks', () => {
    const vectors = vectorsOf([1, 0, 0], [0.8, 0.6, 0], null, [0, 1, 0], [0.6, 0.8, 0])
    const near = vectors.nearest(Float32Array.of(1, 0, 0), 2, 0.3, (position) => position !== 1)
    expect(near.map(({ position }) => position)).toEqual([0, 4])
    expect(vectors.nearest(Float32Array.of(0, 0, 1), 2, 0.3, () => true)).toEqual([])
  })

  test('vectors of another model are recognized by their fingerprint', () => {
    expect(describeModelMismatch(VECTORS, SPACE)).toBeUndefined()
    expect(describeModelMismatch(VECTORS, BUILT_IN_SPACE)).toBe(
      'the pack has vectors of another model (tiny) than the built-in one (pharos-embed-1); answered by words alone',
    )
  })
})

describe('untrusted vectors', () => {
  const written = VECTORS.write()
  const header = written.indexOf(0x0a) + 1
  const withHeader = (change: Readonly<Record<string, unknown>>): Uint8Array => {
    const fields: object = JSON.parse(new TextDecoder().decode(written.subarray(0, header)))
    const line = utf8.encode(`${JSON.stringify({ ...fields, ...change })}\n`)
    return Buffer.concat([line, written.subarray(header)])
  }
  const withStep = (step: number): Uint8Array => {
    const changed = Uint8Array.from(written)
    new DataView(changed.buffer).setFloat32(header, step, true)
    return changed
  }

  test.each<[string, Uint8Array, string]>([
    ['an empty entry', new Uint8Array(), 'has a damaged header'],
    ['an entry without a header', new Uint8Array(5000), 'has a damaged header'],
    ['a header that is not JSON', utf8.encode('hello\n'), 'has a damaged header'],
    ['a header that is a list', utf8.encode('[]\n'), 'has a damaged header'],
    ['another number of chunks', withHeader({ count: 4 }), 'is for 4 chunks, the pack has 3'],
    ['a number of chunks that is a string', withHeader({ count: '3' }), 'is for "3" chunks, the pack has 3'],
    ['negative dimensions', withHeader({ dimensions: -3 }), 'has no valid "dimensions"'],
    ['very many dimensions', withHeader({ dimensions: 2 ** 40 }), 'has no valid "dimensions"'],
    ['an invalid fingerprint', withHeader({ fingerprint: 'x' }), 'has no valid "fingerprint"'],
    ['a model name with a terminal escape sequence', withHeader({ model: '\u001b[31m' }), 'has no valid "model"'],
    ['fewer vectors than chunks', written.subarray(0, -1), 'is cut off: it has 20 bytes of vectors instead of 21'],
    ['more vectors than chunks', Buffer.concat([written, Uint8Array.of(0)]), 'is longer than its vectors'],
    ['a vector that is too long', withStep(1), 'has an invalid vector for chunk 1'],
    ['a vector that is not finite', withStep(Number.POSITIVE_INFINITY), 'has an invalid vector for chunk 1'],
    ['a vector of NaN', withStep(Number.NaN), 'has an invalid vector for chunk 1'],
  ])('are refused for %s', (_what, bytes, expected) => {
    expect(problem(() => parsePackVectors([bytes], 3, 'test'))).toEqual([
      'PACK_INVALID',
      `test is not a valid pack: vectors.bin ${expected}`,
    ])
  })

  test('take no memory for the size that their header claims', () => {
    const claims = withHeader({ count: 2 ** 32, dimensions: 8192 })
    expect(problem(() => parsePackVectors([claims], 2 ** 32, 'test'))).toEqual([
      'PACK_INVALID',
      'test is not a valid pack: vectors.bin is cut off: it has 21 bytes of vectors instead of 35201551958016',
    ])
  })

  test('vectors of a later version are refused with PACK_VERSION', () => {
    expect(problem(() => parsePackVectors([withHeader({ version: 2 })], 3, 'test'))).toEqual([
      'PACK_VERSION',
      'pack format 2 is newer than this program (1)',
    ])
  })
})

describe('embedding a pack', () => {
  test('embeds the text of a chunk below its title and headings', () => {
    expect(createPackTexts(PACK).at(1)).toBe('A\nB\n## B\n\ntwo')
  })

  test('leaves out files in another language than that of the model', () => {
    const german = 'Der Leuchtturm zeigt den Schiffen, wo der Hafen ist, und er brennt die ganze Nacht. '.repeat(5)
    const english = 'The lighthouse shows the ships where the harbour is, and it burns all night long. '.repeat(5)
    const pack = packOf({ 'de.md': `# Turm\n\n${german}`, 'en.md': `# Tower\n\n${english}`, 'x.json': '{"a":1}' })
    const texts = createPackTexts(pack)
    expect(texts.at(0)).toBeNull()
    expect(texts.listMissing(new PackVectors(SPACE, 3))).toEqual([1, 2])
  })

  test('keeps the vectors of unchanged texts', () => {
    const later = packOf({
      'a.md': '# A\n\nanother\n\n## B\n\ntwo\n',
      'b.md': '# D\n\nthree\n',
      'c.md': '# A\n\none\n',
    })
    const vectors = new PackVectors(SPACE, later.chunks.length)
    copyUnchangedVectors({ pack: PACK, vectors: vectorsOf([1, 0, 0], [0, 1, 0], [0, 0, 1]) }, later, vectors)
    const kept = later.chunks.map(({ path, headingPath }, i) => [path, headingPath.at(-1), vectors.has(i)])
    expect(kept).toEqual([
      ['a.md', 'A', false],
      ['a.md', 'B', true],
      ['b.md', 'D', false],
      ['c.md', 'A', false],
    ])
  })
})
