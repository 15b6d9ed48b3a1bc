import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import type { VectorStore } from '../../src/library/ports/vectors.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createMemoryStore } from '../memory-store/memory-store.ts'
import { describeSharedVectors, describeVectors } from './vectors.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-vectors-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const createPath = async (): Promise<string> => join(folder, `${files++}.db`)

const STORES: Readonly<Record<string, () => Promise<VectorStore>>> = {
  'the SQLite store in a file': async () => openSqliteStore(await createPath()),
  'the memory store': async () => createMemoryStore(),
}

describe.each(Object.entries(STORES))('the vectors of %s', (_name, open) => {
  describeVectors(open)
})

describe('the vectors of SQLite', () => {
  describeSharedVectors(createPath, (path) => openSqliteStore(path))
})
