// Packs the reference of this project, writes it to a zip and searches it. Run: node examples/pack-and-search.mjs
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const out = join(mkdtempSync(join(tmpdir(), 'pharos-')), 'docs.zip')
const docs = fileURLToPath(new URL('../docs/reference', import.meta.url))

// #region readme
import { createPack, PackSearch } from 'pharos'
import { chunkFolder, openBundledGrammars, readPack, writePack } from 'pharos/node'

const grammars = await openBundledGrammars()
const { files } = await chunkFolder(docs, { grammars })
await writePack(createPack(files), { out, root: docs })

const search = new PackSearch(readPack(out))
const [best] = search.search('which tool removes a source', { limit: 3 })
console.log(`${best.path}:${best.startLine}-${best.endLine} ${best.snippet}`)
// #endregion

assert.equal(best.path, 'mcp.md')
assert.match(best.snippet, /remove_source/)
rmSync(join(out, '..'), { recursive: true })
