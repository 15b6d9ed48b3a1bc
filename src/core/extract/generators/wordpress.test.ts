import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

const META = '<html><head><meta name="generator" content="WordPress 6.4"></head>'
const TEXT = 'The tide was low this morning, and the path along the shore was dry all the way to the old pier.'

test('extracts the text of a single WordPress post', () => {
  const page = extract(
    `${META}<body class="single single-post"><header>Site</header><main><article><h1 class="entry-title">A walk</h1><div class="entry-content"><p>${TEXT}</p><div class="sharedaddy">Share this</div></div></article></main></body>`,
  )
  expect(page.generator).toBe('wordpress')
  expect(page.markdown).toContain(TEXT)
  expect(page.markdown).not.toContain('Share this')
})

test('keeps all posts of a WordPress list of posts, not only the first', () => {
  const post = (title: string) =>
    `<article><h2 class="entry-title">${title}</h2><div class="entry-content"><p>${TEXT} ${title}.</p></div></article>`
  const page = extract(`${META}<body class="home blog"><main>${post('First')}${post('Second')}</main></body>`)
  expect(page.markdown).toContain(`${TEXT} First.`)
  expect(page.markdown).toContain(`${TEXT} Second.`)
})
