// Packs the documentation of this project, writes it to a zip and searches it. Run: node examples/pack-and-search.mjs
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const out = join(mkdtempSync(join(tmpdir(), 'pharos-')), 'docs.zip')
const docs = fileURLToPath(new URL('../docs', import.meta.url))

// #region readme
import { createPack, PackSearch } from 'pharos'
import { chunkFolder, openBundledGrammars, readPack, writePack } from 'pharos/node'

const grammars = await openBundledGrammars()
const { files } = await chunkFolder(docs, { grammars })
await writePack(createPack(files), { out, root: docs })

const search = new PackSearch(readPack(out))
const [best] = search.search('how are oversized fences split', { limit: 3 })
console.log(`${best.path}:${best.startLine}-${best.endLine} ${best.snippet}`)
// #endregion

assert.equal(best.path, 'INGESTION_SPEC.md')
assert.match(best.snippet, /fence or table is split/)
rmSync(join(out, '..'), { recursive: true })
