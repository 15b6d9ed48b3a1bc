import { expect, test } from 'vitest'
import { parsePackageUrl } from '../core/url/package-url.ts'
import { readPastedAddress } from '../core/url/pasted-address.ts'
import { pickDocumentation, writePackagePage } from './package-links.ts'

test.each([
  ['npm:react', '19.1.0', 'https://www.npmjs.com/package/react/v/19.1.0'],
  ['npm:@hono/node-server', '1.0.0-rc.1', 'https://www.npmjs.com/package/@hono/node-server/v/1.0.0-rc.1'],
  ['pypi:requests', '2.31.0', 'https://pypi.org/project/requests/2.31.0/'],
  ['crates:serde', '1.0.200', 'https://crates.io/crates/serde/1.0.200'],
  [
    'maven:com.google.guava:guava',
    '33.2.1-jre',
    'https://central.sonatype.com/artifact/com.google.guava/guava/33.2.1-jre',
  ],
])('the page of %s %s is %s, which means that package when it is pasted', (address, version, page) => {
  const name = parsePackageUrl(address)
  if (name === undefined) throw new Error(address)
  expect(writePackagePage(name, version)).toBe(page)
  expect(readPastedAddress(page).url).toBe(`${address}@${version}`)
})

test('only web addresses that can be added are picked, each once', () => {
  expect(
    pickDocumentation([
      undefined,
      null,
      7,
      'not an address',
      'javascript:alert(1)',
      'https://user:secret@lamp.example/',
      'https://www.npmjs.com/package/lamp',
      'https://docs.rs/lamp',
      'https://github.com/towers',
      ' https://lamp.example/docs#intro ',
      'https://lamp.example/docs',
      'https://github.com/towers/lamp#readme',
      'https://third.example/',
    ]),
  ).toEqual(['https://lamp.example/docs', 'https://github.com/towers/lamp'])
})
