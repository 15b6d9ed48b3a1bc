import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { kindOf } from '../src/core/chunk/kind.ts'
import { KINDS, WARNING_CODES } from '../src/core/model.ts'
import { findSecrets } from '../src/core/secrets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pages = ['.', 'docs', 'docs/decisions', 'docs/reference', 'docs/templates'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => /\.(md|txt)$/.test(name))
    .map((name) => join(folder, name)),
)

describe('the documents', () => {
  it.each(pages)('%s links only to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|<)([^)#]+)/g)].map((match) => match[1] ?? '')
    expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([])
  })

  it('ARCHITECTURE.md names only files that exist', () => {
    const paths = ['src', 'web', 'test', 'scripts', 'model'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `/${folder}/${name}`),
    )
    const named = [...read('ARCHITECTURE.md').matchAll(/`([\w./-]+\.(?:tsx?|mjs))`/g)].map(([, name = '']) => name)
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((name) => !paths.some((path) => path.endsWith(`/${name}`)))).toEqual([])
  })

  it('the guide for programmers shows the lines that the example runs', () => {
    const [, region] = /\/\/ #region readme\n([\s\S]*?)\/\/ #endregion/.exec(read('examples/pack-and-search.mjs')) ?? []
    const [, snippet] = /```js\n([\s\S]*?)```/.exec(read('docs/from-code.md')) ?? []
    expect(snippet).toBe(region)
  })

  it('the reference equals the help of the program', () => {
    const script = join(root, 'scripts/write-reference.mjs')
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('the README has at most 1,500 words', () => {
    expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(1500)
  })

  it('the index of the documentation links to every page', () => {
    const linked = [...read('docs/README.md').matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1])
    const written = ['docs', 'docs/reference'].flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith('.md') && name !== 'README.md')
        .map((name) => join(folder, name).slice('docs/'.length)),
    )
    expect(new Set(linked)).toEqual(new Set([...written, 'decisions/README.md']))
  })

  it('the specification names every kind with its extensions and every warning', () => {
    const text = read('docs/INGESTION_SPEC.md')
    const [, table = ''] = /\| kind \| extensions \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(text) ?? []
    const rows = table
      .trim()
      .split('\n')
      .flatMap((row) => {
        const [, kinds = '', extensions = ''] = row.split('|')
        const groups = extensions.split('·')
        return [...kinds.matchAll(/`(\w+)`/g)].map(
          ([, kind], i) => [kind, (groups[i] ?? '').trim().split(' ')] as const,
        )
      })
    expect(new Set(rows.map(([kind]) => kind))).toEqual(new Set(KINDS))
    for (const [kind, extensions] of rows) {
      if (kind === 'unknown') continue
      expect(extensions.map((extension) => [extension, kindOf(`x.${extension}`)])).toEqual(
        extensions.map((one) => [one, kind]),
      )
    }
    for (const code of WARNING_CODES) expect(text).toContain(`| \`${code}\` |`)
  })
})

describe('the decisions', () => {
  const files = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md')

  it('the index lists each decision with its number, its title and a sentence', () => {
    const entries = read('docs/decisions/README.md').matchAll(/^- (\d{4}) \[(.+)\]\((\1-[^)]+)\): \S.*\.$/gm)
    const listed = [...entries].map(([, , title = '', file = '']) => `${file} # ${title}`)
    const written = files.map((file) => `${file} ${read(join('docs/decisions', file)).split('\n', 1)[0]}`)
    expect(new Set(listed)).toEqual(new Set(written))
    expect(listed).toHaveLength(files.length)
  })

  it('each decision has a number of its own', () => {
    const numbers = files.map((file) => /^(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1])
    expect(numbers).not.toContain(undefined)
    expect(new Set(numbers).size).toBe(files.length)
  })

  it.each(files)('%s has the headings of a decision and at most 350 words', (file) => {
    const text = read(join('docs/decisions', file))
    const headings = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? '')
    expect(headings).toEqual(
      ['Context', 'Decision', 'Figures', 'Rejected'].filter((name, i) => i < 2 || headings.includes(name)),
    )
    const prose = text.replace(/^\|.*$/gm, '')
    expect(prose.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(350)
  })
})

describe('docs/llms.txt', () => {
  const text = read('docs/llms.txt')
  const blocks = text.trim().split(/\n\n+/)

  it('consists of a title, a quote, notes and sections of links, with the section Optional last', () => {
    expect(blocks[0]).toBe('# Pharos')
    expect(blocks[1]).toMatch(/^> \S/)
    const firstSection = blocks.findIndex((block) => block.startsWith('## '))
    for (const note of blocks.slice(2, firstSection)) expect(note).not.toMatch(/^#/)
    const sections = blocks.slice(firstSection)
    const titles = sections.filter((_, i) => i % 2 === 0)
    expect(titles).toEqual(['## Docs', '## Code', '## Optional'])
    for (const list of sections.filter((_, i) => i % 2 === 1)) {
      for (const line of list.split('\n')) expect(line).toMatch(/^- \[[^\]]+\]\([^)\s]+\)(: \S.*)?$/)
    }
  })

  it('is short, holds no secret and gives no command to run', () => {
    expect(text.length).toBeLessThan(3000)
    expect(findSecrets(text)).toEqual([])
    expect(text).not.toMatch(/```|\brun\b|\bexecute\b|\$ /i)
  })
})
