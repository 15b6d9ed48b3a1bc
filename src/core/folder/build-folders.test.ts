import { expect, test } from 'vitest'
import { buildFolderOf } from './build-folders.ts'

test.each([
  ['node_modules/a/index.js', 'node_modules'],
  ['web/dist/node_modules/a.js', 'web/dist'],
  ['a/.git/', 'a/.git'],
  ['a/.idea/b.xml', 'a/.idea'],
  ['.vscode/notes.md', '.vscode'],
  // A file may have this name, and a longer name is a different one.
  ['web/dist', undefined],
  ['my-dist/a.js', undefined],
  ['a.md', undefined],
  ['', undefined],
])('%j is in the build folder %j', (path, folder) => {
  expect(buildFolderOf(path)).toBe(folder)
})
