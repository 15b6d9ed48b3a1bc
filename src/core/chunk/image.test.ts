import { expect, test } from 'vitest'
import { cutImage, imageAssetPath } from './image.ts'

test('an image is one piece with its name and path', () => {
  expect(cutImage('docs/img/logo.png')).toEqual([
    { startLine: 1, endLine: 1, content: 'Image: logo.png\nSource: docs/img/logo.png' },
  ])
})

test.each([
  ['a.png', 'images/a.png'],
  ['docs/a.png', 'images/docs/a.png'],
  ['../../etc/a.png', 'images/etc/a.png'],
  ['/a/./b//c.png', 'images/a/b/c.png'],
  ['a\\..\\b.png', 'images/a/b.png'],
  ['a/...png', 'images/a/...png'],
])('the bytes of the image %j are kept at %j', (path, expected) => {
  expect(imageAssetPath(path)).toBe(expected)
})
