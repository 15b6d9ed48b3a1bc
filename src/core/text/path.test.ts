import { expect, test } from 'vitest'
import { baseName, extensionOf } from './path.ts'

test.each([
  ['a/b.c/d.MD', 'd.MD', 'md'],
  ['a.tar.gz', 'a.tar.gz', 'gz'],
  ['a.b/c', 'c', ''],
  ['.js', '.js', 'js'],
  ['a.', 'a.', ''],
  ['', '', ''],
])('%j is named %j and has the extension %j', (path, name, extension) => {
  expect([baseName(path), extensionOf(path)]).toEqual([name, extension])
})
