import { expect, test } from 'vitest'
import { planOpening } from './open-in-browser.ts'

test.each([
  ['https://docs.example.com/a,b', {}, ['rundll32', 'url.dll,FileProtocolHandler', 'https://docs.example.com/a,b']],
  ['file:///C:/my%20docs/run.cmd#top', {}, ['explorer', '/select,"C:\\my docs\\run.cmd"']],
  ['FILE:///C:/run.cmd', {}, ['explorer', '/select,"C:\\run.cmd"']],
  ['file:///C:/run.cmd', { BROWSER: 'firefox -new-tab' }, ['firefox', '-new-tab', 'C:\\run.cmd']],
])('Windows never runs a local file: %s with %j', (address, environment, command) => {
  expect(planOpening(address, environment, 'win32')).toEqual(command)
})

test('a path that would end the argument of Explorer is refused on Windows', () => {
  expect(() => planOpening('file:///C:/a%22%20C:/run.cmd', {}, 'win32')).toThrow('neither a web page nor a file')
})

test('other systems open a local file', () => {
  expect(planOpening('file:///docs/a%20b.md', {}, 'linux')).toEqual(['xdg-open', '/docs/a b.md'])
})
