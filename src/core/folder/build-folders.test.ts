import { expect, test } from 'vitest'
import { buildFolderOf } from './build-folders.ts'

test.each([
  ['node_modules/a/index.js', 'node_modules'],
  ['web/dist/node_modules/a.js', 'web/dist'],
  ['a/.git/', 'a/.git'],
  ['a/.idea/b.xml', 'a/.idea'],
  ['.vscode/notes.md', '.vscode'],
  // A file may have the name of a build folder, and a longer name is not a build folder.
  ['web/dist', undefined],
  ['my-dist/a.js', undefined],
  ['a.md', undefined],
  ['', undefined],
])('the topmost build folder of %j is %j', (path, folder) => {
  expect(buildFolderOf(path)).toBe(folder)
})
