import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createTempFolder } from '../../../test/trees/archive-fixture.ts'
import { openLibrary } from '../../open-library.ts'
import { addSource } from '../crawl/add-source.ts'
import { crawlSource } from '../crawl/crawl-source.ts'
import { describeAddress } from './describe-address.ts'

test('a file of a folder is found by its address, and by no other', async () => {
  const folder = createTempFolder()
  const library = await openLibrary({ path: join(folder, 'library.db'), version: '0.0.0' })
  onTestFinished(() => library.close())
  for (let i = 0; i < 2; i++) {
    mkdirSync(join(folder, `${i}`))
    writeFileSync(join(folder, `${i}/read.md`), `# Lamp ${i}\n\nA lamp that lights the tower at night.\n`)
    const source = await addSource(library, {
      url: `${pathToFileURL(join(folder, `${i}`)).href}/`,
      name: `lamp-${i}`,
      isOwnFolder: true,
    })
    for await (const _ of crawlSource(library, source, { kind: 'add' }, new AbortController().signal));
  }
  const { known } = await describeAddress(library, pathToFileURL(join(folder, '1/read.md')).href)
  expect(known.map(({ source, row }) => [source.name, row.key])).toEqual([['lamp-1', 'read.md']])
  expect((await describeAddress(library, 'https://lamp.example/read.md')).known).toEqual([])
})
