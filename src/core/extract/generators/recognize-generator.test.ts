import { describe, expect, test } from 'vitest'
import { parseHtml } from '../../html/parse-html.ts'
import { recognizeGenerator } from './recognize-generator.ts'

const nameOf = (html: string) => recognizeGenerator(parseHtml(html))?.name

describe('recognizeGenerator', () => {
  test('trusts the declared name, in upper or lower case', () => {
    expect(nameOf('<meta name="generator" content="Docusaurus v3.8.1">')).toBe('docusaurus')
    expect(nameOf('<meta name="Generator" content="texi2any">')).toBe('texinfo')
    expect(nameOf('<meta name="GENERATOR" content="MediaWiki 1.39">')).toBe('mediawiki')
  })

  test('trusts the declared name more than the markup', () => {
    const html = '<meta name="generator" content="Asciidoctor 2.0.18"><div class="markdown-body"></div>'
    expect(nameOf(html)).toBe('asciidoctor')
  })

  test('returns the theme if both a framework and its theme are declared', () => {
    expect(
      nameOf('<meta name="generator" content="Astro v5.1"><meta name="generator" content="Starlight v0.36">'),
    ).toBe('starlight')
  })

  test('recognizes markup that no other program writes', () => {
    expect(nameOf('<div id="__docusaurus"></div>')).toBe('docusaurus')
    expect(nameOf('<div class="body" role="main"></div>')).toBe('sphinx')
    expect(nameOf('<body class="rustdoc struct"></body>')).toBe('rustdoc')
  })

  test('recognizes no generator on other pages', () => {
    expect(nameOf('<meta name="generator" content="Home-made 1.0"><main><article><p>Text</p></article></main>')).toBe(
      undefined,
    )
    expect(nameOf('<meta name="description" content="sphinx">')).toBe(undefined)
    expect(nameOf('')).toBe(undefined)
  })

  test('checks only the beginning of a long page', () => {
    expect(nameOf(`${'<p>x</p>'.repeat(20_000)}<div id="__docusaurus"></div>`)).toBe(undefined)
  })
})
