import { describe, expect, test } from 'vitest'
import { Element } from '../../html/tree.ts'
import { TermReader } from './terms.ts'

function terms(attributes: Record<string, string>, name = 'div'): string[] {
  return new TermReader().read(new Element(name, Object.entries(attributes).flat())).map(({ text }) => text)
}

describe('TermReader', () => {
  test.each([
    ['site-nav', ['site', 'site-nav', 'nav']],
    ['siteNav', ['site', 'site-nav', 'nav']],
    ['site_nav--dark', ['site', 'site-nav', 'site-nav-dark', 'nav', 'nav-dark', 'dark']],
    ['sidebar2', ['sidebar']],
    ['share__a8Xf2', ['share']],
  ])('reads %s', (name, expected) => {
    expect(terms({ class: name })).toEqual(expected)
  })

  test.each([
    ['no-sidebar', 'the layout around it'],
    ['menu-open', 'a state'],
    ['category-newsletter', 'the category of an entry'],
    ['w-node-ad4', 'a number', ['w', 'w-node', 'node']],
    ['list-of-all-the-comments-by-you', 'a topic in many words'],
  ])('ignores %s, which describes %s', (name, _, expected: string[] = []) => {
    expect(terms({ class: name })).toEqual(expected)
  })

  test('reads ids and names of custom elements, but ignores ids made from headings', () => {
    expect(terms({ id: 'footer' })).toEqual(['footer'])
    expect(terms({}, 'site-footer')).toContain('footer')
    expect(terms({ id: 'footer' }, 'section')).toEqual([])
    expect(terms({ id: 'more-on-the-footer' })).toEqual([])
  })

  test('finds the last term of a name, before its variants', () => {
    const read = new TermReader().read(new Element('div', ['class', 'post-meta--small']))
    expect(read.filter(({ isLast }) => isLast).map(({ text }) => text)).toEqual(['post-meta', 'meta'])
  })
})
