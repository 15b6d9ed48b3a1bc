import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readIncludes } from '../../src/core/extract/dialects/includes.ts'
import { extractPage } from '../../src/core/extract/extract-page.ts'
import type { Page, Section } from '../../src/core/model.ts'

const CASES = import.meta.dirname

/** The names of all cases. */
export async function listCases(): Promise<string[]> {
  const entries = await readdir(CASES, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** The path of a file of a case. */
export function casePath(name: string, file: string): string {
  return join(CASES, name, file)
}

/** Extracts the page of a case, as if its document were `docs/guide/input.md` of a tree. */
export async function readCase(name: string): Promise<Page> {
  const file = existsSync(casePath(name, 'input.mdx')) ? 'input.mdx' : 'input.md'
  const body = await readFile(casePath(name, file), 'utf8')
  const includes = await readIncludes(body, `docs/guide/${file}`, (path) =>
    readFile(casePath(name, join('tree', path)), 'utf8').catch(() => undefined),
  )
  const url = `https://example.org/docs/guide/${file}`
  const extraction = extractPage({ url, body, includes, headers: { 'content-type': 'text/plain' } })
  if (extraction.type !== 'page') throw new Error(`${name} is not a page: ${extraction.reason}`)
  return extraction.page
}

/** The anchors of a page by the titles of their sections. */
export function anchorsOf(sections: readonly Section[]): Record<string, string | null> {
  return Object.assign(
    {},
    ...sections.map(({ title, anchor, children }) => ({ [title]: anchor, ...anchorsOf(children) })),
  )
}
