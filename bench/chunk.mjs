// Megabytes of Markdown per CPU second: our chunker, markdown-it alone (the parser that it uses), and other splitters and parsers.
//
//   npm run bench chunk [--megabytes 12]
//
// The text is the Markdown of the installed packages, repeated up to the given size. LangChain's splitter only looks for separators; remark
// builds a full syntax tree with inline markup. Neither does the same work, but both are common alternatives.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MarkdownTextSplitter } from '@langchain/textsplitters'
import MarkdownIt from 'markdown-it'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { chunkFile } from '../dist/index.js'
import { nodeSha256 } from '../dist/node.js'
import { cpuSeconds, option, printTable } from './measure.mjs'

const targetSize = Number(option('megabytes') ?? 12) * 1e6
const files = collectMarkdown([new URL('../node_modules', import.meta.url), new URL('node_modules', import.meta.url)])
const texts = []
for (let size = 0, i = 0; size < targetSize; i++) {
  const text = files[i % files.length]
  texts.push(text)
  size += text.length
}
const bytes = texts.map((text) => new TextEncoder().encode(text))
const megabytes = bytes.reduce((sum, { length }) => sum + length, 0) / 1e6

const markdownIt = new MarkdownIt({ html: true })
const splitter = new MarkdownTextSplitter({ chunkSize: 8000, chunkOverlap: 0 })
const remark = unified().use(remarkParse)
const contenders = {
  'pharos: blocks, chunks, ids, hashes': () => {
    for (const [i, file] of bytes.entries()) chunkFile({ path: `${i}.md`, bytes: file }, { sha256: nodeSha256 })
  },
  'markdown-it: block rules alone': () => {
    for (const text of texts) markdownIt.block.parse(text, markdownIt, {}, [])
  },
  'markdown-it: with inline': () => {
    for (const text of texts) markdownIt.parse(text, {})
  },
  'LangChain MarkdownTextSplitter': async () => {
    for (const text of texts) await splitter.splitText(text)
  },
  'remark-parse, a fifth of the text': () => {
    for (const text of texts.slice(0, texts.length / 5)) remark.parse(text)
  },
}

console.log(`${files.length} files, ${texts.length} read, ${megabytes.toFixed(1)} MB`)
const rows = []
let ours
for (const [name, work] of Object.entries(contenders)) {
  const share = name.startsWith('remark') ? 0.2 : 1
  const start = process.cpuUsage()
  await work()
  const seconds = cpuSeconds(start)
  const rate = (megabytes * share) / seconds
  ours ??= rate
  rows.push([name, seconds.toFixed(2), rate.toFixed(1), (ours / rate).toFixed(2)])
}
printTable(['', 'CPU s', 'MB a CPU s', 'ours ÷ this'], rows)

function collectMarkdown(folders) {
  return folders.flatMap((folder) => {
    const root = fileURLToPath(folder)
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => readFileSync(join(root, name), 'utf8'))
      .filter((text) => text.length > 2000)
  })
}
