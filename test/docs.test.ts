import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { flagName, readConfig, SETTINGS, type SettingName, writeValue } from '../src/config.ts'
import { kindOf } from '../src/core/chunk/kind.ts'
import { ERRORS } from '../src/core/errors.ts'
import { KINDS, WARNING_CODES } from '../src/core/model.ts'
import { findSecrets } from '../src/core/secrets.ts'
import { writeBytes } from '../src/core/text/bytes.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const pages = ['.', 'docs', 'docs/templates'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => /\.(md|txt)$/.test(name))
    .map((name) => join(folder, name)),
)

describe('the documents', () => {
  it.each(pages)('%s links only to files that exist', (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|<)([^)#]+)/g)].map((match) => match[1] ?? '')
    expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([])
  })

  it('the README shows the lines that the example runs', () => {
    const [, region] = /\/\/ #region readme\n([\s\S]*?)\/\/ #endregion/.exec(read('examples/pack-and-search.mjs')) ?? []
    const [, snippet] = /```js\n([\s\S]*?)```/.exec(read('README.md')) ?? []
    expect(snippet).toBe(region)
  })

  it('the README gives every setting its flag and default', () => {
    const rows = [...read('README.md').matchAll(/^\| `(\w+)` \| (?:`--([\w-]+)`|–) \| (.+) \|$/gm)]
    const { values } = readConfig({ environment: {}, folder: '/' })
    expect(Object.fromEntries(rows.map(([, name, flag]) => [name, flag]))).toEqual({
      ...Object.fromEntries(
        Object.entries(SETTINGS).map(([name, { hasFlag = true }]) => [
          name,
          hasFlag ? flagName(name as keyof typeof SETTINGS) : undefined,
        ]),
      ),
      cache: 'no-cache',
      embed: 'no-embed',
    })
    for (const [, name, , shown] of rows) {
      // The rows were just found to have the names of the table.
      const setting = name as SettingName
      const value = values[setting]
      if (typeof value === 'string' ? value !== '' : typeof value === 'boolean') continue
      const isBytes = SETTINGS[setting].type === 'bytes'
      expect([name, shown]).toEqual([name, isBytes ? writeBytes(Number(value)) : writeValue(setting, value)])
    }
  })

  it('ERRORS.md is the table of errors', () => {
    const rows = [...read('docs/ERRORS.md').matchAll(/^\| `(\w+)` \| (.+) \| (\d+) \| (\d+) \|$/gm)]
    const documented = rows.map(([, code, text, status, exit]) => [code, text?.replaceAll('\\|', '|'), status, exit])
    const actual = Object.entries(ERRORS).map(([code, { message, advice, httpStatus, exitCode }]) => {
      return [code, `${message} – ${advice}`, String(httpStatus), String(exitCode)]
    })
    expect(documented).toEqual(actual)
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

describe('docs/llms.txt', () => {
  const text = read('docs/llms.txt')
  const blocks = text.trim().split(/\n\n+/)

  it('is a title, a quote, notes, and sections of links, Optional last', () => {
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

  it('is short, holds no secret and asks nobody to run anything', () => {
    expect(text.length).toBeLessThan(3000)
    expect(findSecrets(text)).toEqual([])
    expect(text).not.toMatch(/```|\brun\b|\bexecute\b|\$ /i)
  })
})
