import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('turns Nextra callouts into admonitions whose kind depends on the color', () => {
  const page = extract(
    `<body><div class="nextra-navbar">Meadow</div><article><main data-pagefind-body="true"><div class="nextra-breadcrumb">Home</div><h1>Meadow notes</h1><div class="nextra-callout x:bg-yellow-50"><div data-pagefind-ignore="all">⚠️</div><div class="x:w-full"><p>Notes are public.</p></div></div><div class="nextra-callout x:bg-blue-100"><div data-pagefind-ignore="all"></div><div><b>Note</b><p>An alert.</p></div></div><details><summary><h3 id="o">Open</h3></summary><p>Inside.</p></details></main></article></body>`,
  )
  expect(page).toEqual({
    generator: 'nextra',
    markdown: '# Meadow notes\n\n> [!WARNING]\n> Notes are public.\n\n> [!NOTE]\n> An alert.\n\n**Open**\n\nInside.\n',
  })
})
